//! A small generator of random numbers, so that a printed seed gives the same texts on every machine.

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// xorshift64*
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit.max(1)
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Some of the parts, one after another.
    pub(crate) fn some(&mut self, from: &[&str], most: usize) -> String {
        (0..self.below(most + 1)).map(|_| self.pick(from)).collect()
    }
}

//! What two bytes cost besides what each costs by its run: letters that rarely meet are often two tokens, and a sign behind the
//! same sign is mostly none.

use std::sync::OnceLock;

use crate::tokens::{Kind, RARE_LETTER, RARE_LETTERS, SAME_SIGN, kind_of};

/// Other bytes cost nothing as pairs.
const ASCII_BITS: u32 = 7;

/// The costs of all pairs of ASCII characters, in hundredths of a token.
#[derive(Debug)]
pub(super) struct Pairs {
    costs: Vec<i8>,
}

impl Pairs {
    /// The costs, made when they are first asked for.
    pub(super) fn get() -> &'static Self {
        static PAIRS: OnceLock<Pairs> = OnceLock::new();
        PAIRS.get_or_init(Self::new)
    }

    fn new() -> Self {
        let all = |before: u8| (0..1 << ASCII_BITS).map(move |byte| cost_of(before, byte));
        let costs = (0..1 << ASCII_BITS).flat_map(all);
        Self { costs: costs.map(|cost| i8::try_from(cost).unwrap_or_default()).collect() }
    }

    /// What these two cost besides.
    pub(super) fn of(&self, before: u8, byte: u8) -> i32 {
        if !(before | byte).is_ascii() {
            return 0;
        }
        let at = usize::from(before) << ASCII_BITS | usize::from(byte);
        self.costs.get(at).copied().map_or(0, i32::from)
    }

    /// What all pairs of a text cost.
    pub(super) fn cost(&self, bytes: &[u8]) -> i64 {
        let behind = bytes.get(1..).unwrap_or_default();
        bytes.iter().zip(behind).map(|(before, byte)| i64::from(self.of(*before, *byte))).sum()
    }
}

fn cost_of(before: u8, byte: u8) -> i32 {
    let letter = before.checked_sub(b'a').and_then(|letter| RARE_LETTERS.get(usize::from(letter)));
    match letter {
        Some(rare) if rare.as_bytes().contains(&byte) => RARE_LETTER,
        _ if before == byte && kind_of(byte) == Kind::Sign => SAME_SIGN,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_pairs_and_equal_signs_have_a_cost() {
        let pairs = Pairs::get();
        for (text, cost) in [
            ("the", 0),
            ("qzx", 2 * RARE_LETTER),
            ("--=", SAME_SIGN),
            ("QZ  11\n\nüü", 0),
            ("\u{7f}\u{7f}", SAME_SIGN),
            ("", 0),
        ] {
            assert_eq!(pairs.cost(text.as_bytes()), i64::from(cost), "{text:?}");
        }
    }
}

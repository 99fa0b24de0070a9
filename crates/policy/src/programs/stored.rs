//! Values of a table as bytes, each of which is read when it is first needed and kept from then on.

use std::sync::OnceLock;

use serde::Deserialize;

/// How many values have their places in memory together.
pub(super) const GROUP: usize = 32;

/// Places for values that were read.
type Places<T> = Box<[OnceLock<T>; GROUP]>;

/// `N` values, one behind the other as postcard writes them. A place in memory for each would make the program's file a megabyte
/// longer, so they are made in `GROUPS` groups, each when one of its values is first needed.
#[derive(Debug)]
pub(super) struct Stored<T: 'static, const N: usize, const GROUPS: usize> {
    bytes: &'static [u8],
    /// Where each value begins.
    starts: &'static [u32; N],
    read: [OnceLock<Places<T>>; GROUPS],
}

impl<T: Deserialize<'static>, const N: usize, const GROUPS: usize> Stored<T, N, GROUPS> {
    pub(super) const fn new(bytes: &'static [u8], starts: &'static [u32; N]) -> Self {
        assert!(GROUPS == N.div_ceil(GROUP), "each value has a place");
        Self { bytes, starts, read: [const { OnceLock::new() }; GROUPS] }
    }

    /// The value with this number.
    pub(super) fn get(&'static self, number: usize) -> Option<&'static T> {
        let start = usize::try_from(*self.starts.get(number)?).ok()?;
        let places = self.read.get(number / GROUP)?;
        let places = places.get_or_init(|| Box::new([const { OnceLock::new() }; GROUP]));
        let read = places.get(number % GROUP)?;
        if let Some(value) = read.get() {
            return Some(value);
        }
        let value = postcard::from_bytes(self.bytes.get(start..)?).ok()?;
        Some(read.get_or_init(|| value))
    }

    /// All values.
    #[cfg(test)]
    pub(super) fn all(&'static self) -> impl Iterator<Item = &'static T> {
        (0..N).map(|number| self.get(number).unwrap())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_their_numbers() {
        // A text is its length and its bytes.
        static STORED: Stored<&str, 3, 1> = Stored::new(b"\x02ab\x00\x01c", &[0, 3, 4]);
        let read: Vec<&&str> = STORED.all().collect();
        assert_eq!(read, [&"ab", &"", &"c"]);
        assert!(std::ptr::eq(read[0], STORED.get(0).unwrap()), "each is read once");
        assert_eq!(STORED.get(3), None);
    }

    #[test]
    fn values_of_all_groups_are_read() {
        const COUNT: usize = 2 * GROUP + 1;
        static STORED: Stored<u8, COUNT, 3> = Stored::new(b"\x01\x02", &[1; COUNT]);
        assert_eq!(STORED.all().filter(|value| **value == 2).count(), COUNT);
    }

    #[test]
    fn what_is_no_value_is_none() {
        static STORED: Stored<&str, 2, 1> = Stored::new(b"\x02a", &[0, 9]);
        assert_eq!((STORED.get(0), STORED.get(1)), (None, None));
    }
}

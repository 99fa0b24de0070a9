//! Values of a table as bytes, each of which is read when it is first needed and kept from then on.

use std::sync::OnceLock;

use serde::Deserialize;

/// `N` values, one behind the other as postcard writes them.
#[derive(Debug)]
pub(super) struct Stored<T: 'static, const N: usize> {
    bytes: &'static [u8],
    /// Where each value begins.
    starts: [u32; N],
    read: [OnceLock<T>; N],
}

impl<T: Deserialize<'static>, const N: usize> Stored<T, N> {
    pub(super) const fn new(bytes: &'static [u8], starts: [u32; N]) -> Self {
        Self { bytes, starts, read: [const { OnceLock::new() }; N] }
    }

    /// The value with this number.
    pub(super) fn get(&'static self, number: usize) -> Option<&'static T> {
        let read = self.read.get(number)?;
        if let Some(value) = read.get() {
            return Some(value);
        }
        let start = usize::try_from(*self.starts.get(number)?).ok()?;
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
        static STORED: Stored<&str, 3> = Stored::new(b"\x02ab\x00\x01c", [0, 3, 4]);
        let read: Vec<&&str> = STORED.all().collect();
        assert_eq!(read, [&"ab", &"", &"c"]);
        assert!(std::ptr::eq(read[0], STORED.get(0).unwrap()), "each is read once");
        assert_eq!(STORED.get(3), None);
    }

    #[test]
    fn what_is_no_value_is_none() {
        static STORED: Stored<&str, 2> = Stored::new(b"\x02a", [0, 9]);
        assert_eq!((STORED.get(0), STORED.get(1)), (None, None));
    }
}

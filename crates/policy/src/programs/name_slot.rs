//! Where the name of a program is in a table that is searched by hash. The build, which fills the table, and the search share it.

/// The bits of a slot that hold the place of a program, plus one. 0: the slot is empty. The others are of the name's hash.
pub(crate) const PLACE_BITS: u32 = 16;

/// The hash of a name: FNV-1a, which is short and good enough for names.
pub(crate) fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The slots in which a name of this hash may be, in the order in which they are filled. There are a power of two of them.
pub(crate) fn candidates(hash: u32, slots: usize) -> impl Iterator<Item = usize> {
    let first = usize::try_from(hash).unwrap_or(0);
    (0..slots).map(move |step| (first.wrapping_add(step)) & (slots - 1))
}

/// The bits of a name's hash that its slot holds.
pub(crate) fn mark(hash: u32) -> u32 {
    hash >> PLACE_BITS << PLACE_BITS
}

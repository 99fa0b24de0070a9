//! Words that nobody can guess.

/// 256 bits from the system.
pub(crate) fn random() -> String {
    let mut bytes = [0_u8; 32];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        // Fails only when interrupted: the flags are plain, and the system has one.
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()).unwrap_or(0);
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

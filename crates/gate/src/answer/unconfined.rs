//! What a command ran without, because the machine lacks it and the settings allow that.

use shellgate_exec::GUARD_LACKS;

/// In words: `not confined, for lack of …`, or `without the guard, for lack of …`.
pub(crate) fn phrase(why: &str) -> String {
    match why.starts_with(GUARD_LACKS) {
        true => format!("without the guard, for lack of {why}"),
        false => format!("not confined, for lack of {why}"),
    }
}

/// The same for a person: `it ran without a sandbox, for lack of …`.
pub(crate) fn note(why: &str) -> String {
    let without = if why.starts_with(GUARD_LACKS) { "the guard" } else { "a sandbox" };
    format!("it ran without {without}, for lack of {why}")
}

#[cfg(test)]
mod tests {
    use super::phrase;

    #[test]
    fn a_missing_guard_is_no_missing_sandbox() {
        assert_eq!(phrase("Landlock: none"), "not confined, for lack of Landlock: none");
        let why = "tracing (ptrace: EPERM), which rules about programs need";
        assert_eq!(phrase(why), format!("without the guard, for lack of {why}"));
    }
}

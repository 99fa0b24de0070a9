//! Patterns for names: a `*` at the start, at the end, or at both.

/// Whether `name` matches `pattern`. Case matters, as it does in names of variables.
pub(super) fn matches(pattern: &str, name: &[u8]) -> bool {
    let (open_start, pattern) = pattern.strip_prefix('*').map_or((false, pattern), |rest| (true, rest));
    let (open_end, pattern) = pattern.strip_suffix('*').map_or((false, pattern), |rest| (true, rest));
    let wanted = pattern.as_bytes();
    match (open_start, open_end) {
        (false, false) => name == wanted,
        (false, true) => name.starts_with(wanted),
        (true, false) => name.ends_with(wanted),
        (true, true) => memchr::memmem::find(name, wanted).is_some(),
    }
}

/// The first of `patterns` that matches.
pub(super) fn find<'a, P: AsRef<str>>(patterns: &'a [P], name: &[u8]) -> Option<&'a str> {
    patterns.iter().map(AsRef::as_ref).find(|pattern| matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars() {
        for (pattern, name, want) in [
            ("GH_TOKEN", "GH_TOKEN", true),
            ("GH_TOKEN", "GH_TOKENS", false),
            ("GH_TOKEN", "gh_token", false),
            ("GH_*", "GH_TOKEN", true),
            ("*_TOKEN", "GH_TOKEN", true),
            ("*_TOKEN", "GH_TOKENS", false),
            ("*TOK*", "GH_TOKEN", true),
            ("*", "ANYTHING", true),
            ("", "A", false),
        ] {
            assert_eq!(matches(pattern, name.as_bytes()), want, "{pattern} {name}");
        }
    }
}

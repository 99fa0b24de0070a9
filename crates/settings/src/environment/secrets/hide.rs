//! Hides secrets in text for other people.

use super::{detect, value};

/// What stands in place of a secret.
const HIDDEN: &str = "(hidden)";

/// Characters between words. A secret contains none of them.
const BETWEEN: &[char] = &[' ', '\t', '"', '\'', '`', ',', ';', '[', ']', '{', '}', '(', ')', '<', '>'];

/// A line with every word that looks like a secret replaced, by the same tables that hide variables from commands. A line
/// with a secret that is more than one word, such as a private key, is replaced as a whole.
pub fn hide_secrets(line: &str) -> String {
    let shown: String = line.split_inclusive(BETWEEN).map(hide_word).collect();
    if value::find(shown.as_bytes()).is_some() { HIDDEN.to_owned() } else { shown }
}

/// Whether a variable looks like a secret, by its name or its value.
pub fn is_secret(name: &[u8], value: &[u8]) -> bool {
    detect(name, value).is_some()
}

/// A word, perhaps with the character behind it.
fn hide_word(word: &str) -> String {
    let bare = word.strip_suffix(BETWEEN).unwrap_or(word);
    let behind = word.strip_prefix(bare).unwrap_or_default();
    match bare.split_once('=') {
        Some((name, secret)) if is_secret(name.as_bytes(), secret.as_bytes()) => {
            format!("{name}={HIDDEN}{behind}")
        }
        None | Some(_) if value::find(bare.as_bytes()).is_some() => format!("{HIDDEN}{behind}"),
        None | Some(_) => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_look_like_secrets_are_replaced() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        for (line, hidden) in [
            (format!("core = [\"curl {token}\", \"ls\"]"), "core = [\"curl (hidden)\", \"ls\"]"),
            (format!("GH_TOKEN={token} git push"), "GH_TOKEN=(hidden) git push"),
            ("MY_PASSWORD=short x".to_owned(), "MY_PASSWORD=(hidden) x"),
            ("clone https://me:pass@example.org/x now".to_owned(), "clone (hidden) now"),
            ("-----BEGIN RSA PRIVATE KEY----- MIIE".to_owned(), "(hidden)"),
        ] {
            assert_eq!(hide_secrets(&line), hidden, "{line}");
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for line in [
            "",
            "limits.timeout_ms = 600000",
            "a=b c",
            "[\"git push\", 'x']  # built in",
            "REQUIRE_PASSWORD=true",
        ] {
            assert_eq!(hide_secrets(line), line);
        }
    }
}

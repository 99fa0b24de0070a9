//! Hides secrets in text for other people.

use super::{detect, name, value};

/// What stands in place of a secret.
const HIDDEN: &str = "(hidden)";

/// Programs that read a password from the rest of the word after `-p`.
const PASSWORD_AFTER_P: &[&str] =
    &["mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "mariadb-admin", "sshpass", "7z", "7za"];

/// Words between the name of a secret and the secret: `Authorization: Bearer …`.
const AUTH_SCHEMES: &[&str] = &["bearer", "basic"];

/// Characters between words. A secret contains none of them.
const BETWEEN: &[char] = &[' ', '\t', '"', '\'', '`', ',', ';', '[', ']', '{', '}', '(', ')', '<', '>'];

/// A line with every word that looks like a secret replaced, by the same tables that hide variables from commands. A line
/// with a secret that is more than one word, such as a private key, is replaced as a whole.
pub fn hide_secrets(line: &str) -> String {
    let shown: String = line.split_inclusive(BETWEEN).map(hide_word).collect();
    if value::find(shown.as_bytes()).is_some() { HIDDEN.to_owned() } else { shown }
}

/// A command with secrets replaced: the words that [`hide_secrets`] replaces, and words that follow the name of a secret,
/// such as `--password` or `token`. Of the programs that take a password after `-p`, also that.
pub fn hide_arguments(command: &str) -> String {
    let is_name = |word: &str| {
        let bare = word.trim_end_matches([':', '"', '\'']).trim_start_matches(['"', '\'']);
        // `auth` and `pass` alone are names of commands.
        let may_be_command = bare == word && bare.chars().all(char::is_alphanumeric);
        let is_secret = |pattern: &str| !(may_be_command && pattern.starts_with("*_"));
        !bare.contains('=') && name::find(bare.as_bytes()).is_some_and(is_secret)
    };
    let words = command.split(' ');
    let program = command.split(' ').find(|word| !word.is_empty()).unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    let mut after_name = false;
    let shown = words.map(|word| {
        let is_value = std::mem::take(&mut after_name) && !word.starts_with('-');
        after_name = is_name(word)
            || (is_value && AUTH_SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme)));
        match word.strip_prefix("-p") {
            _ if is_value && !after_name => HIDDEN.to_owned(),
            Some(password) if !password.is_empty() && PASSWORD_AFTER_P.contains(&program) => {
                format!("-p{HIDDEN}")
            }
            _ => word.to_owned(),
        }
    });
    hide_secrets(&shown.collect::<Vec<_>>().join(" "))
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
    fn words_after_the_name_of_a_secret_are_replaced_in_commands() {
        for (command, hidden) in [
            ("curl --password hunter2 x", "curl --password (hidden) x"),
            ("curl --password=hunter2 x", "curl --password=(hidden) x"),
            ("login --api-key abc", "login --api-key (hidden)"),
            ("gh auth login token abc", "gh auth login token (hidden)"),
            ("curl -H X-Auth-Token: abc", "curl -H X-Auth-Token: (hidden)"),
            ("mysql -phunter2 -u me", "mysql -p(hidden) -u me"),
            ("/usr/bin/sshpass -phunter2 ssh", "/usr/bin/sshpass -p(hidden) ssh"),
            ("find . -print", "find . -print"),
            ("mkdir -p a", "mkdir -p a"),
            ("git push --token --force", "git push --token --force"),
            ("git push", "git push"),
        ] {
            assert_eq!(hide_arguments(command), hidden);
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

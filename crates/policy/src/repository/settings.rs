//! The settings of a repository: whether they can name programs, and which addresses they name.

use crate::programs::words;

/// Whether every setting is on the list of those that run nothing. `is_top`: whether a path leads to the top of the
/// repository.
pub(super) fn are_harmless(config: &str, is_top: impl Fn(&str) -> Option<bool> + Copy) -> bool {
    let mut section = String::new();
    config.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(header) = header.strip_suffix(']') else { return false };
            let name = header.split([' ', '\t', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            return true;
        }
        let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
        let name = format!("{section}.{}", key.to_ascii_lowercase());
        let is_plain = !value.contains(['\\', '"']) && !value.contains("::") && !value.starts_with('-');
        is_plain
            && match name.as_str() {
                "core.worktree" => is_top(value).unwrap_or(false),
                name => words::GIT_HARMLESS_SETTINGS.contains(&name),
            }
    })
}

/// What may be addresses in settings: the values, and the names of sections.
pub(super) fn addresses(config: &str) -> impl Iterator<Item = String> {
    let lines = config.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let value = match line.split_once(if line.starts_with('[') { ' ' } else { '=' }) {
                Some((_, value)) => value.trim().trim_end_matches(']'),
                None => "",
            };
            value.chars().filter(|c| !matches!(c, '"' | '\\')).collect()
        })
        .filter(|address: &String| !address.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{addresses, are_harmless};

    #[test]
    fn settings_are_harmless_only_if_each_is_on_the_list() {
        let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";
        assert!(are_harmless(plain, |_| None));
        for odd in [
            "[core]\nfsmonitor = touch P",
            "[core] fsmonitor = touch P",
            "[include]\npath = x",
            "[includeIf \"gitdir:.\"]\npath = x",
            "[core]\nsshcommand = x",
            "[remote \"o\"]\nurl = ext::sh -c id",
            "[remote \"o\"]\nuploadpack = x",
            "[core]\nbare = \\\n[core]\nfsmonitor = x",
            "[filter \"x\"]\nclean = y",
            "[alias]\nst = !id",
            "[core]\nworktree = ../..",
        ] {
            assert!(!are_harmless(&format!("{plain}{odd}\n"), |_| None), "{odd}");
        }
    }
    #[test]
    fn addresses_are_the_values_of_settings() {
        let config = "[remote \"o\"]\n\turl = ./a\n\tpushurl=\"../b c\"\n[branch \"main\"]\nremote = x\n";
        assert_eq!(addresses(config).collect::<Vec<_>>(), ["o", "./a", "../b c", "main", "x"]);
    }
}

//! The settings of a repository: whether they can name programs, and which addresses they name.

use crate::programs::words;

/// Whether every setting is on the list of those that run nothing. `is_top`: whether a path leads to the top of the
/// repository.
pub(super) fn are_harmless(config: &str, is_top: impl Fn(&str) -> Option<bool> + Copy) -> bool {
    let mut section = String::new();
    config.lines().map(trimmed).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if line.starts_with('[') {
            let name = section_of(line);
            section = name.unwrap_or_default().to_ascii_lowercase();
            return name.is_some();
        }
        let (key, value) =
            line.split_once('=').map_or((line, ""), |(key, value)| (trimmed(key), trimmed(value)));
        let name = format!("{section}.{}", key.to_ascii_lowercase());
        let is_plain = !value.contains(['\\', '"']) && !value.contains("::") && !value.starts_with('-');
        is_plain
            && match name.as_str() {
                "core.worktree" => is_top(value).unwrap_or(false),
                name => words::GIT_HARMLESS_SETTINGS.contains(&name),
            }
    })
}

/// A line without the blanks that git ignores.
fn trimmed(line: &str) -> &str {
    line.trim_matches([' ', '\t', '\r'])
}

/// The section that a line begins: `[name]`, `[name "part"]`. `None`: it holds more than that.
fn section_of(line: &str) -> Option<&str> {
    let header = line.strip_prefix('[')?.strip_suffix(']')?;
    let end = header.find([' ', '\t']).unwrap_or(header.len());
    let (name, part) = header.split_at(end);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c));
    let part = trimmed(part);
    let quoted = part.strip_prefix('"').and_then(|part| part.strip_suffix('"'));
    let is_part = part.is_empty() || quoted.is_some_and(|part| !part.contains(['"', '\\']));
    (is_name && is_part).then(|| name.split('.').next().unwrap_or(name))
}

/// What may be paths in the values of settings that can name programs.
pub(super) fn named_paths(config: &str) -> impl Iterator<Item = String> {
    let mut section = String::new();
    let values = config.lines().map(str::trim).filter_map(move |line| {
        let line = if line.starts_with('[') {
            let (header, rest) = line.split_once(']')?;
            let name = header.trim_start_matches('[').split([' ', '\t', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            rest
        } else {
            line
        };
        let (key, value) = line.split_once('=').unwrap_or(("", line));
        let name = format!("{section}.{}", key.trim().to_ascii_lowercase());
        (!words::GIT_HARMLESS_SETTINGS.contains(&name.as_str())).then(|| value.to_owned())
    });
    values.flat_map(|value| {
        let parts = value.split(|c: char| c.is_whitespace() || "\"'`!;|&<>()=,\\".contains(c));
        let parts = parts.filter(|part| !part.is_empty() && !part.starts_with(['-', '~', '$', '#']));
        parts
            .map(|part| part.trim_end_matches('/').to_owned())
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
    })
}

/// What may be addresses in settings: the values, and the names of sections.
pub(super) fn addresses(config: &str) -> impl Iterator<Item = String> {
    parts(config).map(|(_, address)| address)
}

/// The addresses that others are rewritten to: `[url "ADDRESS"]`.
pub(super) fn rewrites(config: &str) -> impl Iterator<Item = String> {
    let is_rewrite = |header: &str| header.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("url"));
    parts(config).filter(move |(header, _)| header.is_some_and(is_rewrite)).map(|(_, address)| address)
}

/// The names of sections, each with its header, and the values. A setting may stand behind a header on its line.
fn parts(config: &str) -> impl Iterator<Item = (Option<&str>, String)> {
    let parts = config.lines().map(str::trim).flat_map(|line| {
        let header = line.strip_prefix('[').map(|rest| rest.split_once(']').unwrap_or((rest, "")));
        let (header, setting) = header.map_or((None, line), |(header, setting)| (Some(header), setting));
        let name = header.map(|header| {
            (Some(header), header.split_once([' ', '\t', '"', '.']).map_or("", |(_, name)| name))
        });
        let value = setting.split_once('=').map_or("", |(_, value)| value);
        // A name may hold a bracket.
        let whole = line
            .split_once([' ', '\t'])
            .filter(|_| header.is_some())
            .map_or("", |(_, name)| name.trim_end_matches(']'));
        [name.unwrap_or_default(), (None, value), (None, whole)]
    });
    parts
        .map(|(header, text)| (header, text.trim().chars().filter(|c| !matches!(c, '"' | '\\')).collect()))
        .filter(|(_, address): &(_, String)| !address.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{addresses, are_harmless, named_paths, rewrites};

    #[test]
    fn settings_are_harmless_only_if_each_is_on_the_list() {
        let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";
        assert!(are_harmless(plain, |_| None));
        for odd in [
            "[core]\nfsmonitor = touch P",
            "[core] fsmonitor = touch P",
            "[core] fsmonitor = touch P #]",
            "[core]fsmonitor=touch;]",
            "[include]\npath = x",
            "[includeIf \"gitdir:.\"]\npath = x",
            "[core]\nsshcommand = x",
            "[remote \"o\"]\nurl = ext::sh -c id",
            "[remote \"o\"]\nuploadpack = x",
            "[core]\nbare = \\\n[core]\nfsmonitor = x",
            "[filter \"x\"]\nclean = y",
            "[alias]\nst = !id",
            "[core]\nworktree = ../..",
            "[core] fsmonitor = touch P #]",
            "[core] fsmonitor = \"touch P; false\" ;]",
            "[core \"]\"] fsmonitor = touch P #\"]",
            "[core\u{a0}] fsmonitor = touch P #]",
        ] {
            assert!(!are_harmless(&format!("{plain}{odd}\n"), |_| None), "{odd}");
        }
    }

    #[test]
    fn programs_and_folders_are_found_in_settings() {
        let config =
            "[core]\n\tbare = false\n\thooksPath = .husky/\n[alias] x = \"!./a b\"\n[include]\npath=../c\n";
        assert_eq!(named_paths(config).collect::<Vec<_>>(), [".husky", "./a", "b", "../c"]);
    }

    #[test]
    fn addresses_are_the_values_of_settings() {
        let config = "[remote \"o\"]\n\turl = ./a\n\tpushurl=\"../b c\"\n[branch \"main\"]\nremote = x\n";
        let found: Vec<String> = addresses(config).collect();
        assert!(["o", "./a", "../b c", "main", "x"].iter().all(|one| found.iter().any(|found| found == one)));
        let found: Vec<String> = addresses("[remote \"o\"] url = ./a").collect();
        assert!(found.iter().any(|found| found == "./a"));
    }

    #[test]
    fn addresses_that_others_are_rewritten_to_are_names_of_sections() {
        let config = "[URL \"./a/\"]\ninsteadOf = x\n[remote \"o\"]\nurl = x/y\n[url \"b\"] insteadOf = z\n";
        assert_eq!(rewrites(config).collect::<Vec<_>>(), ["./a/", "b"]);
    }
}

//! What a word that isn't wholly known may be as a path: its own text, with signs for what the shell puts there.
//!
//! A shape is a text in which three characters that no path has stand for parts that aren't known. It is compared with names:
//! whether the word may become this name.

/// Any characters of a name: `*`.
pub(crate) const NAME: char = '\u{1}';
/// One character: `?`, `[a-z]`.
pub(crate) const LETTER: char = '\u{2}';
/// Anything, also slashes or nothing: a variable, the output of a command.
pub(crate) const ANY: char = '\u{3}';

/// The last of these signs as a byte.
const LAST_SIGN: u8 = 3;

/// No file has a longer name.
const MAX_NAME: usize = 255;

/// Whether a name of a shape may be a listed name, in which `*` stands for anything. A pattern of the shell leaves out hidden names, and a name of
/// which nothing is known says nothing.
pub(crate) fn may_be(shape: &str, listed: &str) -> bool {
    if listed == "*" {
        return true;
    }
    // Most names differ in their first character: this is asked for every word and every secret.
    let (own, other) = (shape.as_bytes().first().copied(), listed.as_bytes().first().copied());
    let is_sign = own.is_some_and(|own| own <= LAST_SIGN);
    if own != other && (!is_sign || other == Some(b'.') && own != Some(LAST_SIGN)) {
        return false;
    }
    let says_nothing = shape.chars().all(|c| c == ANY);
    let is_left_out = shape.starts_with([NAME, LETTER]) && listed.starts_with('.');
    !says_nothing && !is_left_out && fits(shape, listed)
}

/// The same for a pattern of find, which doesn't leave out hidden names.
pub(crate) fn may_be_of_find(shape: &str, listed: &str) -> bool {
    fits(shape, listed)
}

/// A pattern of find or of a program like it, as a shape.
pub(crate) fn of_pattern(pattern: &str) -> String {
    let mut all = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => all.push(NAME),
            '?' => all.push(LETTER),
            '[' => {
                all.push(LETTER);
                chars.by_ref().find(|c| *c == ']');
            }
            c => all.push(c),
        }
    }
    all
}

/// Whether a shape may be a name. A `*` at the end of the name stands for the rest of it.
fn fits(shape: &str, name: &str) -> bool {
    let (name, is_open) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
    if !shape.contains([NAME, LETTER, ANY]) {
        return if is_open { shape.starts_with(name) } else { shape == name };
    }
    // Most names differ in their first character, or are too long.
    let is_sign = |c: &char| [NAME, LETTER, ANY].contains(c);
    let begins = shape.chars().next().filter(|c| !is_sign(c)).zip(name.chars().next());
    let certain = shape.chars().filter(|c| ![NAME, ANY].contains(c)).take(MAX_NAME + 1).count();
    if begins.is_some_and(|(own, other)| own != other)
        || !is_open && certain > name.len()
        || certain > MAX_NAME
    {
        return false;
    }
    let mut shape: Vec<char> = shape.chars().collect();
    shape.dedup_by(|one, other| [NAME, ANY].contains(one) && [NAME, ANY].contains(other));
    let name: Vec<char> = name.chars().collect();
    // Which beginnings of the name the shape so far may be.
    let mut reached = vec![false; name.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for c in shape {
        // The rest of the name may be anything.
        if is_open && reached.last() == Some(&true) {
            return true;
        }
        let is_reached = |at: usize| reached.get(at) == Some(&true);
        reached = (0..=name.len())
            .map(|at| match c {
                NAME | ANY => (0..=at).any(is_reached),
                LETTER => at > 0 && is_reached(at - 1),
                c => at > 0 && is_reached(at - 1) && name.get(at - 1) == Some(&c),
            })
            .collect();
        if !reached.contains(&true) {
            return false;
        }
    }
    reached.last() == Some(&true)
}

/// The shape of a word as it is written, and the variables in it. `None`: it has no end.
pub(crate) fn of_written(written: &str, mut variable: impl FnMut(&str) -> String) -> Option<String> {
    let mut all = String::new();
    let mut chars = written.chars().peekable();
    let mut in_quotes = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => in_quotes = !in_quotes,
            '\'' if !in_quotes => all.extend(chars.by_ref().take_while(|c| *c != '\'')),
            '\\' => all.extend(chars.next()),
            '`' => {
                chars.by_ref().find(|c| *c == '`')?;
                all.push(ANY);
            }
            '$' => match chars.peek().copied() {
                Some('(') => {
                    skip_brackets(&mut chars, '(', ')')?;
                    all.push(ANY);
                }
                Some('{') => {
                    let inner = skip_brackets(&mut chars, '{', '}')?;
                    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                    match inner.chars().all(is_name) {
                        true => all.push_str(&variable(&inner)),
                        false => all.push(ANY),
                    }
                }
                Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                    let mut name = String::new();
                    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                        name.push(c);
                    }
                    all.push_str(&variable(&name));
                }
                Some('\'' | '"') | None => {}
                Some(_) => {
                    chars.next();
                    all.push(ANY);
                }
            },
            '*' if !in_quotes => all.push(NAME),
            '?' if !in_quotes => all.push(LETTER),
            '[' if !in_quotes => {
                let behind: String = chars.clone().take_while(|c| *c != ']').collect();
                if chars.clone().any(|c| c == ']') && !behind.contains('/') {
                    chars.by_ref().find(|c| *c == ']');
                    all.push(LETTER);
                } else {
                    all.push('[');
                }
            }
            '{' if !in_quotes => {
                chars.by_ref().find(|c| *c == '}')?;
                all.push(ANY);
            }
            '(' if !in_quotes => {
                chars.by_ref().find(|c| *c == ')')?;
                all.push(ANY);
            }
            c => all.push(c),
        }
    }
    Some(all)
}

/// A shape of a path without `..`. What `..` leaves of a part that may have slashes in it is an unknown folder.
pub(crate) fn without_parents(shape: &str) -> String {
    if !shape.split('/').any(|part| part == "..") {
        return shape.to_owned();
    }
    let is_absolute = shape.starts_with('/');
    let mut parts: Vec<String> = Vec::new();
    for part in shape.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match parts.last() {
            _ if part != ".." => parts.push(part.to_owned()),
            Some(last) if last.contains(ANY) => parts = vec![ANY.to_string()],
            Some(_) => {
                parts.pop();
            }
            None => {}
        }
    }
    let is_open = parts.first().is_some_and(|part| part.starts_with(ANY));
    format!("{}{}", if is_absolute && !is_open { "/" } else { "" }, parts.join("/"))
}

/// Skips what is between brackets, and returns it.
fn skip_brackets(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    open: char,
    close: char,
) -> Option<String> {
    let mut depth = 0_usize;
    let mut inner = String::new();
    for c in chars.by_ref() {
        if c == open {
            depth += 1;
            if depth == 1 {
                continue;
            }
        } else if c == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(inner);
            }
        }
        inner.push(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(written: &str) -> String {
        let variable = |name: &str| if name == "HOME" { "/h".to_owned() } else { ANY.to_string() };
        let shown = of_written(written, variable).unwrap_or_default();
        shown.replace(NAME, "<*>").replace(LETTER, "<?>").replace(ANY, "<any>")
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for (written, expected) in [
            ("~/.ss*/id", "~/.ss<*>/id"),
            (".[n]etr?", ".<?>etr<?>"),
            ("\"$HOME\"/.x", "/h/.x"),
            ("${HOME}/'a*'", "/h/a*"),
            ("/proc/$PPID/environ", "/proc/<any>/environ"),
            ("a$(cat b)c", "a<any>c"),
            ("~/.{n,m}*", "~/.<any><*>"),
            ("\"*\"", "*"),
        ] {
            assert_eq!(shape(written), expected, "{written}");
        }
    }

    #[test]
    fn parents_are_left() {
        let any = |text: &str| without_parents(&text.replace('$', &ANY.to_string())).replace(ANY, "$");
        for (shape, expected) in [
            ("/h/me/p/../.s*/x", "/h/me/.s*/x"),
            ("/h/me/p/*/../../.ssh", "/h/me/.ssh"),
            ("/../a", "/a"),
            ("$/../.ssh/x", "$/.ssh/x"),
            ("/h/me/p/a$/../.ssh/x", "$/.ssh/x"),
            ("/h/me/p/../$/x", "/h/me/$/x"),
            ("/a/..b", "/a/..b"),
        ] {
            assert_eq!(any(shape), expected, "{shape}");
        }
    }

    #[test]
    fn shapes_may_be_names() {
        let of = |text: &str| text.replace('*', &NAME.to_string()).replace('?', &LETTER.to_string());
        for (pattern, name, expected) in [
            (".s??", ".ssh", true),
            (".ss*", ".ssh", true),
            ("*", ".ssh", false),
            ("sha*", "shadow", true),
            ("*-release", "shadow", false),
            ("ssh_host_x", "ssh_host_*", true),
            ("ssh_*", "ssh_host_*", true),
            ("shx", "ssh_host_*", false),
            ("x", "*", true),
        ] {
            assert_eq!(may_be(&of(pattern), name), expected, "{pattern} {name}");
        }
        assert!(!may_be(&ANY.to_string(), ".netrc") && may_be(&format!(".n{ANY}"), ".netrc"));
    }
}

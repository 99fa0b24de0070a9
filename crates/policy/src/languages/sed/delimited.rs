//! Texts up to a delimiter: regular expressions and replacements.

/// How versions of sed look for the end of a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A bracket hides nothing.
    Plain,
    /// A bracket ends at the first `]`.
    Brackets,
    /// A bracket may hold `[:alpha:]`. A backslash in it is an ordinary character.
    Classes,
    /// As before, and a backslash in it hides the next character.
    Escapes,
}

/// What was found out about a regular expression.
pub(super) struct Inside {
    /// Whether a version for which brackets hide nothing finds another end. That version must refuse the script.
    pub(super) plain_differs: bool,
}

/// What follows a regular expression and its delimiter. `None` if versions find different ends.
pub(super) fn regex(text: &str, mark: char) -> Option<(Inside, &str)> {
    let [plain, brackets, classes, escapes] =
        [Way::Plain, Way::Brackets, Way::Classes, Way::Escapes].map(|way| end(text, mark, way));
    let end = classes?;
    (brackets == Some(end) && escapes == Some(end)).then_some(())?;
    Some((Inside { plain_differs: plain != Some(end) }, text.get(end + mark.len_utf8()..)?))
}

/// What follows a text and its delimiter if brackets hide nothing. The text has no line break.
pub(super) fn plain(text: &str, mark: char) -> Option<&str> {
    let end = end(text, mark, Way::Plain)?;
    text.get(end + mark.len_utf8()..)
}

/// What follows a replacement and its delimiter. It may have line breaks behind a backslash.
pub(super) fn replacement(text: &str, mark: char) -> Option<&str> {
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            // A line that ends in two backslashes goes on for some versions only.
            '\\' if characters.next()? == '\\' && characters.as_str().starts_with('\n') => return None,
            '\\' => {}
            '\n' => return None,
            c if c == mark => return Some(characters.as_str()),
            _ => {}
        }
    }
}

/// Whether what follows an address is certainly no command of any version.
pub(super) fn is_no_command(text: &str) -> bool {
    text.starts_with(|c: char| "])*+.[(^/|@%&_<>?".contains(c))
}

/// Whether what follows a substitution is certainly no flag of any version, and doesn't end the command.
pub(super) fn is_no_flag(text: &str) -> bool {
    let rest = text.trim_start_matches(['g', 'p', 'i', 'I', 'm', 'M']);
    let is_letter = |c: char| c.is_ascii_alphabetic() && !"ewN".contains(c);
    rest.starts_with(|c: char| is_letter(c) || "])*+.[(^/|@%&_<>?$,".contains(c))
}

/// Where the delimiter is.
fn end(text: &str, mark: char, way: Way) -> Option<usize> {
    let mut rest = text;
    loop {
        let at = text.len() - rest.len();
        let c = rest.chars().next()?;
        rest = rest.get(c.len_utf8()..)?;
        match c {
            '\\' => rest = behind_character(rest)?,
            '\n' => return None,
            c if c == mark => return Some(at),
            '[' if way != Way::Plain => rest = behind_bracket(rest, way)?,
            _ => {}
        }
    }
}

fn behind_character(text: &str) -> Option<&str> {
    let c = text.chars().next().filter(|c| *c != '\n')?;
    text.get(c.len_utf8()..)
}

/// What follows a bracket expression, from behind its `[`.
fn behind_bracket(text: &str, way: Way) -> Option<&str> {
    let mut rest = text.strip_prefix('^').unwrap_or(text);
    rest = rest.strip_prefix(']').unwrap_or(rest);
    loop {
        let c = rest.chars().next().filter(|c| *c != '\n')?;
        rest = rest.get(c.len_utf8()..)?;
        match c {
            ']' => return Some(rest),
            '\\' if way == Way::Escapes => rest = behind_character(rest)?,
            '[' if way != Way::Brackets => {
                if let Some(mark) = [":", ".", "="].iter().find(|mark| rest.starts_with(**mark)) {
                    let (class, behind) = rest.get(1..)?.split_once(&format!("{mark}]"))?;
                    (!class.contains('\n')).then_some(())?;
                    rest = behind;
                }
            }
            _ => {}
        }
    }
}

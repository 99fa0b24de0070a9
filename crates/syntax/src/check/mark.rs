//! Marks: a form that the results of all readers can be brought into and compared in, in the order of the text.

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A construct begins, or a part of it.
    Begin(&'static str),
    /// It ends.
    End,
    /// A word as it is written, and how many substitutions are in it, if the reader says so.
    Word(String, Option<usize>),
    /// `name=value` before a program.
    Assignment(String),
    /// A name: of a function, a variable, a coprocess.
    Name(String),
    /// A redirect's descriptor and operator. Its target follows as a word.
    Redirect(String),
    /// A here-document's lines.
    Document(String),
}

impl Mark {
    /// Whether two readers say the same, as far as both say something.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word(text, count), Self::Word(other, others)) => {
                text == other && (count.is_none() || others.is_none() || count == others)
            }
            _ => self == other,
        }
    }

    pub(super) fn word(text: &str, substitutions: Option<usize>) -> Self {
        Self::Word(tidy(text), substitutions)
    }

    /// `2>&-`
    pub(super) fn close(descriptor: &str) -> Self {
        Self::Redirect(format!("{descriptor}close"))
    }

    /// What a loop without `in` goes over.
    pub(super) fn implied_words() -> Self {
        Self::word("\"$@\"", Some(0))
    }

    /// `|&` is `2>&1 |`.
    pub(super) fn both() -> [Self; 2] {
        [Self::Redirect("2>&".into()), Self::word("1", Some(0))]
    }

    pub(super) fn assignment(text: &str) -> Self {
        Self::Assignment(tidy(text))
    }

    pub(super) fn name(text: &str) -> Self {
        Self::Name(tidy(text))
    }

    /// Readers keep or drop leading tabs and the last newline.
    pub(super) fn document(text: &str) -> Self {
        let text = text.replace("\\\n", "");
        let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches('\t')).collect();
        Self::Document(lines.join("\n").trim_end_matches('\n').to_owned())
    }
}

/// Readers keep or drop a continued line's backslash, and blanks inside substitutions, which are compared on their
/// own. A backslash at the very end of the text quotes nothing; some write another one for it.
fn tidy(text: &str) -> String {
    let mut text = if text.contains("\\\n") { text.replace("\\\n", "") } else { text.to_owned() };
    if text.contains(['(', '`']) {
        text.retain(|character| !matches!(character, ' ' | '\t' | '\n'));
    }
    if text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
        text.push('\\');
    }
    text
}

//! What a value may be, put so that it can be written into a text for a shell again.

use super::composed::COMPOSED;

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    /// Exactly this.
    Text(String),
    /// What the shell makes of this outside quotes: `~`, `*`, `"$x"`.
    Source(String),
}

/// A value, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spelling(pub(super) Vec<Atom>);

impl Spelling {
    pub(super) fn text(text: &str) -> Self {
        Self(vec![Atom::Text(text.to_owned())])
    }

    pub(super) fn source(source: impl Into<String>) -> Self {
        Self(vec![Atom::Source(source.into())])
    }

    /// This value with another one behind it.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.push(other);
        all
    }

    /// Puts another value behind this one.
    pub(super) fn push(&mut self, other: &Self) {
        for atom in &other.0 {
            match (self.0.last_mut(), atom) {
                (Some(Atom::Text(text)), Atom::Text(more)) => text.push_str(more),
                _ => self.0.push(atom.clone()),
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|atom| atom.source().len()).sum()
    }

    /// Whether a part of it is known.
    pub(super) fn has_text(&self) -> bool {
        self.0.iter().any(|atom| match atom {
            Atom::Text(text) => !text.trim().is_empty(),
            Atom::Source(source) => source == COMPOSED,
        })
    }

    /// The value, if all of it is known.
    pub(super) fn known(&self) -> Option<String> {
        let texts = self.0.iter().map(|atom| match atom {
            Atom::Text(text) => Some(text.as_str()),
            Atom::Source(_) => None,
        });
        texts.collect()
    }

    /// As a text that a shell reads.
    pub(super) fn as_commands(&self) -> String {
        self.0.iter().map(Atom::source).collect()
    }

    /// As one word of a command.
    pub(super) fn as_word(&self) -> String {
        let word: String = self
            .0
            .iter()
            .map(|atom| match atom {
                Atom::Text(text) => quoted(text),
                Atom::Source(source) => source.clone(),
            })
            .collect();
        if word.is_empty() { "''".to_owned() } else { word }
    }

    /// As the words that it becomes where blanks end a word.
    pub(super) fn as_words(&self) -> Vec<String> {
        self.split(char::is_whitespace).iter().map(Self::as_word).collect()
    }

    /// As the words that it becomes in a command: blanks end a word, and patterns stand for files.
    pub(super) fn as_expanded(&self) -> Vec<String> {
        let words = self.split(char::is_whitespace).into_iter();
        let word = |word: Self| -> String {
            let parts = word.0.iter().map(|atom| match atom {
                Atom::Text(text) => text
                    .split_inclusive(['*', '?', '[', ']'])
                    .map(|part| {
                        let bare = part.trim_end_matches(['*', '?', '[', ']']);
                        format!("{}{}", quoted(bare), part.strip_prefix(bare).unwrap_or_default())
                    })
                    .collect::<String>(),
                Atom::Source(source) => source.clone(),
            });
            parts.collect()
        };
        words.map(word).collect()
    }

    /// Without quotes and backslashes, as xargs reads it.
    pub(super) fn unquoted(&self) -> Self {
        let atoms = self.0.iter().map(|atom| match atom {
            Atom::Text(text) => Atom::Text(text.replace(['\'', '"', '\\'], "")),
            source @ Atom::Source(_) => source.clone(),
        });
        Self(atoms.collect())
    }

    /// Its lines.
    pub(super) fn lines(&self) -> Vec<Self> {
        self.split(|c| c == '\n' || c == '\0')
    }

    pub(super) fn split(&self, ends: impl Fn(char) -> bool) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut last = Self::default();
        for atom in &self.0 {
            let Atom::Text(text) = atom else {
                last.0.push(atom.clone());
                continue;
            };
            for (at, part) in text.split(&ends).enumerate() {
                if at > 0 {
                    all.push(std::mem::take(&mut last));
                }
                if !part.is_empty() {
                    last.0.push(Atom::Text(part.to_owned()));
                }
            }
        }
        all.push(last);
        all.retain(|one| !one.0.is_empty());
        all
    }

    /// Without the line ends at its end, as a substitution takes them off.
    pub(super) fn trimmed(mut self) -> Self {
        if let Some(Atom::Text(text)) = self.0.last_mut() {
            text.truncate(text.trim_end_matches('\n').len());
        }
        self.0.retain(|atom| !matches!(atom, Atom::Text(text) if text.is_empty()));
        self
    }
}

impl Atom {
    fn source(&self) -> &str {
        match self {
            Self::Text(text) | Self::Source(text) => text,
        }
    }
}

/// A text as one word, or a part of one.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,=-".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A text as one word.
pub(super) fn quoted_word(text: &str) -> String {
    Spelling::text(text).as_word()
}

#[cfg(test)]
mod tests {
    use super::{Atom, Spelling};

    #[test]
    fn a_value_is_written_so_that_a_shell_reads_it() {
        let value = Spelling(vec![
            Atom::Text("a 'b' ".to_owned()),
            Atom::Source("~".to_owned()),
            Atom::Text("/c\nd\n".to_owned()),
        ]);
        assert_eq!(value.as_words(), ["a", "''\\''b'\\'''", "~/c", "d"]);
        assert_eq!(value.as_commands(), "a 'b' ~/c\nd\n");
        assert_eq!(value.lines().len(), 2);
        assert_eq!(value.known(), None);
        assert_eq!(Spelling::text("x\n\n").trimmed().known().as_deref(), Some("x"));
        assert_eq!(Spelling::text("").as_word(), "''");
    }
}

//! "Always": rules for the user's settings. A person sees the lines before they are written.

use std::io::{self, Write as _};
use std::path::PathBuf;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// Rules to add to a settings file. The rest of the file stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Always {
    /// The file.
    pub file: PathBuf,
    /// The lines.
    pub lines: Vec<String>,
    prefixes: Vec<Vec<String>>,
}

impl Always {
    /// The rules that allow these prefixes. `None` when there is no prefix, or no file to write to.
    pub(crate) fn new(prefixes: &[Vec<String>]) -> Option<Self> {
        let file = crate::locations::settings_sources().user.filter(|_| !prefixes.is_empty())?;
        Some(Self::for_file(file, prefixes))
    }

    /// The rules for a file that was chosen before.
    pub(crate) fn for_file(file: PathBuf, prefixes: &[Vec<String>]) -> Self {
        let text = with_rules(DocumentMut::new(), prefixes).to_string();
        let lines = text.trim_end().lines().map(str::to_owned).collect();
        Self { file, lines, prefixes: prefixes.to_vec() }
    }

    /// Adds the rules. The file is replaced as a whole, so that no process reads half of it.
    ///
    /// # Errors
    /// When the file can't be read or written, or isn't TOML.
    pub(crate) fn write(&self) -> io::Result<()> {
        let before = match std::fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let document: DocumentMut = before.parse().map_err(io::Error::other)?;
        let after = with_rules(document, &self.prefixes).to_string();
        let folder = self.file.parent().unwrap_or_else(|| std::path::Path::new("."));
        std::fs::create_dir_all(folder)?;
        let draft = self.file.with_extension(format!("toml.{}", std::process::id()));
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&draft)?;
        file.write_all(after.as_bytes())?;
        if let Ok(metadata) = std::fs::metadata(&self.file) {
            std::fs::set_permissions(&draft, metadata.permissions())?;
        }
        std::fs::rename(&draft, &self.file)
    }

    /// The prefixes that a rule of the file allows now.
    pub(crate) fn written(&self) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let document: DocumentMut = text.parse().unwrap_or_default();
        let rules = document.get("policy").and_then(|policy| policy.get("rule"));
        let rules = rules.and_then(Item::as_array_of_tables);
        let allowed = |prefix: &&Vec<String>| {
            rules.into_iter().flatten().any(|rule| {
                let words = rule.get("prefix").and_then(Item::as_array);
                rule.get("decision").and_then(Item::as_str) == Some("allow")
                    && words.is_some_and(|words| {
                        words
                            .iter()
                            .map(toml_edit::Value::as_str)
                            .eq(prefix.iter().map(|word| Some(word.as_str())))
                    })
            })
        };
        self.prefixes.iter().filter(allowed).cloned().collect()
    }
}

fn with_rules(mut document: DocumentMut, prefixes: &[Vec<String>]) -> DocumentMut {
    let policy = document.entry("policy").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let Some(policy) = policy.as_table_mut() else { return document };
    let rules = policy.entry("rule").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(rules) = rules.as_array_of_tables_mut() else { return document };
    for prefix in prefixes {
        let mut rule = Table::new();
        rule.insert("prefix", value(prefix.iter().collect::<toml_edit::Array>()));
        rule.insert("decision", value("allow"));
        rule.insert("reason", value("approved for always"));
        rules.push(rule);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_order_stay() {
        let before = "# mine\n[limits]\ntimeout_ms = 5 # short\n\n[[policy.rule]]\nprefix = [\"ls\"]\ndecision = \"allow\"\n";
        let after =
            with_rules(before.parse().unwrap(), &[vec!["git".to_owned(), "log".to_owned()]]).to_string();
        assert!(after.starts_with(before), "{after}");
        assert_eq!(
            after.strip_prefix(before).unwrap().trim(),
            "[[policy.rule]]\nprefix = [\"git\", \"log\"]\ndecision = \"allow\"\nreason = \"approved for always\""
        );
    }

    #[test]
    fn only_rules_in_the_file_count_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let always =
            Always::for_file(folder.path().join("config.toml"), &[words("git log"), words("cargo build")]);
        assert!(always.written().is_empty(), "there is no file");
        always.write().unwrap();
        assert_eq!(always.written(), [words("git log"), words("cargo build")]);
        for (text, left) in [
            ("[[policy.rule]]\nprefix = [\"git\", \"log\"]\ndecision = \"allow\"\n", vec![words("git log")]),
            ("[[policy.rule]]\nprefix = [\"git\", \"log\"]\ndecision = \"deny\"\n", vec![]),
            ("[[policy.rule]]\nprefix = [\"git\", \"log\", \"-p\"]\ndecision = \"allow\"\n", vec![]),
            ("not toml", vec![]),
        ] {
            std::fs::write(&always.file, text).unwrap();
            assert_eq!(always.written(), left, "{text}");
        }
    }

    #[test]
    fn an_empty_file_gets_the_lines_alone() {
        let text = with_rules(DocumentMut::new(), &[vec!["ls".to_owned()]]).to_string();
        assert_eq!(
            text.trim(),
            "[[policy.rule]]\nprefix = [\"ls\"]\ndecision = \"allow\"\nreason = \"approved for always\""
        );
    }
}

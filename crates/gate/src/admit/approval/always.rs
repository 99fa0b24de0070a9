//! "Always": rules for the user's settings. A person sees the lines before they are written.

use std::io;
use std::path::PathBuf;

use shellgate_journal::UnwrittenSettings;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value, value};

use super::settings_file::{EditedFile, FileDraft};

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

    /// Adds the rules.
    ///
    /// # Errors
    /// As [`draft`](Self::draft).
    pub(crate) fn write(&self) -> io::Result<()> {
        self.draft()?.commit()
    }

    /// Writes the file with the rules beside the present one.
    ///
    /// # Errors
    /// When the file can't be read or written, isn't TOML, or has something else where the rules belong.
    pub(crate) fn draft(&self) -> io::Result<FileDraft> {
        let edited = EditedFile::open(&self.file)?;
        // The parser's own message has several lines, some of them from the file.
        let document: DocumentMut =
            edited.read()?.parse().map_err(|_| io::Error::other("it isn't valid TOML"))?;
        let after = with_rules(document, &self.prefixes).to_string();
        if self.allowed_in(&after).len() != self.prefixes.len() {
            return Err(io::Error::other("`policy.rule` isn't a list of rules in it"));
        }
        edited.draft(&after)
    }

    /// The file and why it could not be written, for the record.
    pub(crate) fn unwritten(&self, error: &io::Error) -> UnwrittenSettings {
        UnwrittenSettings { file: self.file.display().to_string(), error: shellgate_exec::plain(error) }
    }

    /// The prefixes that a rule of the file allows now.
    pub(crate) fn written(&self) -> Vec<Vec<String>> {
        self.allowed_in(&std::fs::read_to_string(&self.file).unwrap_or_default())
    }

    /// The prefixes that a rule of these settings allows. None, if they aren't valid.
    fn allowed_in(&self, settings: &str) -> Vec<Vec<String>> {
        let document: DocumentMut = settings.parse().unwrap_or_default();
        let rules = document.get("policy").and_then(|policy| policy.get("rule"));
        let rules: Vec<&dyn TableLike> = match rules {
            Some(Item::ArrayOfTables(rules)) => rules.iter().map(|rule| rule as &dyn TableLike).collect(),
            Some(Item::Value(Value::Array(rules))) => {
                rules.iter().filter_map(Value::as_inline_table).map(|rule| rule as &dyn TableLike).collect()
            }
            _ => Vec::new(),
        };
        let allowed = |prefix: &&Vec<String>| {
            rules.iter().any(|rule| {
                let words = rule.get("prefix").and_then(Item::as_array);
                rule.get("decision").and_then(Item::as_str) == Some("allow")
                    && words.is_some_and(|words| {
                        words.iter().map(Value::as_str).eq(prefix.iter().map(|word| Some(word.as_str())))
                    })
            })
        };
        self.prefixes.iter().filter(allowed).cloned().collect()
    }
}

/// Adds the rules in the form that the document has: tables `[[policy.rule]]`, or a list of inline tables where `policy` or
/// its `rule` is written in one line. A document with something else there stays as it is.
fn with_rules(mut document: DocumentMut, prefixes: &[Vec<String>]) -> DocumentMut {
    let policy = document.entry("policy").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    // No table can be added by its own header to one that is written as `policy.default = …` or `policy = { … }`.
    let in_one_line = policy.is_inline_table() || policy.as_table().is_some_and(Table::is_dotted);
    let Some(policy) = policy.as_table_like_mut() else { return document };
    let rules = policy.entry("rule").or_insert_with(|| match in_one_line {
        true => value(Array::new()),
        false => Item::ArrayOfTables(ArrayOfTables::new()),
    });
    match rules {
        Item::ArrayOfTables(rules) => prefixes.iter().for_each(|prefix| rules.push(rule(prefix))),
        Item::Value(Value::Array(rules)) => {
            prefixes.iter().for_each(|prefix| rules.push(rule(prefix).into_inline_table()));
        }
        _ => {}
    }
    document
}

fn rule(prefix: &[String]) -> Table {
    let mut rule = Table::new();
    rule.insert("prefix", value(prefix.iter().collect::<Array>()));
    rule.insert("decision", value("allow"));
    rule.insert("reason", value("approved for always"));
    rule
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

    fn always_in(folder: &std::path::Path, text: &str) -> Always {
        let file = folder.join("config.toml");
        std::fs::write(&file, text).unwrap();
        Always::for_file(file, &[vec!["git".to_owned(), "log".to_owned()]])
    }

    #[test]
    fn rules_in_one_line_get_the_new_rule_too() {
        let folder = tempfile::tempdir().unwrap();
        for before in [
            "[policy]\nrule = []\n",
            "[policy]\nrule = [ { prefix = [\"ls\"], decision = \"allow\" } ] # mine\n[limits]\ntimeout_ms = 5\n",
            "[policy]\nrule = [\n  { prefix = [\"ls\"], decision = \"allow\" }, # mine\n]\n",
            "policy = { default = \"ask\", rule = [] }\n",
            "policy = { default = \"ask\" }\nlog = { level = \"info\" }\n",
            "policy = {}\n",
            "policy.default = \"ask\"\n\n[limits]\ntimeout_ms = 5\n",
            "[policy]\ndefault = \"ask\"\n[limits]\ntimeout_ms = 5\n",
        ] {
            let always = always_in(folder.path(), before);
            always.write().unwrap_or_else(|error| panic!("{before}: {error}"));
            let after = std::fs::read_to_string(&always.file).unwrap();
            assert_eq!(always.written().len(), 1, "{after}");
            let (before, after): (toml_edit::DocumentMut, toml_edit::DocumentMut) =
                (before.parse().unwrap(), after.parse().unwrap());
            for (name, _) in before.iter() {
                assert!(after.contains_key(name), "{after}");
            }
            assert_eq!(
                before.to_string().matches("# mine").count(),
                after.to_string().matches("# mine").count()
            );
            assert_eq!(
                before.to_string().matches("\"ls\"").count(),
                after.to_string().matches("\"ls\"").count()
            );
        }
    }

    #[test]
    fn a_file_that_cannot_take_the_rule_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        for before in [
            "policy = 5\n",
            "[policy]\nrule = \"x\"\n",
            "[policy.rule]\nprefix = [\"ls\"]\n",
            "[[policy]]\n",
            "[policy\n",
        ] {
            let always = always_in(folder.path(), before);
            assert!(always.write().is_err(), "{before}");
            assert_eq!(std::fs::read_to_string(&always.file).unwrap(), before);
        }
        std::fs::remove_file(folder.path().join("config.toml")).unwrap();
        std::fs::create_dir(folder.path().join("config.toml")).unwrap();
        let always = Always::for_file(folder.path().join("config.toml"), &[vec!["ls".to_owned()]]);
        assert!(always.write().is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_link_stays_a_link() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (links, files) = (folder.path().join("links"), folder.path().join("files"));
        for made in [&links, &files] {
            std::fs::create_dir(made).unwrap();
        }
        let (link, file) = (links.join("config.toml"), files.join("mine.toml"));
        symlink("../files/second", &link).unwrap();
        symlink(&file, files.join("second")).unwrap();
        let always = Always::for_file(link.clone(), &[vec!["ls".to_owned()]]);
        // The file that the link names need not exist.
        always.write().unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let always = Always::for_file(link.clone(), &[vec!["cat".to_owned()]]);
        always.write().unwrap();
        assert!(link.is_symlink() && files.join("second").is_symlink());
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written.contains("[\"ls\"]") && written.contains("[\"cat\"]"), "{written}");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(std::fs::read_dir(&links).unwrap().count(), 1);
        symlink("loop", links.join("loop")).unwrap();
        assert!(Always::for_file(links.join("loop"), &[vec!["ls".to_owned()]]).write().is_err());
    }

    #[test]
    fn edits_at_the_same_moment_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = file.clone();
                scope.spawn(move || Always::for_file(file, &[vec![format!("p{number}")]]).write().unwrap());
            }
        });
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(written.matches("decision").count(), 8, "{written}");
    }
}

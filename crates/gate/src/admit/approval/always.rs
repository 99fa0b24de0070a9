//! "Always": rules for the user's settings. A person sees the lines before they are written.

use std::io;
use std::path::{Path, PathBuf};

use shellgate_journal::UnwrittenSettings;
use shellgate_policy::{Entry, Prefix};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value, value};

use super::settings_file::{EditedFile, FileDraft};
use crate::settings::{Decision, Origin, Rule, Settings, Sources};

/// Which commands the added rules allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleReach {
    /// Those that begin with the rule's words.
    Prefix,
    /// Those that have the rule's words and no others.
    Exact,
}

/// Rules to add to a settings file. The rest of the file stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Always {
    /// The file.
    pub file: PathBuf,
    /// The lines.
    pub lines: Vec<String>,
    rules: Vec<Vec<String>>,
    reach: RuleReach,
}

/// Rules that are in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRules {
    /// Where they are, as `FILE:LINE`.
    pub places: Vec<String>,
}

impl WrittenRules {
    /// Where they are, and how to take them back.
    #[must_use]
    pub fn way_back(&self) -> String {
        let rules = if self.places.len() == 1 { "the rule" } else { "the rules" };
        format!("to take it back, remove {rules} at {}", self.places.join(" and "))
    }
}

impl Always {
    /// The rules with these words. `None` when there is no rule, or no file to write to.
    pub(crate) fn new(rules: &[Vec<String>], reach: RuleReach) -> Option<Self> {
        let file = crate::locations::settings_sources().ok()?.user.filter(|_| !rules.is_empty())?;
        Some(Self::for_file(file, rules, reach))
    }

    /// The rules for a file that was chosen before.
    pub(crate) fn for_file(file: PathBuf, rules: &[Vec<String>], reach: RuleReach) -> Self {
        let text = with_rules(DocumentMut::new(), rules, reach).to_string();
        let lines = text.trim_end().lines().map(str::to_owned).collect();
        Self { file, lines, rules: rules.to_vec(), reach }
    }

    /// Adds the rules.
    ///
    /// # Errors
    /// As [`draft`](Self::draft) and [`commit`](Self::commit).
    pub(crate) fn write(&self) -> io::Result<WrittenRules> {
        self.commit(self.draft()?)
    }

    /// Writes the file with the rules beside the present one.
    ///
    /// # Errors
    /// When the file can't be read or written, isn't TOML, or has something else where the rules belong; and when shellgate
    /// would not read the rules from the new file.
    pub(crate) fn draft(&self) -> io::Result<FileDraft> {
        let edited = EditedFile::open(&self.file)?;
        // The parser's own message has several lines, some of them from the file.
        let document: DocumentMut =
            edited.read()?.parse().map_err(|_| io::Error::other("it isn't valid TOML"))?;
        let before = document.to_string();
        let after = with_rules(document, &self.rules, self.reach).to_string();
        if after == before {
            return Err(io::Error::other("`policy.rule` isn't a list of rules in it"));
        }
        let draft = edited.draft(&after)?;
        match self.found_in(draft.path())?.is_some() {
            true => Ok(draft),
            false => Err(io::Error::other("the rules would have no effect there")),
        }
    }

    /// Replaces the file, and reads the rules back from it.
    ///
    /// # Errors
    /// When the file can't be replaced, or doesn't have the rules then.
    pub(crate) fn commit(&self, draft: FileDraft) -> io::Result<WrittenRules> {
        draft.commit()?;
        let found = self.found_in(&self.file)?;
        let places = found.ok_or_else(|| io::Error::other("the rules aren't in it after writing"))?;
        Ok(WrittenRules { places })
    }

    /// The file and why it could not be written, for the record.
    pub(crate) fn unwritten(&self, error: &io::Error) -> UnwrittenSettings {
        UnwrittenSettings { file: self.file.display().to_string(), error: shellgate_exec::plain(error) }
    }

    /// The rules that are in the file now.
    pub(crate) fn written(&self) -> Vec<Entry> {
        let rules = rules_in(&self.file).unwrap_or_default();
        let is_there = |prefix: &Prefix| rules.iter().any(|rule| allows(rule, prefix));
        let entry = |prefix: Prefix| Entry { shown: format!("approved for always: {prefix}"), prefix };
        self.prefixes().filter(is_there).map(entry).collect()
    }

    /// Where each rule is in a file. `None`: one is missing.
    fn found_in(&self, file: &Path) -> io::Result<Option<Vec<String>>> {
        let rules = rules_in(file)?;
        // Of two equal rules, the later one was added.
        let place = |prefix: Prefix| match &rules.iter().rfind(|rule| allows(rule, &prefix))?.origin {
            Origin::File(place) => Some(format!("{}:{}", self.file.display(), place.line)),
            Origin::BuiltIn | Origin::Flag(_) => None,
        };
        Ok(self.prefixes().map(place).collect())
    }

    fn prefixes(&self) -> impl Iterator<Item = Prefix> {
        self.rules.iter().cloned().map(match self.reach {
            RuleReach::Prefix => Prefix::Words,
            RuleReach::Exact => Prefix::Exactly,
        })
    }
}

/// The rules that shellgate reads from a settings file.
fn rules_in(file: &Path) -> io::Result<Vec<Rule>> {
    let sources = Sources { user: Some(file.to_owned()), ..Sources::default() };
    let loaded = Settings::load(&sources);
    loaded.map(|settings| settings.policy.rules).map_err(|error| io::Error::other(error.to_string()))
}

fn allows(rule: &Rule, prefix: &Prefix) -> bool {
    rule.decision == Decision::Allow && rule.prefix == *prefix
}

/// Adds the rules in the form that the document has: tables `[[policy.rule]]`, or a list of inline tables where `policy` or
/// its `rule` is written in one line. A document with something else there stays as it is.
fn with_rules(mut document: DocumentMut, prefixes: &[Vec<String>], reach: RuleReach) -> DocumentMut {
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
        Item::ArrayOfTables(rules) => prefixes.iter().for_each(|prefix| rules.push(rule(prefix, reach))),
        Item::Value(Value::Array(rules)) => {
            prefixes.iter().for_each(|prefix| rules.push(rule(prefix, reach).into_inline_table()));
        }
        _ => {}
    }
    document
}

fn rule(prefix: &[String], reach: RuleReach) -> Table {
    let mut rule = Table::new();
    rule.insert("prefix", value(prefix.iter().collect::<Array>()));
    if reach == RuleReach::Exact {
        rule.insert("exact", value(true));
    }
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
        let after = with_rules(
            before.parse().unwrap(),
            &[vec!["git".to_owned(), "log".to_owned()]],
            RuleReach::Prefix,
        )
        .to_string();
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
        let always = Always::for_file(
            folder.path().join("config.toml"),
            &[words("git log"), words("cargo build")],
            RuleReach::Prefix,
        );
        let found = |always: &Always| -> Vec<Vec<String>> {
            let words = |entry: Entry| match entry.prefix {
                Prefix::Words(words) => words,
                other => panic!("{other:?}"),
            };
            always.written().into_iter().map(words).collect()
        };
        assert!(always.written().is_empty(), "there is no file");
        always.write().unwrap();
        assert_eq!(found(&always), [words("git log"), words("cargo build")]);
        for (text, left) in [
            ("[[policy.rule]]\nprefix = [\"git\", \"log\"]\ndecision = \"allow\"\n", vec![words("git log")]),
            ("[[policy.rule]]\nprefix = [\"git\", \"log\"]\ndecision = \"deny\"\n", vec![]),
            ("[[policy.rule]]\nprefix = [\"git\", \"log\", \"-p\"]\ndecision = \"allow\"\n", vec![]),
            ("not toml", vec![]),
        ] {
            std::fs::write(&always.file, text).unwrap();
            assert_eq!(found(&always), left, "{text}");
        }
    }

    #[test]
    fn an_empty_file_gets_the_lines_alone() {
        let text = with_rules(DocumentMut::new(), &[vec!["ls".to_owned()]], RuleReach::Prefix).to_string();
        assert_eq!(
            text.trim(),
            "[[policy.rule]]\nprefix = [\"ls\"]\ndecision = \"allow\"\nreason = \"approved for always\""
        );
    }

    fn always_in(folder: &std::path::Path, text: &str) -> Always {
        let file = folder.join("config.toml");
        std::fs::write(&file, text).unwrap();
        Always::for_file(file, &[vec!["git".to_owned(), "log".to_owned()]], RuleReach::Prefix)
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
        let always =
            Always::for_file(folder.path().join("config.toml"), &[vec!["ls".to_owned()]], RuleReach::Prefix);
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
        let always = Always::for_file(link.clone(), &[vec!["ls".to_owned()]], RuleReach::Prefix);
        // The file that the link names need not exist.
        always.write().unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let always = Always::for_file(link.clone(), &[vec!["cat".to_owned()]], RuleReach::Prefix);
        always.write().unwrap();
        assert!(link.is_symlink() && files.join("second").is_symlink());
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written.contains("[\"ls\"]") && written.contains("[\"cat\"]"), "{written}");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(std::fs::read_dir(&links).unwrap().count(), 1);
        symlink("loop", links.join("loop")).unwrap();
        assert!(
            Always::for_file(links.join("loop"), &[vec!["ls".to_owned()]], RuleReach::Prefix)
                .write()
                .is_err()
        );
    }

    #[test]
    fn edits_at_the_same_moment_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = file.clone();
                scope.spawn(move || {
                    Always::for_file(file, &[vec![format!("p{number}")]], RuleReach::Prefix).write().unwrap()
                });
            }
        });
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(written.matches("decision").count(), 8, "{written}");
    }

    #[test]
    fn a_rule_for_exactly_a_command_is_found_again_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let words = vec!["rm".to_owned(), "-rf".to_owned(), "a b".to_owned()];
        let always = Always::for_file(file.clone(), std::slice::from_ref(&words), RuleReach::Exact);
        std::fs::write(&file, "# mine\n[limits]\ntimeout_ms = 5\n").unwrap();
        let written = always.write().unwrap();
        assert_eq!(written.places, [format!("{}:5", file.display())]);
        assert_eq!(written.way_back(), format!("to take it back, remove the rule at {}:5", file.display()));
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().nth(4), Some("[[policy.rule]]"), "{text}");
        let [entry] = always.written().try_into().unwrap();
        assert_eq!(entry.prefix, Prefix::Exactly(words.clone()));
        // The same words as a prefix are another rule.
        assert!(Always::for_file(file, &[words], RuleReach::Prefix).written().is_empty());
    }

    #[test]
    fn a_read_only_file_is_refused_with_a_sentence() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let always = always_in(folder.path(), "# mine\n");
        let set_mode = |mode| {
            std::fs::set_permissions(&always.file, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(0o444);
        assert_eq!(always.write().unwrap_err().to_string(), "it is read-only");
        assert_eq!(std::fs::read_to_string(&always.file).unwrap(), "# mine\n");
        set_mode(0o644);
        always.write().unwrap();
    }

    #[test]
    fn a_file_that_shellgate_would_not_read_gets_no_rule() {
        let folder = tempfile::tempdir().unwrap();
        let always = always_in(folder.path(), "nonsense = 5\n");
        assert!(always.write().is_err());
        assert_eq!(std::fs::read_to_string(&always.file).unwrap(), "nonsense = 5\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }
}

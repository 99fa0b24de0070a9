//! What a project is made of, and the commands that follow from it.
//!
//! Files are only read: nothing of the project runs. A file that can't be read or has an error proposes nothing.

use std::path::Path;

use toml_edit::{Document, Item, TableLike};

const PROJECTS: &str = include_str!("projects.toml");

/// A larger file is not looked at.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// A command that the starter file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposal {
    /// Its words.
    pub(super) command: String,
    /// What it follows from.
    pub(super) because: String,
}

/// The commands that a starter file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Proposals {
    pub(super) allow: Vec<Proposal>,
    pub(super) ask: Vec<Proposal>,
}

impl Proposals {
    /// Looks at a project.
    pub(super) fn of(folder: &Path) -> Self {
        let mut found = Self::default();
        // A test reads the same text.
        let Ok(table) = Document::parse(PROJECTS) else { return found };
        found.add_projects(folder, &table);
        found.add_python(folder, &table);
        found.add_scripts(folder, &table);
        found.add_targets(folder, &table);
        found.add_remote(folder);
        found
    }

    fn add_projects(&mut self, folder: &Path, table: &Document<&str>) {
        for row in rows(table, "project").filter(|row| folder.join(text(*row, "file")).is_file()) {
            let file = text(row, "file");
            self.add(&list(row, "allow"), &list(row, "ask"), file);
        }
    }

    fn add_python(&mut self, folder: &Path, table: &Document<&str>) {
        let Some(settings) = read(folder, "pyproject.toml") else { return };
        let Ok(settings) = Document::parse(settings) else { return };
        let tools = settings.get("tool").and_then(Item::as_table_like);
        for row in rows(table, "python") {
            if tools.is_some_and(|tools| tools.contains_key(text(row, "tool"))) {
                self.add(&list(row, "allow"), &[], "pyproject.toml");
            }
        }
    }

    fn add_scripts(&mut self, folder: &Path, table: &Document<&str>) {
        let Some(package) = read(folder, "package.json") else { return };
        let Ok(package) = serde_json::from_str::<serde_json::Value>(&package) else { return };
        let Some(runner) = rows(table, "runner").find(|row| folder.join(text(*row, "file")).is_file()) else {
            return;
        };
        let scripts = package.get("scripts").and_then(serde_json::Value::as_object);
        let names = scripts.into_iter().flat_map(|scripts| scripts.keys()).map(String::as_str);
        self.add_names(names, text(runner, "run"), "package.json", table);
        // A package that is private can't be published.
        if package.get("private").and_then(serde_json::Value::as_bool) != Some(true) {
            self.add(&[], &[text(runner, "publish")], "package.json");
        }
    }

    fn add_targets(&mut self, folder: &Path, table: &Document<&str>) {
        let makefile = ["GNUmakefile", "makefile", "Makefile"];
        let Some((file, rules)) = makefile.iter().find_map(|file| Some((*file, read(folder, file)?))) else {
            return;
        };
        let targets = rules.lines().filter_map(|line| {
            let (names, rest) = line.split_once(':')?;
            // `NAME := value` is a variable, and a line that begins with a tab is a command.
            (!rest.starts_with('=') && !names.starts_with(['\t', ' ', '#', '.'])).then_some(names)
        });
        let names: Vec<&str> = targets.flat_map(str::split_ascii_whitespace).collect();
        self.add_names(names.into_iter(), "make", file, table);
    }

    fn add_remote(&mut self, folder: &Path) {
        // Of a linked worktree or a submodule, `.git` is a file, and the settings are elsewhere.
        let repository = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.is_dir());
        let settings = repository.and_then(|git| read(&git, "config")).unwrap_or_default();
        let remote = |line: &str| {
            let name = line.trim().strip_prefix("[remote \"")?.strip_suffix("\"]")?;
            is_plain(name).then(|| name.to_owned())
        };
        if let Some(name) = settings.lines().find_map(remote) {
            self.add(&[], &["git push"], &format!("git remote `{name}`"));
        }
    }

    /// Proposes the scripts or targets whose names say what they do.
    fn add_names<'a>(
        &mut self,
        names: impl Iterator<Item = &'a str>,
        run: &str,
        because: &str,
        table: &Document<&str>,
    ) {
        let Some(known) = table.get("names").and_then(Item::as_table_like) else { return };
        let (allow, ask) = (list(known, "allow"), list(known, "ask"));
        for name in names.filter(|name| is_plain(name)) {
            let command = format!("{run} {name}");
            let begins = |known: &&&str| {
                name.strip_prefix(**known).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '-']))
            };
            // `build-and-deploy` begins well and ends otherwise.
            let publishes = name.split([':', '-', '_']).any(|word| ask.contains(&word));
            if publishes {
                self.add(&[], &[command.as_str()], because);
            } else if allow.iter().any(|known| begins(&known)) {
                self.add(&[command.as_str()], &[], because);
            }
        }
    }

    fn add(&mut self, allow: &[&str], ask: &[&str], because: &str) {
        for (list, commands) in [(&mut self.allow, allow), (&mut self.ask, ask)] {
            for command in commands {
                if !list.iter().any(|known| known.command == *command) {
                    list.push(Proposal { command: (*command).to_owned(), because: because.to_owned() });
                }
            }
        }
    }
}

/// Whether a name is one word for every shell and every rule, without `*`.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-' | '.' | '/');
    !name.is_empty() && name.len() <= 60 && !name.starts_with('-') && name.chars().all(plain)
}

/// The text of a regular file in the project.
fn read(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    let metadata = std::fs::metadata(&path).ok()?;
    let small = metadata.is_file() && metadata.len() <= MAX_FILE_BYTES;
    small.then(|| std::fs::read_to_string(path).ok()).flatten()
}

fn rows<'a>(table: &'a Document<&str>, name: &str) -> impl Iterator<Item = &'a dyn TableLike> {
    let rows = table.get(name).and_then(Item::as_array_of_tables).into_iter().flatten();
    rows.map(|row| row as &dyn TableLike)
}

fn text<'a>(row: &'a dyn TableLike, key: &str) -> &'a str {
    row.get(key).and_then(Item::as_str).unwrap_or_default()
}

fn list<'a>(row: &'a dyn TableLike, key: &str) -> Vec<&'a str> {
    let values = row.get(key).and_then(Item::as_array).into_iter().flatten();
    values.filter_map(toml_edit::Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let found = Proposals::of(folder.path());
        let commands = |list: &[Proposal]| list.iter().map(|one| one.command.clone()).collect::<Vec<_>>();
        (commands(&found.allow), commands(&found.ask))
    }

    #[test]
    fn the_table_can_be_read() {
        let table = Document::parse(PROJECTS).unwrap();
        for row in rows(&table, "project") {
            assert!(!text(row, "file").is_empty() && !list(row, "allow").is_empty());
        }
        assert!(rows(&table, "python").all(|row| !text(row, "tool").is_empty()));
        assert!(rows(&table, "runner").all(|row| text(row, "run").contains(' ')));
        assert!(table.get("names").is_some());
    }

    #[test]
    fn scripts_are_proposed_only_if_the_package_has_them() {
        let package = r#"{"private": true, "scripts": {"test": "jest", "test:unit": "x", "testing; rm": "x", "start": "x",
                          "build-and-deploy": "x", "deploy": "x", "lint": "eslint"}}"#;
        let (allow, ask) = look(&[("package.json", package)]);
        assert_eq!(allow, ["npm run test", "npm run test:unit", "npm run lint"]);
        assert_eq!(ask, ["npm run build-and-deploy", "npm run deploy"]);
        let (allow, ask) = look(&[("package.json", "{}"), ("pnpm-lock.yaml", "")]);
        assert_eq!((allow, ask), (vec![], vec!["pnpm publish".to_owned()]));
        assert_eq!(look(&[("package.json", "not json")]), (vec![], vec![]));
    }

    #[test]
    fn targets_tools_and_remotes() {
        let makefile = "CC := gcc\n.PHONY: test\ntest lint: all\n\tcheck: x\ninstall:\n\tcp a b\n";
        let (allow, ask) = look(&[("Makefile", makefile)]);
        assert_eq!(
            (allow, ask),
            (vec!["make test".to_owned(), "make lint".to_owned()], vec!["make install".to_owned()])
        );
        let (allow, _) = look(&[("pyproject.toml", "[tool.pytest.ini_options]\n[tool.other]\n")]);
        assert_eq!(allow, ["pytest"]);
        let (allow, ask) = look(&[("Cargo.toml", ""), (".git/config", "[remote \"origin\"]\n\turl = x\n")]);
        assert!(allow.contains(&"cargo test".to_owned()), "{allow:?}");
        assert_eq!(ask, ["cargo publish", "git push"]);
        assert_eq!(
            look(&[(".git/config", "[core]\n")]),
            (vec![], vec![]),
            "without a remote nothing is pushed"
        );
    }
}

//! The text of a starter file.

use super::project::{Proposal, Proposals};

const HEAD: &str = "\
# Rules for commands that agents run in this folder and below it.
# Until you read and trust them they can only make your own rules stricter:
#   shellgate trust
# What they say about a command:  shellgate check 'COMMAND'
# All settings in force:          shellgate config show

[policy]
# cautious: reads run without asking, all else asks
# balanced: so does work inside the project
# open:     so does all that ruins nothing
preset = \"balanced\"
";

/// The file for a project.
pub(super) fn starter(found: &Proposals) -> String {
    let allow = list("allow", &found.allow, "npm run *");
    let ask = list("ask", &found.ask, "git push");
    let deny = list("deny", &[], "terraform destroy");
    format!(
        "{HEAD}
# These run without asking. An entry is the first words of a command; a `*`
# stands for one or more words.
{allow}
# These always ask.
{ask}
# These never run.
{deny}"
    )
}

/// A list with a line for each entry. Without entries it is an example in a comment.
fn list(key: &str, entries: &[Proposal], example: &str) -> String {
    if entries.is_empty() {
        return format!("# {key} = [{}]\n", quoted(example));
    }
    let width = entries.iter().map(|entry| quoted(&entry.command).chars().count()).max().unwrap_or(0);
    let line = |entry: &Proposal| {
        let command = format!("{},", quoted(&entry.command));
        format!("  {command:<width$}  # {}\n", entry.because, width = width + 1)
    };
    format!("{key} = [\n{}]\n", entries.iter().map(line).collect::<String>())
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(command: &str, because: &str) -> Proposal {
        Proposal { command: command.to_owned(), because: because.to_owned() }
    }

    #[test]
    fn a_starter() {
        let found = Proposals {
            allow: vec![proposal("cargo test", "Cargo.toml"), proposal("npm run lint", "package.json")],
            ask: vec![proposal("git push", "git remote `origin`")],
        };
        let text = starter(&found);
        insta::assert_snapshot!(text);
        assert!(text.lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn it_is_toml_with_the_keys_of_the_policy() {
        for found in [
            Proposals::default(),
            Proposals { allow: vec![proposal("a \"b\"", "c")], ask: vec![proposal("x", "y")] },
        ] {
            let text = starter(&found);
            let document = toml_edit::Document::parse(text.as_str()).unwrap();
            let policy = document.get("policy").unwrap().as_table_like().unwrap();
            assert_eq!(policy.get("preset").unwrap().as_str(), Some("balanced"));
            for (key, list) in [("allow", &found.allow), ("ask", &found.ask)] {
                let entries = policy.get(key).and_then(|list| list.as_array()).map_or(0, |list| list.len());
                assert_eq!(entries, list.len(), "{text}");
            }
        }
    }
}

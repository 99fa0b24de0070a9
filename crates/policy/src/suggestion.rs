//! Suggests the prefix under which a call could be allowed from now on: the program and its subcommands.
//!
//! It is never a program that runs what it is given, and never a program alone whose subcommands differ as `git log` and
//! `git push` do. [`narrow_prefix`] is for a person who approves commands that aren't there yet, [`suggest_prefix`] for a rule
//! that widens what a command reaches that was approved already.

use shellgate_syntax::{Span, Value, Word};

use crate::calls::unknown_value;
use crate::programs::{CallMeaning, EffectKind, ProgramKind, Property, has, is_listed, understand};

/// The prefix for a call with these words; `None` is a word that can't be known. No prefix: it can only be allowed as it is.
#[must_use]
pub fn suggest_prefix(argv: &[Option<String>]) -> Option<Vec<String>> {
    let words = words_of(argv);
    let program = argv.first()?.as_deref().filter(|name| !name.contains('/'))?;
    let meaning = understand(&words);
    let with = |word: &str| Some(vec![program.to_owned(), word.to_owned()]);
    let second = argv.get(1).and_then(Option::as_deref).filter(|word| may_be_subcommand(word));
    match meaning.kind {
        Some(
            ProgramKind::Wrapper | ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Workbench,
        ) => None,
        Some(_) if meaning.has_subcommands => {
            // A rule matches the words as they are written, so the subcommand must be the second one.
            let subcommand = *meaning.subcommands.first()?;
            with(second.filter(|second| *second == subcommand)?)
        }
        Some(ProgramKind::Builder) | None => second.map_or_else(|| Some(vec![program.to_owned()]), with),
        Some(ProgramKind::Reader | ProgramKind::Writer | ProgramKind::Network | ProgramKind::Builtin) => {
            Some(vec![program.to_owned()])
        }
    }
}

/// The narrowest prefix that is safe to allow from now on: the program and its subcommands, as deep as the tables know them. A
/// program alone only if the tables say that all its calls are harmless. Of a program that no table lists, all words that may
/// be subcommands. No prefix: only exactly this call can be allowed.
#[must_use]
pub fn narrow_prefix(argv: &[Option<String>]) -> Option<Vec<String>> {
    let program = argv.first()?.as_deref().filter(|name| !name.contains('/'))?;
    let meaning = understand(&words_of(argv));
    let depth = match meaning.kind {
        Some(_) if meaning.has_subcommands => subcommand_depth(program, argv, &meaning),
        Some(_) if has(program, Property::SafeAlone) => return Some(vec![program.to_owned()]),
        Some(_) => 0,
        None => {
            let words = argv.iter().skip(1).map_while(Option::as_deref);
            let subcommands: Vec<&str> = words.take_while(|word| may_be_subcommand(word)).collect();
            // It may be a wrapper: `nobody rm` would allow more than anyone meant.
            if subcommands.iter().any(|word| is_listed(word)) { 0 } else { subcommands.len() }
        }
    };
    let words = argv.iter().take(depth + 1).cloned().collect::<Option<Vec<String>>>()?;
    (depth > 0).then_some(words)
}

/// How many words behind the program are its subcommands. 0: a rule with them would allow too much, or would not match.
fn subcommand_depth(program: &str, argv: &[Option<String>], meaning: &CallMeaning) -> usize {
    let depth = meaning.subcommands.len();
    // A rule matches the words as they are written: no option may stand between them.
    let first = argv.get(..=depth).unwrap_or(argv);
    let is_written_so = understand(&words_of(first)).subcommands == meaning.subcommands;
    let runs_code = meaning.effects.iter().any(|effect| runs_code(&effect.kind));
    if !is_written_so || runs_code || meaning.is_incomplete {
        return 0;
    }
    let named = argv.iter().take(depth + 1).flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
    if has(&named, Property::RunsItsOperands) {
        return 0;
    }
    let is_deeper = |name: &str| has(name, Property::DeeperSubcommands);
    if !is_deeper(&named) && (depth > 1 || !is_deeper(program)) {
        return depth;
    }
    let next = argv.get(depth + 1).and_then(Option::as_deref);
    if next.is_some_and(may_be_subcommand) { depth + 1 } else { 0 }
}

/// Whether the call runs code that its words name or its project has.
const fn runs_code(effect: &EffectKind) -> bool {
    matches!(
        effect,
        EffectKind::Argv { .. }
            | EffectKind::Shell(_)
            | EffectKind::ShellInput(_)
            | EffectKind::Opaque(..)
            | EffectKind::Inline(..)
            | EffectKind::OpaqueInput(_)
    )
}

/// Whether a call with these words runs a builtin of bash: it reaches files by redirections alone.
#[must_use]
pub fn is_builtin(argv: &[Option<String>]) -> bool {
    understand(&words_of(argv)).kind == Some(ProgramKind::Builtin)
}

fn words_of(argv: &[Option<String>]) -> Vec<Word> {
    let value = |word: &Option<String>| word.clone().map_or_else(unknown_value, Value::Known);
    argv.iter().map(|word| Word { span: Span::default(), value: value(word) }).collect()
}

/// Whether a word can be a subcommand: it is no option, path or text.
fn may_be_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_for_later_is_as_deep_as_the_tables_and_never_a_program_that_does_harm() {
        let offered = |text: &str| {
            let argv: Vec<Option<String>> = text.split(' ').map(|word| Some(word.to_owned())).collect();
            narrow_prefix(&argv).map(|prefix| prefix.join(" "))
        };
        let cases = [
            ("gh pr create --fill", Some("gh pr create")),
            ("gh pr", None),
            ("gh", None),
            ("git log -p", Some("git log")),
            ("git push origin main", Some("git push")),
            ("git -C d log", None),
            ("git", None),
            ("docker ps", Some("docker ps")),
            ("docker run alpine sh", None),
            ("docker exec c ls", None),
            ("docker image rm x", Some("docker image rm")),
            ("npm run build", Some("npm run build")),
            ("npm run", None),
            ("npm install x", Some("npm install")),
            ("terraform state rm x", Some("terraform state rm")),
            ("gh issue close 1", Some("gh issue close")),
            ("gh run view 12", Some("gh run view")),
            ("git stash drop", Some("git stash drop")),
            ("git stash", None),
            ("git remote -v", None),
            ("uv run x", None),
            ("npx tsc", None),
            ("cargo test", Some("cargo test")),
            ("kubectl get pods", Some("kubectl get pods")),
            ("kubectl get pods -n x", Some("kubectl get pods")),
            ("kubectl get secret x", Some("kubectl get secret")),
            ("kubectl describe pod x", Some("kubectl describe pod")),
            ("kubectl get", None),
            ("kubectl logs x", Some("kubectl logs")),
            ("go run x.go", None),
            ("go run .", None),
            ("go tool pprof x", None),
            ("cargo install ripgrep", None),
            ("go test ./...", Some("go test")),
            ("go vet ./...", Some("go vet")),
            ("ls -la src", Some("ls")),
            ("grep x y", Some("grep")),
            ("mkdir a", Some("mkdir")),
            ("rm -rf build", None),
            ("rm", None),
            ("make all", None),
            ("make", None),
            ("curl https://example.org", None),
            ("wget x", None),
            ("chmod 644 x", None),
            ("chown me x", None),
            ("cp a b", None),
            ("dd if=a of=b", None),
            ("find . -name x", None),
            ("sed -n 1p x", None),
            ("ssh host ls", None),
            ("bash -c x", None),
            ("python3 x.py", None),
            ("node x.js", None),
            ("sudo ls", None),
            ("env ls", None),
            ("xargs ls", None),
            ("frob deploy now", Some("frob deploy now")),
            ("frob deploy now --x y", Some("frob deploy now")),
            ("frob deploy ./now", Some("frob deploy")),
            ("frob rm x", None),
            ("frob --x", None),
            ("frob", None),
            ("./tool x", None),
            ("/usr/bin/git log", None),
        ];
        for (text, prefix) in cases {
            assert_eq!(offered(text).as_deref(), prefix, "{text}");
        }
        assert_eq!(narrow_prefix(&[Some("git".to_owned()), None]), None);
        assert_eq!(narrow_prefix(&[None, Some("git".to_owned())]), None);
    }

    #[test]
    fn a_prefix_is_a_program_with_its_subcommand_and_never_one_that_runs_anything() {
        let suggested = |text: &str| {
            let argv: Vec<Option<String>> = text.split(' ').map(|word| Some(word.to_owned())).collect();
            suggest_prefix(&argv).map(|prefix| prefix.join(" "))
        };
        let cases = [
            ("git log -p", Some("git log")),
            ("git -C d log", None),
            ("git", None),
            ("npm test", Some("npm test")),
            ("docker ps", Some("docker ps")),
            ("ls -la src", Some("ls")),
            ("make all", Some("make all")),
            ("frob deploy now", Some("frob deploy")),
            ("frob --x", Some("frob")),
            ("bash -c x", None),
            ("python3 x.py", None),
            ("sudo ls", None),
            ("env ls", None),
            ("xargs ls", None),
            ("./tool x", None),
            ("/usr/bin/git log", None),
        ];
        for (text, prefix) in cases {
            assert_eq!(suggested(text).as_deref(), prefix, "{text}");
        }
    }
}

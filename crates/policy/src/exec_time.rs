//! Compares rules with a program that is about to run, by the words that the kernel has for it.
//!
//! The judge compares rules with a text. Here everything is known: the file, and every word. Where files are the same under
//! different names is the caller's business; it asks with each name that a program has.

use std::path::Path;

use shellgate_syntax::{Span, Value, Word};

use crate::machine::Machine;
use crate::matching::{Candidate, LooseMatch, StrictMatch};
use crate::programs::{ProgramKind, Property, base_name, has, is_listed, kind_of, listed_name, understand};
use crate::rules::Prefix;

/// No folder: the names that are compared here have been looked up already.
const NO_SEARCH_PATH: &str = "/dev/null";

/// A program that is about to run, by one of its names.
#[derive(Clone, Copy, Debug)]
pub struct ProgramCall<'a> {
    /// The name, without a folder.
    pub name: &'a str,
    /// The words behind it.
    pub arguments: &'a [String],
    /// Whether there are more words than these.
    pub is_cut: bool,
}

/// The name of the program that a rule is about. `None`: it is about any, or about all that fit a pattern.
#[must_use]
pub fn named_program(prefix: &Prefix) -> Option<&str> {
    prefix.words().first().map(String::as_str).filter(|word| !word.contains('*'))
}

/// Whether a rule with this prefix may be about a program of this name, whatever its words are. It saves reading the words.
#[must_use]
pub fn may_be_about(prefix: &Prefix, name: &str) -> bool {
    let Some(wanted) = named_program(prefix).map(base_name) else { return true };
    name == wanted
        || has(name, Property::StandsForPrograms)
        || has(wanted, Property::ManyNames)
            && listed_name(name).is_some_and(|own| Some(own) == listed_name(wanted))
        || has(wanted, Property::DashedSubcommands)
            && name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('-'))
}

/// Whether a rule that denies is about this call: by any spelling of its options, and unless it is one of the exceptions.
#[must_use]
pub fn denies(prefix: &Prefix, except: &[Prefix], call: &ProgramCall<'_>) -> bool {
    if !may_be_about(prefix, call.name) {
        return false;
    }
    with_candidate(call.name, call, |candidate| {
        let is_it = match candidate.loosely(prefix) {
            LooseMatch::Yes => true,
            LooseMatch::Maybe => call.is_cut,
            LooseMatch::No => false,
        };
        is_it && !except.iter().any(|except| candidate.is_described_by(except.words()))
    })
}

/// Whether a rule that allows is about this call. The caller knows that the program is the rule's own, whatever its name.
#[must_use]
pub fn allows(prefix: &Prefix, call: &ProgramCall<'_>) -> bool {
    let name = named_program(prefix).unwrap_or(call.name);
    with_candidate(name, call, |candidate| candidate.strictly(prefix) == StrictMatch::Yes)
}

fn with_candidate<T>(name: &str, call: &ProgramCall<'_>, then: impl FnOnce(&Candidate<'_>) -> T) -> T {
    let word = |text: &str| Word { span: Span::default(), value: Value::Known(text.to_owned()) };
    let arguments = call.arguments.iter().map(String::as_str);
    let words: Vec<Word> = [name].into_iter().chain(arguments).map(word).collect();
    let meaning = understand(&words);
    let machine = Machine::new(Path::new("/"), Path::new("/"), None, NO_SEARCH_PATH.into());
    then(&Candidate { words: &words, meaning: &meaning, machine: &machine, more_words: call.is_cut })
}

/// Whether the tables have a program of this name.
#[must_use]
pub fn is_known(name: &str) -> bool {
    is_listed(name)
}

/// Whether two names are those of one program: `cc` and `gcc-12`.
#[must_use]
pub fn is_same_family(one: &str, other: &str) -> bool {
    listed_name(one).is_some_and(|name| Some(name) == listed_name(other))
}

/// Whether a program of this name does nothing but run other commands: a shell, `env`, `timeout`.
#[must_use]
pub fn runs_others(name: &str) -> bool {
    matches!(kind_of(name), Some(ProgramKind::Shell | ProgramKind::Wrapper))
}

/// Whether a program of this name runs the script that it is given.
#[must_use]
pub fn runs_scripts(name: &str) -> bool {
    matches!(kind_of(name), Some(ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Wrapper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        let words = || text.split(' ').map(str::to_owned).collect();
        if text.contains('*') { Prefix::Pattern(words()) } else { Prefix::Words(words()) }
    }

    fn with_call<T>(text: &str, then: impl FnOnce(&ProgramCall<'_>) -> T) -> T {
        let mut words = text.split(' ').map(str::to_owned);
        let name = words.next().unwrap();
        then(&ProgramCall { name: &name, arguments: &words.collect::<Vec<_>>(), is_cut: false })
    }

    #[test]
    fn a_rule_that_denies_is_about_every_spelling() {
        for (rule, call, expected) in [
            ("rm", "rm x", true),
            ("rm", "rmdir x", false),
            ("rm -rf", "rm -f -r x", true),
            ("rm -rf", "rm x --recursive --force", true),
            ("rm -rf", "rm -r x", false),
            ("git push", "git -C d --no-pager push", true),
            ("git push", "git-push origin", true),
            ("git push", "git pull", false),
            ("git push * main", "git push origin main", true),
            ("pip install", "pip3.11 install x", true),
            ("pip install", "uv pip", false),
            ("npm run *", "npm run build", true),
        ] {
            let found = with_call(call, |call| denies(&prefix(rule), &[], call));
            assert_eq!(found, expected, "{rule}: {call}");
        }
        let except = [prefix("git push origin dev")];
        assert!(!with_call("git push origin dev", |call| denies(&prefix("git push"), &except, call)));
        assert!(with_call("git push origin main", |call| denies(&prefix("git push"), &except, call)));
    }

    #[test]
    fn words_that_were_cut_off_may_be_the_forbidden_ones() {
        let call = |is_cut| ProgramCall { name: "rm", arguments: &[], is_cut };
        assert!(denies(&prefix("rm -rf"), &[], &call(true)));
        assert!(!denies(&prefix("rm -rf"), &[], &call(false)));
    }

    #[test]
    fn a_rule_that_allows_is_about_what_is_written() {
        for (rule, call, expected) in [
            ("git", "git push", true),
            ("git status", "git status -s", true),
            ("git status", "git push", false),
            ("npm run *", "npm run build", true),
        ] {
            assert_eq!(with_call(call, |call| allows(&prefix(rule), call)), expected, "{rule}: {call}");
        }
    }

    #[test]
    fn shells_and_wrappers_run_others() {
        assert!(["bash", "env", "timeout", "nohup"].map(runs_others).iter().all(|runs| *runs));
        assert!(!["git", "python3", "find", "rm"].map(runs_others).iter().any(|runs| *runs));
        assert!(["python3", "bash", "node"].map(runs_scripts).iter().all(|runs| *runs));
    }
}

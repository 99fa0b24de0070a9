//! The table itself.

use super::{Key, Kind, Slot, TextsOf, Untrusted, WordSlotOf, slot};
use crate::{
    ApprovalMode, Decision, Inherit, Network, OnMissing, Redirects, SandboxMode, Substitution, Word,
    duration::MAX_DURATION_MS,
};

/// A word that always has a value: `word!(Decision, policy.default)`.
macro_rules! word {
    ($type:ty, $section:ident . $field:ident) => {
        Kind::Word(WordSlotOf::<$type>::make(
            "",
            |settings| Some(settings.$section.$field.name()),
            |settings, name| {
                if let Some(word) = <$type>::from_name(name) {
                    settings.$section.$field = word;
                }
            },
        ))
    };
}

const fn key(path: &'static str, kind: Kind, untrusted: Untrusted, about: &'static str) -> Key {
    Key { path, about, untrusted, kind }
}

const fn whole(slot: Slot<u64>, min: u64, max: u64) -> Kind {
    Kind::Whole { slot, min, max }
}

const fn paths(slot: Slot<Vec<crate::Sourced<String>>>) -> Kind {
    Kind::Texts { slot, of: TextsOf::Paths }
}

const fn names(slot: Slot<Vec<crate::Sourced<String>>>) -> Kind {
    Kind::Texts { slot, of: TextsOf::VariableNames }
}

use Untrusted::{Adds, Apart, Ignored, Tightens};

/// A petabyte in megabytes: more than anyone has, less than what overflows.
const PETABYTE_MB: u64 = 1 << 30;

/// All keys. Sections are together and in the order of the documents.
///
/// How much is shown and kept of an output (`answer_*`, `capture_bytes`, `keep_*`) is nothing an untrusted file may
/// lower: less would hide from the model or the journal what a command of that project said.
#[rustfmt::skip]
pub(crate) static KEYS: &[Key] = &[
    key("workspace.working_directory", Kind::Folder(slot!(workspace.working_directory)), Ignored, "The root when none is given"),

    key("policy.core", Kind::Core, Apart, "What is allowed; if not empty, what it doesn't allow is denied"),
    key("policy.exclude", Kind::Exclude, Adds, "What is denied, whatever else is said; adds up over all files"),
    key("policy.default", word!(Decision, policy.default), Apart, "For what no rule covers, without a core list"),
    key("policy.substitution", word!(Substitution, policy.substitution), Tightens, "Substitutions like `$( )`"),
    key("policy.redirects", word!(Redirects, policy.redirects), Tightens, "Output to files"),
    key("policy.rule", Kind::Rules, Apart, "Rules in the long form; add up over all files"),

    key("approval.mode", Kind::Word(WordSlotOf::<ApprovalMode>::make(
        // The strictest that a dialect chooses by itself.
        "ask",
        |settings| settings.approval.mode.map(ApprovalMode::name),
        |settings, name| settings.approval.mode = ApprovalMode::from_name(name),
    )), Tightens, "What becomes of a question; without a value the dialect chooses"),
    key("approval.from", Kind::Askers(slot!(approval.from)), Tightens, "Who may answer"),
    key("approval.timeout_s", whole(slot!(approval.timeout_s), 1, 86_400), Tightens, "Seconds until an unanswered question is denied"),

    key("sandbox.mode", word!(SandboxMode, sandbox.mode), Tightens, "How commands are confined"),
    key("sandbox.network", word!(Network, sandbox.network), Tightens, "The network of confined commands"),
    key("sandbox.on_missing", word!(OnMissing, sandbox.on_missing), Tightens, "When this machine can't confine as asked"),
    key("sandbox.observe", Kind::Switch(slot!(sandbox.observe)), Tightens, "Record what commands touch"),
    key("sandbox.writable", paths(slot!(sandbox.writable)), Ignored, "Can be written besides the root"),
    key("sandbox.unreadable", paths(slot!(sandbox.unreadable)), Adds, "Can't be read, besides the built-in list"),

    key("limits.timeout_ms", whole(slot!(limits.timeout_ms), 0, MAX_DURATION_MS), Tightens, "How long a foreground command may run; 0: no limit"),
    key("limits.idle_timeout_ms", whole(slot!(limits.idle_timeout_ms), 0, MAX_DURATION_MS), Tightens, "How long a command may be silent; 0: no limit"),
    key("limits.max_running", whole(slot!(limits.max_running), 1, 65_536), Tightens, "Commands of a session that run at once; more wait"),
    key("limits.answer_chars", whole(slot!(limits.answer_chars), 1, 100_000_000), Ignored, "Characters of a stream for the model"),
    key("limits.answer_bytes", whole(slot!(limits.answer_bytes), 1, 1 << 30), Ignored, "Bytes of a stream where complete output is promised"),
    key("limits.capture_bytes", whole(slot!(limits.capture_bytes), 1, 1 << 40), Ignored, "Bytes of a stream that are kept on disk"),
    key("limits.memory_mb", whole(slot!(limits.memory_mb), 0, PETABYTE_MB), Tightens, "Memory of a command; 0: no limit"),
    key("limits.processes", whole(slot!(limits.processes), 0, 4_194_304), Tightens, "Processes of a command; 0: no limit"),
    key("limits.cpu_s", whole(slot!(limits.cpu_s), 0, 31_536_000), Tightens, "Processor seconds of a command; 0: no limit"),
    key("limits.disk_mb", whole(slot!(limits.disk_mb), 0, PETABYTE_MB), Tightens, "What a command may add to the disk; 0: no limit"),
    key("limits.jobs_per_session", whole(slot!(limits.jobs_per_session), 1, 65_536), Tightens, "Jobs of a session"),

    key("journal.required", Kind::Switch(slot!(journal.required)), Tightens, "Run nothing that can't be recorded"),
    key("journal.keep_days", whole(slot!(journal.keep_days), 0, 36_500), Ignored, "How long entries are kept; 0: for ever"),
    key("journal.keep_mb", whole(slot!(journal.keep_mb), 0, PETABYTE_MB), Ignored, "How much is kept; 0: everything"),

    key("environment.inherit", word!(Inherit, environment.inherit), Tightens, "Which variables a command inherits"),
    key("environment.quiet", Kind::Switch(slot!(environment.quiet)), Ignored, "Switch off pagers and prompts"),
    key("environment.hide_secrets", Kind::Switch(slot!(environment.hide_secrets)), Tightens, "Hide variables that look like secrets"),
    key("environment.keep", names(slot!(environment.keep)), Ignored, "Passed on even if they look like secrets"),
    key("environment.set", Kind::Variables(slot!(environment.set)), Ignored, "Set for every command"),
    key("environment.remove", names(slot!(environment.remove)), Adds, "Taken away from every command"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_unique_and_have_a_section() {
        for (nth, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..nth].iter().all(|other| other.path != key.path), "{}", key.path);
            assert!(!key.name().is_empty() && !key.section().is_empty() && key.name() != key.section());
        }
    }

    #[test]
    fn what_an_untrusted_file_may_do_fits_the_kind() {
        for Key { path, untrusted, kind, .. } in KEYS {
            let fits = match untrusted {
                Ignored => true,
                Tightens => {
                    matches!(kind, Kind::Switch(_) | Kind::Whole { .. } | Kind::Word(_) | Kind::Askers(_))
                }
                Adds => matches!(kind, Kind::Texts { .. } | Kind::Exclude),
                Apart => path.starts_with("policy."),
            };
            assert!(fits, "{path}");
        }
    }

    #[test]
    fn built_in_numbers_are_in_range() {
        let settings = crate::Settings::default();
        for Key { path, kind, .. } in KEYS {
            if let Kind::Whole { slot, min, max } = kind {
                assert!((*min..=*max).contains((slot.get)(&settings)), "{path}");
                assert!(i64::try_from(*max).is_ok(), "{path}: TOML can't write it");
            }
        }
    }
}

//! The table of keys.

use super::{Key, Kind, Slot, TextsOf, Untrusted, WordSlotOf, slot};
use crate::{
    ApprovalMode, Condense, Decision, Inherit, LogLevel, Network, OnMissing, PresetChoice, Redirects,
    SandboxMode, Substitution, Word, duration::MAX_DURATION_MS,
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

/// A petabyte in megabytes: larger than any real limit, and small enough not to overflow.
const PETABYTE_MB: u64 = 1 << 30;

/// All keys, section by section, in the order of the documentation.
///
/// An untrusted file may not lower how much output is shown and kept (`answer_*`, `capture_bytes`, `keep_*`): that would
/// hide the output of the project's commands from the model or the journal.
#[rustfmt::skip]
pub(crate) static KEYS: &[Key] = &[
    key("workspace.working_directory", Kind::Folder(slot!(workspace.working_directory)), Ignored, "The root if no other is given"),

    key("policy.preset", Kind::Word(WordSlotOf::<PresetChoice>::make(
        "none",
        |settings| settings.policy.preset.map(PresetChoice::name),
        |settings, name| settings.policy.preset = PresetChoice::from_name(name),
    )), Apart, "What is free where no rule says anything; without a value the dialect chooses"),
    key("policy.allow", Kind::Patterns(slot!(policy.allow)), Apart, "Commands that are allowed, `*` for any words; adds up over all files"),
    key("policy.ask", Kind::Patterns(slot!(policy.ask)), Apart, "Commands that a person is asked about; adds up over all files"),
    key("policy.deny", Kind::Patterns(slot!(policy.deny)), Apart, "Commands that are denied; adds up over all files"),
    key("policy.core", Kind::Core, Apart, "Commands that are allowed; unless it is empty, others are denied if `default` isn't set"),
    key("policy.exclude", Kind::Exclude, Adds, "Commands that are always denied; adds up over all files"),
    key("policy.default", Kind::Word(WordSlotOf::<Decision>::make(
        "",
        |settings| Some(settings.policy.default.name()),
        |settings, name| {
            if let Some(decision) = Decision::from_name(name) {
                (settings.policy.default, settings.policy.default_is_set) = (decision, true);
            }
        },
    )), Apart, "The decision for commands that neither a rule nor the preset covers"),
    key("policy.substitution", word!(Substitution, policy.substitution), Tightens, "The decision for substitutions like `$( )`"),
    key("policy.redirects", word!(Redirects, policy.redirects), Tightens, "The decision for output to files"),
    key("policy.rule", Kind::Rules, Apart, "Rules by prefix or by effect, each with a decision; they add up over all files"),

    key("approval.mode", Kind::Word(WordSlotOf::<ApprovalMode>::make(
        // The strictest mode that a dialect chooses.
        "ask",
        |settings| settings.approval.mode.map(ApprovalMode::name),
        |settings, name| settings.approval.mode = ApprovalMode::from_name(name),
    )), Tightens, "What happens if a command needs approval; without a value the dialect chooses"),
    key("approval.from", Kind::Askers(slot!(approval.from)), Tightens, "Where a question may be answered"),
    key("approval.timeout_s", whole(slot!(approval.timeout_s), 1, 86_400), Tightens, "Seconds until an unanswered question is denied"),

    key("sandbox.mode", word!(SandboxMode, sandbox.mode), Tightens, "How commands are confined"),
    key("sandbox.network", word!(Network, sandbox.network), Tightens, "Whether confined commands reach the network"),
    key("sandbox.on_missing", word!(OnMissing, sandbox.on_missing), Tightens, "What to do if this machine can't confine commands as set"),
    key("sandbox.observe", Kind::Switch(slot!(sandbox.observe)), Tightens, "Record the programs that commands start, the files that they write and remove, and what they connect to"),
    key("sandbox.debug", Kind::Switch(slot!(sandbox.debug)), Ignored, "Let commands trace each other: `strace`, `gdb`. Rules about programs then hold when a command is judged, and not for every program that it starts"),
    key("sandbox.writable", paths(slot!(sandbox.writable)), Ignored, "Paths that commands may write besides the root"),
    key("sandbox.unreadable", paths(slot!(sandbox.unreadable)), Adds, "Paths that commands may not read, besides the built-in list"),

    key("limits.timeout_ms", whole(slot!(limits.timeout_ms), 0, MAX_DURATION_MS), Tightens, "Milliseconds that a foreground command may run; 0: no limit"),
    key("limits.idle_timeout_ms", whole(slot!(limits.idle_timeout_ms), 0, MAX_DURATION_MS), Tightens, "Milliseconds that a command may run without output; 0: no limit"),
    key("limits.max_running", whole(slot!(limits.max_running), 1, 65_536), Tightens, "Commands of a session that run at once; others wait"),
    key("limits.answer_chars", whole(slot!(limits.answer_chars), 1, 100_000_000), Ignored, "Characters of a stream that the model gets"),
    key("limits.answer_tokens", whole(slot!(limits.answer_tokens), 1, 10_000_000), Ignored, "Tokens of both streams that the model gets over MCP, about"),
    key("limits.answer_bytes", whole(slot!(limits.answer_bytes), 1, 1 << 30), Ignored, "Bytes of a stream that the model gets if complete output was asked for"),
    key("limits.capture_bytes", whole(slot!(limits.capture_bytes), 1, 1 << 40), Ignored, "Bytes of a stream that are kept on disk"),
    key("limits.memory_mb", whole(slot!(limits.memory_mb), 0, PETABYTE_MB), Tightens, "Megabytes of memory of a command; 0: no limit"),
    key("limits.processes", whole(slot!(limits.processes), 0, 4_194_304), Tightens, "Processes of a command; 0: no limit"),
    key("limits.cpu_s", whole(slot!(limits.cpu_s), 0, 31_536_000), Tightens, "Seconds of CPU time of a command; 0: no limit"),
    key("limits.disk_mb", whole(slot!(limits.disk_mb), 0, PETABYTE_MB), Tightens, "Megabytes that a command may add to the disk; 0: no limit"),
    key("limits.jobs_per_session", whole(slot!(limits.jobs_per_session), 1, 65_536), Tightens, "Jobs that a session may have"),

    key("output.condense", word!(Condense, output.condense), Ignored, "Whether long output is shortened for models, by rules for the program that wrote it"),

    key("journal.required", Kind::Switch(slot!(journal.required)), Tightens, "Refuse commands that can't be recorded"),
    key("journal.keep_days", whole(slot!(journal.keep_days), 0, 36_500), Ignored, "Days that entries are kept; 0: for ever"),
    key("journal.keep_mb", whole(slot!(journal.keep_mb), 0, PETABYTE_MB), Ignored, "Megabytes of output that are kept; 0: all"),

    key("environment.inherit", word!(Inherit, environment.inherit), Tightens, "Which variables a command inherits"),
    key("environment.quiet", Kind::Switch(slot!(environment.quiet)), Ignored, "Switch off pagers and prompts"),
    key("environment.hide_secrets", Kind::Switch(slot!(environment.hide_secrets)), Tightens, "Hide variables that look like secrets"),
    key("environment.keep", names(slot!(environment.keep)), Ignored, "Variables that commands get even if they look like secrets"),
    key("environment.set", Kind::Variables(slot!(environment.set)), Ignored, "Variables to set for every command"),
    key("environment.remove", names(slot!(environment.remove)), Adds, "Variables to remove for every command"),

    key("log.level", word!(LogLevel, log.level), Ignored, "Which events are logged; only `trace` has command text"),
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
    fn the_right_of_untrusted_files_fits_the_type() {
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

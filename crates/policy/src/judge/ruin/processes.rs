//! Processes that the session is among.

use shellgate_syntax::{Value, Why, Word};

use super::targets::Target;
use crate::calls::Call;
use crate::programs::fits_pattern;
use crate::programs::words::{RUIN_PROCESS_NAMES, RUIN_PROCESSES};

/// Options of `kill` that a signal follows.
const SIGNAL_OPTIONS: [&str; 3] = ["-s", "-n", "--signal"];

/// The signal that does nothing to a process.
const NO_SIGNAL: &str = "-0";

/// Programs that look for processes by their names.
const FINDERS: [&str; 2] = ["pgrep", "pidof"];

/// Their options that a user or a group follows.
const USER_OPTIONS: [&str; 6] = ["-u", "-U", "-g", "-G", "-s", "-t"];

/// A shorter pattern is a part of too many names.
const MIN_PART_CHARS: usize = 3;

/// The variable with the number of the process that started the shell.
const PARENT: &str = "PPID";

/// The numbers among the words of `kill` that the session belongs to.
pub(super) fn of_session(call: &Call) -> Vec<Target> {
    let mut words = call.words.iter().skip(1).peekable();
    // Only the first word can be a signal; `-1` behind it is every process.
    if let Some(first) = words.next_if(|word| word.value.lead().starts_with('-')) {
        let text = first.value.known();
        if text == Some(NO_SIGNAL) {
            return Vec::new();
        }
        if text.is_some_and(|text| SIGNAL_OPTIONS.contains(&text)) {
            let signal = words.next();
            if signal.and_then(|word| word.value.known()) == Some("0") {
                return Vec::new();
            }
        }
    }
    let is_session = |word: &&Word| match &word.value {
        Value::Known(text) => RUIN_PROCESSES.contains(&text.as_str()),
        Value::Unknown(unknown) => {
            let is_parent = match &unknown.why {
                Why::Parameter(name) => name == PARENT,
                Why::Substitution => call.written(word).is_some_and(finds_session),
                _ => false,
            };
            is_parent && matches!(unknown.lead.as_str(), "" | "-")
        }
    };
    let shown = |word: &Word| match word.value.known().or_else(|| call.written(word)) {
        Some(text) => format!("`{text}`"),
        None => format!("`${PARENT}`"),
    };
    words.filter(is_session).map(|word| Target::new(shown(word), word)).collect()
}

/// Whether a command prints numbers of processes that the session is among: it asks for the parent of this shell, or looks
/// for a name.
fn finds_session(written: &str) -> bool {
    let bare = written.trim_matches(['"', '`']).trim_start_matches("$(").trim_end_matches([')', '`']);
    let mut words = bare.split_whitespace();
    let finds = words.next().is_some_and(|name| FINDERS.contains(&name));
    // `pgrep -v x`: all others.
    if finds && words.clone().any(|word| word == "-v" || word == "--inverse") {
        return true;
    }
    // `pgrep -u me`: all of a user.
    if let (true, [option, _]) = (finds, words.clone().collect::<Vec<_>>().as_slice())
        && USER_OPTIONS.contains(option)
    {
        return true;
    }
    let name = words.next_back().unwrap_or_default().trim_matches(['"', '\'']);
    let asks_for_parent =
        bare.contains("ppid") || bare.contains("PPID") || bare.contains("PPid") || bare.contains("/proc/$$");
    let is_own = bare.contains("$$") || bare.contains("$PPID") || bare.contains("${PPID}");
    finds && is_of_session(name) || asks_for_parent && is_own
}

/// Whether processes of this name run the session or the machine. `pkill` takes a regular expression.
pub(super) fn is_of_session(name: &str) -> bool {
    let bare = name.trim_start_matches('^').trim_end_matches('$');
    let bare = bare.rsplit('/').next().unwrap_or(bare);
    // An option may have case ignored.
    let lower = bare.to_ascii_lowercase();
    RUIN_PROCESS_NAMES.iter().any(|pattern| fits_pattern(pattern, bare) || fits_pattern(pattern, &lower))
}

/// Whether `pkill` finds such a process by a part of its name: `gate` is in `shellgate`.
pub(super) fn hits_session(pattern: &str) -> bool {
    let pattern = pattern.rsplit('/').next().unwrap_or(pattern);
    if let Some(begin) =
        pattern.strip_prefix('^').filter(|begin| begin.chars().all(|c| c.is_ascii_alphanumeric()))
    {
        return !begin.is_empty() && RUIN_PROCESS_NAMES.iter().any(|name| name.starts_with(begin));
    }
    let is_whole = pattern.starts_with('^') || pattern.ends_with('$');
    let parts: Vec<&str> = pattern.split(".*").filter(|part| !part.is_empty()).collect();
    let is_plain = |part: &&str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let chars: usize = parts.iter().map(|part| part.len()).sum();
    let has = |name: &str| {
        let mut rest = name;
        parts.iter().all(|part| match rest.split_once(part) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        })
    };
    !is_whole
        && chars >= MIN_PART_CHARS
        && parts.iter().all(is_plain)
        && RUIN_PROCESS_NAMES.iter().any(|name| has(name.trim_end_matches('*')))
}

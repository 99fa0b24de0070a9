//! Signals of `kill` and its like: every spelling of a signal becomes one option with its number.

use super::super::collector::{Collector, with_text};
use super::super::form::Entry;
use super::super::{read, words};
use shellgate_syntax::Word;

/// Reads a call of `kill`, `pkill` or `killall`: `-9`, `-KILL`, `-s SIGKILL` and `--signal=kill` are the same.
pub(crate) fn signals(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let is_signal_option = |name: &str| {
        name == "--signal"
            || entry.option(name).is_some_and(|option| option.names.contains(&"--signal"))
            || name == "-n" && entry.names.contains(&"kill")
    };
    let mut plain = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let lead = word.value.lead();
        let known = word.value.known();
        if lead == "--" {
            plain.push(word.clone());
            break;
        }
        let value = match known.and_then(|text| text.split_once('=')) {
            Some((name, value)) if is_signal_option(name) => Some(value.to_owned()),
            _ if known.is_some_and(is_signal_option) => {
                let Some(value) = rest.next() else { break };
                let Some(text) = value.value.known() else {
                    plain.extend([word.clone(), value.clone()]);
                    continue;
                };
                Some(text.to_owned())
            }
            // `-sKILL`
            _ if known.and_then(|text| text.get(..2)).is_some_and(is_signal_option) => {
                known.and_then(|text| text.get(2..)).map(str::to_owned)
            }
            _ => known
                .and_then(|text| text.strip_prefix('-'))
                .filter(|name| number_of(name).is_some())
                .map(str::to_owned),
        };
        match value.map(|value| number_of(&value).unwrap_or(value)) {
            Some(signal) => plain.push(with_text(word, &format!("--signal={signal}"))),
            None => plain.push(word.clone()),
        }
    }
    plain.extend(rest.cloned());
    read::by_table(entry, &plain, collector);
}

/// The number of a signal: `9` of `09`, `KILL`, `SIGKILL` and `kill`.
fn number_of(signal: &str) -> Option<String> {
    if let Ok(number) = signal.parse::<u32>() {
        return Some(number.to_string());
    }
    let name = signal.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    words::SIGNAL_NAMES.iter().position(|known| *known == name).map(|at| (at + 1).to_string())
}

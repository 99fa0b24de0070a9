//! The places at which a process makes system calls, from the logs of `strace -y`.
//!
//! `strace` can't follow our stacks. So a place is known by the call, the kinds of its arguments, the file that it is about and
//! its error: `flock(#<journal.head>, LOCK_EX)`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// A place that makes a system call.
pub(super) struct Site {
    pub(super) call: String,
    /// Tells this place from others in which the same call is made.
    pub(super) mark: String,
    /// Which calls of this name are made here, as `strace` counts them in each thread.
    pub(super) nths: Vec<usize>,
}

impl Site {
    /// One of its calls, by the given number.
    pub(super) fn nth(&self, choice: usize) -> usize {
        self.nths[choice % self.nths.len()]
    }
}

/// Calls that look for a file. There are hundreds of them, in loops over lists of paths, so the file is not part of the place.
const LOOKS: &[&str] = &["statx", "newfstatat", "readlink", "readlinkat", "access", "openat2", "open_tree"];

/// Calls whose texts are data, not names.
const DATA: &[&str] =
    &["read", "write", "pread64", "pwrite64", "readv", "writev", "sendto", "recvfrom", "getrandom", "getcwd"];

/// The end of the mark of a place that only reads limits of the process itself: that doesn't fail.
pub(super) const READS: &str = " reads";

/// What is tried at which places.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Grain {
    /// Each call is a place of its own.
    Calls,
    /// Calls that are alike are one place.
    Sites,
}

/// The sites in the logs of all threads of a process: the files of a folder.
pub(super) fn read(folder: &Path, grain: Grain) -> Vec<Site> {
    let mut sites: BTreeMap<(String, String), Site> = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let log = String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for line in log.lines() {
            let Some((call, arguments)) = line.split_once('(') else { continue };
            if !call.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                continue;
            }
            let nth = counts.entry(call).or_default();
            *nth += 1;
            let mark = match grain {
                Grain::Calls => format!("{nth}{}", if only_reads(call, arguments) { READS } else { "" }),
                Grain::Sites => mark(call, arguments),
            };
            let site = sites.entry((call.to_owned(), mark.clone())).or_insert_with(|| Site {
                call: call.to_owned(),
                mark,
                nths: Vec::new(),
            });
            if !site.nths.contains(nth) {
                site.nths.push(*nth);
            }
        }
    }
    sites.into_values().collect()
}

/// Whether the call only reads limits of the process itself.
fn only_reads(call: &str, arguments: &str) -> bool {
    call == "prlimit64" && arguments.contains(", NULL, ")
}

/// What differs from run to run, and what takes its place: structures and lists (also within others), whole lines of data,
/// folders before a name, ids, numbers.
const VARIABLE: &[(&str, &str)] = &[
    (r"\{[^{}]*\}", ""),
    (r"\{[^{}]*\}", ""),
    (r"\[[^\[\]]*\]", ""),
    (r#""(?:[^"\\]|\\.)*"\.\.\."#, "\"\""),
    (r#"(["<])[^"<>]*/"#, "$1"),
    (r"\b[0-9A-Z]{26}\b", "#"),
    (r"\b[0-9][0-9A-Za-z]*", "#"),
    (r"\t", " "),
    (TEXT, "\"\""),
];

/// A text in quotes: a name, or data.
const TEXT: &str = "\"[^\"]*\"";

static VARIABLE_PATTERNS: LazyLock<Vec<(Regex, &str)>> =
    LazyLock::new(|| VARIABLE.iter().map(|(pattern, by)| (Regex::new(pattern).unwrap(), *by)).collect());

/// The arguments and the error of a call, without what differs from run to run.
fn mark(call: &str, arguments: &str) -> String {
    let (arguments, result) = arguments.rsplit_once(") = ").unwrap_or((arguments, ""));
    let error = result.strip_prefix("-1 ").and_then(|error| error.split(' ').next()).unwrap_or_default();
    let has_names = !DATA.contains(&call) && !LOOKS.contains(&call);
    let variable = VARIABLE_PATTERNS.iter().filter(|(pattern, _)| !(has_names && pattern.as_str() == TEXT));
    let plain = variable
        .fold(arguments.to_owned(), |text, (pattern, by)| pattern.replace_all(&text, *by).into_owned());
    let reads = if only_reads(call, arguments) { READS } else { "" };
    format!("{} {error}{reads}", plain.trim())
}

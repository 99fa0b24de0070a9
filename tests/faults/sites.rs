//! The places in the code at which a process makes system calls, from the logs of `strace`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

/// A place in the code that makes a system call. Without stacks in the log, each call is a place of its own.
pub(super) struct Site {
    pub(super) call: String,
    /// Tells this place from others in which the same call is made: a hash of the stack, else the call's number.
    pub(super) mark: String,
    /// The function of ours that makes the call, if it is known.
    pub(super) function: String,
    /// Which calls of this name are made here, as `strace` counts them in each thread.
    pub(super) nths: Vec<usize>,
    /// The call only reads what can't fail to be read.
    pub(super) only_reads: bool,
}

impl Site {
    /// One of its calls, by the given number.
    pub(super) fn nth(&self, choice: usize) -> usize {
        self.nths[choice % self.nths.len()]
    }
}

/// A line of a log with the stack below it.
struct Logged<'a> {
    call: &'a str,
    line: &'a str,
    stack: Vec<&'a str>,
}

fn logged(log: &str) -> Vec<Logged<'_>> {
    let mut all: Vec<Logged<'_>> = Vec::new();
    for line in log.lines() {
        if let Some(frame) = line.strip_prefix(" > ") {
            all.last_mut().into_iter().for_each(|last| last.stack.push(frame));
        } else if let Some((call, _)) = line.split_once('(')
            && call.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            all.push(Logged { call, line, stack: Vec::new() });
        }
    }
    all
}

/// The sites in the logs of all threads of a process: the files of a folder.
pub(super) fn read(folder: &Path) -> Vec<Site> {
    let mut sites: BTreeMap<(String, String), Site> = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let log = String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for Logged { call, line, stack } in logged(&log) {
            let nth = counts.entry(call).or_default();
            *nth += 1;
            // The loader works before `main`, and has words of its own.
            if !stack.is_empty() && stack.iter().all(|frame| frame.contains("/ld-linux")) {
                continue;
            }
            let mark = match stack.is_empty() {
                true => nth.to_string(),
                false => hash(&stack),
            };
            let site = sites.entry((call.to_owned(), mark.clone())).or_insert_with(|| Site {
                call: call.to_owned(),
                mark,
                function: function(&stack),
                nths: Vec::new(),
                only_reads: call == "prlimit64" && line.contains(", NULL, "),
            });
            if !site.nths.contains(nth) {
                site.nths.push(*nth);
            }
        }
    }
    sites.into_values().collect()
}

fn hash(stack: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    // Where the program lies in the file system doesn't matter.
    stack.iter().map(|frame| frame.rsplit('/').next()).for_each(|frame| frame.hash(&mut hasher));
    format!("{:08x}", hasher.finish() as u32)
}

/// The innermost function of our own crates in a stack.
fn function(stack: &[&str]) -> String {
    let name = |frame: &&str| {
        let symbol = frame.split_once('(')?.1.rsplit_once('+')?.0.to_owned();
        symbol.contains("shellgate").then_some(symbol)
    };
    stack.iter().find_map(name).unwrap_or_default()
}

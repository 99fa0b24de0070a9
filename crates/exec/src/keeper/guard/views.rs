//! Under which names a program runs: its own, those of the same file, an applet's, and that of a program which the loader or
//! an interpreter is to run.

use shellgate_policy::exec_time;
use shellgate_policy::programs::{base_name, is_multi_call};

use super::files::FileId;
use super::place::{FoundFile, Place};
use super::rules::{PreparedRules, is_loader_name};

/// How many words of a loader or an interpreter are looked at for the program that it runs.
const MAX_OPERANDS: usize = 4;

/// A longer word is no path.
const MAX_PATH_BYTES: usize = 4096;

/// One reading of a program call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// The names, without folders.
    pub(super) names: Vec<String>,
    /// The words behind the name.
    pub(super) arguments: Vec<String>,
    /// The file.
    pub(super) file: Option<FileId>,
}

/// All readings of a call of `program` with these words, the program's own name first.
pub(super) fn views(rules: &PreparedRules, place: Place, program: &FoundFile, words: &[String]) -> Vec<View> {
    let arguments = words.get(1..).unwrap_or_default();
    // A login shell is called `-bash`.
    let called = words.first().map(|word| base_name(word.strip_prefix('-').unwrap_or(word)));
    let own = view_of(rules, program, called, arguments);
    let mut views = Vec::new();
    if own.names.iter().any(|name| is_multi_call(name)) {
        views.extend(applet(arguments));
    }
    let is_loader = own.names.iter().any(|name| is_loader_name(name));
    if is_loader || own.names.iter().any(|name| exec_time::runs_scripts(name)) {
        views.extend(operands(rules, place, arguments));
    }
    views.insert(0, own);
    views
}

fn view_of(rules: &PreparedRules, file: &FoundFile, called: Option<&str>, arguments: &[String]) -> View {
    let id = FileId::of(&file.metadata);
    let mut names: Vec<String> = vec![file.name()];
    let known = rules.watched.names_of(&id, &file.opener);
    for name in called.into_iter().chain(known) {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    View { names, arguments: arguments.to_vec(), file: Some(id) }
}

/// `rm` in `busybox rm x` and in `coreutils --coreutils-prog=rm x`.
fn applet(arguments: &[String]) -> Option<View> {
    let (first, others) = arguments.split_first()?;
    let name = first.strip_prefix("--coreutils-prog=").unwrap_or(first);
    let is_name = !name.starts_with('-');
    is_name.then(|| View { names: vec![base_name(name).to_owned()], arguments: others.to_vec(), file: None })
}

/// The files among the first words.
fn operands(rules: &PreparedRules, place: Place, arguments: &[String]) -> Vec<View> {
    let words = arguments.iter().enumerate().filter(|(_, word)| !word.starts_with('-'));
    let short = words.filter(|(_, word)| !word.is_empty() && word.len() < MAX_PATH_BYTES && !word.contains('\n'));
    let found = short.take(MAX_OPERANDS).filter_map(|(at, word)| {
        let file = place.find(None, word.as_bytes()).filter(|file| file.metadata.is_file())?;
        let others = arguments.get(at + 1..).unwrap_or_default();
        Some(view_of(rules, &file, Some(base_name(word)), others))
    });
    found.collect()
}

/// All readings of a call of a file by `path`, which may be a script.
pub(super) fn views_of_call(
    rules: &PreparedRules,
    place: Place,
    (file, path): (&FoundFile, &str),
    words: &[String],
) -> Vec<View> {
    let Some((program, word)) = file.interpreter() else { return views(rules, place, file, words) };
    let arguments = words.get(1..).unwrap_or_default();
    let mut all = vec![view_of(rules, file, Some(base_name(path)), arguments)];
    if let Some(interpreter) = place.find(None, program.as_bytes()) {
        let words: Vec<String> = [program].into_iter().chain(word).chain([path.to_owned()]).collect();
        all.extend(views(rules, place, &interpreter, &words));
    }
    all
}

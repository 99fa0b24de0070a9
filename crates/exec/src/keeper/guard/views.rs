//! Under which names a program runs: its own, those of the same file, an applet's, and that of a program which the loader or
//! an interpreter is to run.

use std::path::PathBuf;

use shellgate_policy::exec_time;
use shellgate_policy::programs::{base_name, is_multi_call, shell_grammar};

use super::files::FileId;
use super::place::{FoundFile, Place};
use super::rules::{PreparedRules, is_loader_name};

/// How many words of a loader or an interpreter are looked at for the program that it runs.
const MAX_OPERANDS: usize = 4;

/// Applets that run the command in their words, beside shells and wrappers.
const RUNS_COMMANDS: [&str; 2] = ["find", "xargs"];

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
    /// Whether it is a file that a shell is to read.
    pub(super) is_shell_script: bool,
    /// A path that opens the file whose applets it may become without starting them.
    pub(super) becomes_applets_of: Option<PathBuf>,
}

/// All readings of a call of `program` with these words, the program's own name first.
pub(super) fn views(rules: &PreparedRules, place: Place, program: &FoundFile, words: &[String]) -> Vec<View> {
    let arguments = words.get(1..).unwrap_or_default();
    // A login shell is called `-bash`.
    let called = words.first().map(|word| base_name(word.strip_prefix('-').unwrap_or(word)));
    let own = view_of(rules, program, called, arguments);
    let mut views = Vec::new();
    if own.names.iter().any(|name| is_multi_call(name)) {
        views.extend(applets(rules, (&own, program), arguments));
    }
    let is_loader = own.names.iter().any(|name| is_loader_name(name));
    if is_loader || own.names.iter().any(|name| exec_time::runs_scripts(name)) {
        let is_shell = own.names.iter().any(|name| shell_grammar(name).is_some());
        // By the file's own name: `exec -a bash perl -c` is no shell.
        let is_given_text = shell_grammar(&program.name()).is_some()
            && arguments.first().is_some_and(|word| word == COMMAND_TEXT);
        if is_loader || !is_given_text {
            let operands = operands(rules, place, arguments).into_iter();
            views.extend(operands.map(|view| View { is_shell_script: is_shell, ..view }));
        }
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
    View {
        names,
        arguments: arguments.to_vec(),
        file: Some(id),
        is_shell_script: false,
        becomes_applets_of: None,
    }
}

/// `rm` in `busybox rm x`, in `busybox xargs rm` and in `coreutils --coreutils-prog=rm x`.
///
/// Applets that run others don't start them: they become them. So each word may be one, and a shell may be any. Where the
/// machine's own shell is such a file, that can't be held against it.
fn applets(rules: &PreparedRules, (own, file): (&View, &FoundFile), arguments: &[String]) -> Vec<View> {
    let called = own.names.iter().find(|name| !is_multi_call(name) && exec_time::is_known(name)).cloned();
    let (first, at) = match (called, arguments.first()) {
        (Some(called), _) => (called, 0),
        (None, Some(first)) => (first.strip_prefix("--coreutils-prog=").unwrap_or(first).to_owned(), 1),
        (None, None) => return Vec::new(),
    };
    let view = |name: &str, behind: usize| View {
        names: vec![base_name(name).to_owned()],
        arguments: arguments.get(behind..).unwrap_or_default().to_vec(),
        file: None,
        is_shell_script: false,
        becomes_applets_of: (shell_grammar(name).is_some() && !rules.is_system_shell(own.file.as_ref()))
            .then(|| file.opener.clone()),
    };
    let mut views = vec![view(&first, at)];
    if exec_time::runs_others(&first) || RUNS_COMMANDS.contains(&first.as_str()) {
        let words = arguments.iter().enumerate().skip(at);
        views.extend(
            words.filter(|(_, word)| !word.starts_with('-')).map(|(place, word)| view(word, place + 1)),
        );
    }
    views
}

/// The option of shells whose next word is the text of a command.
const COMMAND_TEXT: &str = "-c";

/// The files among the first words.
fn operands(rules: &PreparedRules, place: Place, arguments: &[String]) -> Vec<View> {
    let words = arguments.iter().enumerate().filter(|(_, word)| !word.starts_with('-'));
    let short =
        words.filter(|(_, word)| !word.is_empty() && word.len() < MAX_PATH_BYTES && !word.contains('\n'));
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

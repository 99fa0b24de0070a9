//! The process that reads the terminal, and how its input has to be judged.

use shellgate_exec::{InputKind, InputState, ReadState, TerminalProcess};
use shellgate_policy::programs::{base_name, is_multi_call, shell_grammar};
use shellgate_policy::{InputUse, input_use};

use super::script_source::{self, ScriptSource};

/// The process that gets the next input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InputReader {
    pub(super) pid: u32,
    pub(super) argv: Vec<String>,
    pub(super) directory: Option<String>,
    pub(super) input_use: InputUse,
    /// Whether a shell that reads commands started it. That shell reads what this process leaves unread.
    pub(super) before_shell: bool,
}

/// Of the processes that read, the one whose input is judged most strictly. `None`: no process reads, or earlier input is
/// still unread.
pub(super) fn input_reader(state: &InputState) -> Option<InputReader> {
    let processes: Vec<(&TerminalProcess, InputUse)> =
        state.processes.iter().map(|process| (process, input_use_of(process))).collect();
    // A process whose state the kernel doesn't tell may be reading.
    let reads = |process: &TerminalProcess| process.foreground && process.read_state != ReadState::NotReading;
    if matches!(state.kind, InputKind::Terminal { unread: true, .. }) || !state.processes.iter().any(reads) {
        return None;
    }
    // In `cat | bash` the shell reads commands that another process reads from the terminal and passes on.
    let may_read = |process: &TerminalProcess, usage: InputUse| {
        process.foreground && (reads(process) || usage == InputUse::ShellCommand)
    };
    let (process, usage) = processes
        .iter()
        .filter(|(process, usage)| may_read(process, *usage))
        .max_by_key(|(process, usage)| (*usage, reads(process)))?;
    let is_password = matches!(state.kind, InputKind::Terminal { lines: true, echo: false, .. });
    // The shell that started the process reads what the process leaves unread.
    let before_shell = processes.iter().any(|(_, usage)| *usage == InputUse::ShellCommand);
    let usage = match usage {
        InputUse::Data | InputUse::DataOrCommandKeys | InputUse::Forwarded if before_shell => {
            InputUse::Forwarded
        }
        // It asks for a password before it does anything else.
        InputUse::Forwarded if is_password => InputUse::Data,
        usage => *usage,
    };
    Some(InputReader {
        pid: process.pid,
        argv: argv(process),
        directory: process.directory.clone(),
        input_use: usage,
        before_shell,
    })
}

/// How a process uses its input: by its file and by the name that it was called by, whichever is stricter. A shell that runs
/// a script or a `-c` text still reads commands where it sources the terminal.
fn input_use_of(process: &TerminalProcess) -> InputUse {
    let called = process.argv.first().map_or("", |name| name.trim_start_matches('-'));
    let names = [Some(called.to_owned()), program(process)];
    let by_call = names.iter().flatten().map(|name| input_use(&named(process, name))).max();
    let by_call = by_call.unwrap_or(InputUse::Data);
    let as_shell = names.iter().flatten().filter_map(|name| as_shell(name)).max();
    let Some(as_shell) = as_shell.filter(|as_shell| *as_shell > by_call) else { return by_call };
    match script_source::find(process.pid, process.read_state) {
        ScriptSource::Terminal => as_shell,
        // A process of another user, like `sudo`: `Forwarded` lets a password pass without a question.
        ScriptSource::Hidden => by_call.max(InputUse::Forwarded),
        ScriptSource::Other => by_call,
    }
}

/// How a shell of this name uses commands. `None`: it is no shell.
fn as_shell(name: &str) -> Option<InputUse> {
    let name = base_name(name);
    shell_grammar(name).map(|_| input_use(&[name.to_owned()]))
}

/// The argument list, with the program's plain name first.
fn argv(process: &TerminalProcess) -> Vec<String> {
    match program(process) {
        Some(program) => named(process, &program),
        None => named(process, process.argv.first().map_or("", |name| name.trim_start_matches('-'))),
    }
}

/// The name of the file that a process runs. `None`: the file is not known, or holds many programs.
fn program(process: &TerminalProcess) -> Option<String> {
    let path = process.program.as_deref()?;
    let name = base_name(path).trim_end_matches(" (deleted)");
    (!is_multi_call(name)).then(|| name.to_owned())
}

fn named(process: &TerminalProcess, name: &str) -> Vec<String> {
    [name.to_owned()].into_iter().chain(process.argv.iter().skip(1).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use shellgate_exec::{ExecId, PartialLine, Size};

    use super::*;

    fn process(pid: u32, line: &str, foreground: bool, reads: ReadState) -> TerminalProcess {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        TerminalProcess {
            pid,
            program: Some(format!("/usr/bin/{}", argv[0])),
            argv,
            directory: None,
            foreground,
            read_state: reads,
        }
    }

    fn reader_of(processes: Vec<TerminalProcess>, echo: bool) -> Option<InputReader> {
        let waiting = processes.iter().any(|process| process.read_state == ReadState::Reading);
        let kind = InputKind::Terminal {
            size: Size::default(),
            lines: true,
            echo,
            unread: false,
            unsuspendable: false,
            remapped_keys: false,
        };
        let (id, partial_line) = (ExecId::generate(), PartialLine::default());
        input_reader(&InputState { id, kind, waiting, processes, partial_line, sequence: 0 })
    }

    fn at(processes: Vec<TerminalProcess>, echo: bool) -> InputReader {
        reader_of(processes, echo).unwrap()
    }

    #[test]
    fn the_strictest_reading_process_is_the_reader() {
        let shell = || process(1, "bash", false, ReadState::NotReading);
        let reader = at(vec![shell(), process(2, "cat", true, ReadState::Reading)], true);
        assert_eq!((reader.pid, reader.input_use), (2, InputUse::Forwarded), "the shell reads the rest");
        assert_eq!(at(vec![process(2, "cat", true, ReadState::Reading)], true).input_use, InputUse::Data);
        assert_eq!(reader_of(vec![shell(), process(2, "sleep 9", true, ReadState::NotReading)], true), None);
        let reader = at(vec![process(2, "passwd", true, ReadState::Unknown)], true);
        assert_eq!((reader.pid, reader.input_use), (2, InputUse::Data));
        let reader = at(
            vec![
                process(2, "cat", true, ReadState::Reading),
                process(3, "bash", true, ReadState::NotReading),
            ],
            true,
        );
        assert_eq!((reader.pid, reader.input_use), (3, InputUse::ShellCommand), "cat | bash");
    }

    #[test]
    fn a_password_is_no_command() {
        assert_eq!(
            at(vec![process(1, "sudo -s", true, ReadState::Reading)], false).input_use,
            InputUse::Data
        );
        assert_eq!(
            at(vec![process(1, "sudo -s", true, ReadState::Reading)], true).input_use,
            InputUse::Forwarded
        );
        assert_eq!(
            at(vec![process(1, "bash", true, ReadState::Reading)], false).input_use,
            InputUse::ShellCommand
        );
    }

    #[test]
    fn names_do_not_hide_programs() {
        let mut renamed = process(1, "cat", true, ReadState::Reading);
        renamed.program = Some("/bin/bash".to_owned());
        assert_eq!(at(vec![renamed], true).input_use, InputUse::ShellCommand);
        let mut login = process(1, "-bash", true, ReadState::Reading);
        login.program = None;
        assert_eq!(at(vec![login], true).input_use, InputUse::ShellCommand);
        let mut busy = process(1, "sh", true, ReadState::Reading);
        busy.program = Some("/bin/busybox".to_owned());
        assert_eq!(at(vec![busy], true).input_use, InputUse::ShellCommand);
    }
}

//! Who reads what is typed, as far as the judge is concerned.

use shellgate_exec::{InputKind, InputState, ReadState, TerminalProcess};
use shellgate_policy::programs::{base_name, is_multi_call, shell_grammar};
use shellgate_policy::{InputUse, input_use};

use super::scripts::{self, Script};

/// Who gets what is typed next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reader {
    pub(super) pid: u32,
    pub(super) argv: Vec<String>,
    pub(super) directory: Option<String>,
    pub(super) typed: InputUse,
    /// Whether a shell that reads commands started it, and gets what it leaves of a line.
    pub(super) before_shell: bool,
}

/// The strictest of those who read. `None`: nobody does, or there is something to read that they have not taken yet.
pub(super) fn reader(reading: &InputState) -> Option<Reader> {
    let seats: Vec<(&TerminalProcess, InputUse)> =
        reading.processes.iter().map(|seat| (seat, kind(seat))).collect();
    // What we aren't told of may read.
    let reads = |seat: &TerminalProcess| seat.foreground && seat.read_state != ReadState::NotReading;
    if matches!(reading.kind, InputKind::Terminal { unread: true, .. })
        || !reading.processes.iter().any(reads)
    {
        return None;
    }
    // One that reads commands from a pipe gets what another in front of it passes on.
    let may_read = |seat: &TerminalProcess, typed: InputUse| {
        seat.foreground && (reads(seat) || typed == InputUse::ShellCommand)
    };
    let (seat, typed) = seats
        .iter()
        .filter(|(seat, typed)| may_read(seat, *typed))
        .max_by_key(|(seat, typed)| (*typed, reads(seat)))?;
    let password = matches!(reading.kind, InputKind::Terminal { lines: true, echo: false, .. });
    // What it doesn't take of a line goes to the shell that it was started from.
    let shell_behind = seats.iter().any(|(_, typed)| *typed == InputUse::ShellCommand);
    let typed = match typed {
        InputUse::Data | InputUse::DataOrCommandKeys | InputUse::Forwarded if shell_behind => {
            InputUse::Forwarded
        }
        // It asks for a password before it does anything else.
        InputUse::Forwarded if password => InputUse::Data,
        typed => *typed,
    };
    Some(Reader {
        pid: seat.pid,
        argv: argv(seat),
        directory: seat.directory.clone(),
        typed,
        before_shell: shell_behind,
    })
}

/// By the file that it runs, and by the name that it was given: the stricter of both. A shell that was given what it runs
/// still reads commands where it sources the terminal.
fn kind(seat: &TerminalProcess) -> InputUse {
    let called = seat.argv.first().map_or("", |name| name.trim_start_matches('-'));
    let names = [Some(called.to_owned()), program(seat)];
    let by_call = names.iter().flatten().map(|name| input_use(&named(seat, name))).max();
    let by_call = by_call.unwrap_or(InputUse::Data);
    let as_shell = names.iter().flatten().filter_map(|name| as_shell(name)).max();
    let Some(as_shell) = as_shell.filter(|as_shell| *as_shell > by_call) else { return by_call };
    match scripts::of(seat.pid, seat.read_state) {
        Script::Typed => as_shell,
        // Somebody else's. A password for it is no question.
        Script::Hidden => by_call.max(InputUse::Forwarded),
        Script::None => by_call,
    }
}

/// What a shell of this name does with commands. `None`: it is no shell.
fn as_shell(name: &str) -> Option<InputUse> {
    let name = base_name(name);
    shell_grammar(name).map(|_| input_use(&[name.to_owned()]))
}

/// The argument list, as a person would write it.
fn argv(seat: &TerminalProcess) -> Vec<String> {
    match program(seat) {
        Some(program) => named(seat, &program),
        None => named(seat, seat.argv.first().map_or("", |name| name.trim_start_matches('-'))),
    }
}

fn program(seat: &TerminalProcess) -> Option<String> {
    let path = seat.program.as_deref()?;
    let name = base_name(path).trim_end_matches(" (deleted)");
    (!is_multi_call(name)).then(|| name.to_owned())
}

fn named(seat: &TerminalProcess, name: &str) -> Vec<String> {
    [name.to_owned()].into_iter().chain(seat.argv.iter().skip(1).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use shellgate_exec::{ExecId, PartialLine, Size};

    use super::*;

    fn seat(pid: u32, line: &str, foreground: bool, reads: ReadState) -> TerminalProcess {
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

    fn perhaps(seated: Vec<TerminalProcess>, echo: bool) -> Option<Reader> {
        let waiting = seated.iter().any(|seat| seat.read_state == ReadState::Reading);
        let channel = InputKind::Terminal {
            size: Size::default(),
            lines: true,
            echo,
            unread: false,
            unsuspendable: false,
            remapped_keys: false,
        };
        let (id, draft) = (ExecId::generate(), PartialLine::default());
        reader(&InputState {
            id,
            kind: channel,
            waiting,
            processes: seated,
            partial_line: draft,
            sequence: 0,
        })
    }

    fn at(seated: Vec<TerminalProcess>, echo: bool) -> Reader {
        perhaps(seated, echo).unwrap()
    }

    #[test]
    fn whoever_reads_counts_and_else_nobody() {
        let shell = || seat(1, "bash", false, ReadState::NotReading);
        let reader = at(vec![shell(), seat(2, "cat", true, ReadState::Reading)], true);
        assert_eq!((reader.pid, reader.typed), (2, InputUse::Forwarded), "the shell gets what it leaves");
        assert_eq!(at(vec![seat(2, "cat", true, ReadState::Reading)], true).typed, InputUse::Data);
        assert_eq!(perhaps(vec![shell(), seat(2, "sleep 9", true, ReadState::NotReading)], true), None);
        let reader = at(vec![seat(2, "passwd", true, ReadState::Unknown)], true);
        assert_eq!((reader.pid, reader.typed), (2, InputUse::Data));
        let reader = at(
            vec![seat(2, "cat", true, ReadState::Reading), seat(3, "bash", true, ReadState::NotReading)],
            true,
        );
        assert_eq!((reader.pid, reader.typed), (3, InputUse::ShellCommand), "cat | bash");
    }

    #[test]
    fn a_password_is_nobodys_command() {
        assert_eq!(at(vec![seat(1, "sudo -s", true, ReadState::Reading)], false).typed, InputUse::Data);
        assert_eq!(at(vec![seat(1, "sudo -s", true, ReadState::Reading)], true).typed, InputUse::Forwarded);
        assert_eq!(at(vec![seat(1, "bash", true, ReadState::Reading)], false).typed, InputUse::ShellCommand);
    }

    #[test]
    fn names_do_not_hide_programs() {
        let mut renamed = seat(1, "cat", true, ReadState::Reading);
        renamed.program = Some("/bin/bash".to_owned());
        assert_eq!(at(vec![renamed], true).typed, InputUse::ShellCommand);
        let mut login = seat(1, "-bash", true, ReadState::Reading);
        login.program = None;
        assert_eq!(at(vec![login], true).typed, InputUse::ShellCommand);
        let mut busy = seat(1, "sh", true, ReadState::Reading);
        busy.program = Some("/bin/busybox".to_owned());
        assert_eq!(at(vec![busy], true).typed, InputUse::ShellCommand);
    }
}

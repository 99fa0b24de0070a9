//! The cases in `cases.txt`.
//!
//! A case is a title, what is given, and what the keeper does about it:
//!
//! ```text
//! # A command that exits alone is answered at once.
//! program exits 0 at 100
//! > 100 end completed
//! ```
//!
//! Times are milliseconds since the execution was submitted. It starts at 0, in the foreground, unless the case says else.
//! What is given, in any order:
//!
//! ```text
//! foreground answer after 500          the caller waits so long (`foreground` alone: to the end)
//! background answer after 500
//! timeout 1000                         since the start
//! idle 300                             since the last output
//! limits                               it has resource limits
//! program exits 0 at 100               more words of `program` and `child` after commas
//! program exits by 9 at 100            by a signal
//! program ignores TERM
//! program takes 700 for TERM           to exit when it gets SIGTERM
//! program survives KILL until 9000
//! child exits at 500                   a child, in the tree from the start; each such line is another one
//! child holds streams                  it can write to the output
//! child is unborn until 100            it has not run since its fork
//! child is unclaimed until 20          the keeper doesn't know whose it is
//! at 100 stop                          from outside: `start`, `fail to start`, `stop`, `stop now`, `release`,
//!                                      `caller goes`, `print`, `reader behind`, `reader caught up`, `suspend`,
//!                                      `continue`, `exceed limit`
//! ```

use super::world::{Input, Process, Setup, World, ms};
use crate::Mode;
use crate::outcome::Exit;
use crate::wire::Urgency;

#[test]
fn every_case_in_the_file_holds() {
    let cases: Vec<&str> = include_str!("cases.txt").split("\n# ").skip(1).collect();
    assert!(cases.len() >= 80, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let (title, lines) = case.split_once('\n').unwrap();
        let lines: Vec<&str> = lines
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("## "))
            .collect();
        let expected: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("> ")).collect();
        let given = lines.iter().filter(|line| !line.starts_with("> "));
        let seen = World::run(&setup(given.copied())).lines();
        if seen != expected {
            wrong.push(format!("# {title}\nexpected: {expected:#?}\nseen: {seen:#?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn setup<'a>(lines: impl Iterator<Item = &'a str>) -> Setup {
    let mut setup = Setup::default();
    for line in lines {
        give(&mut setup, line);
    }
    let starts = |(_, input): &(u64, Input)| matches!(input, Input::Start | Input::FailToStart);
    if !setup.inputs.iter().any(starts) {
        setup.inputs.insert(0, (0, Input::Start));
    }
    setup
}

fn give(setup: &mut Setup, line: &str) {
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("`{text}` in `{line}`"));
    match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["foreground"] => setup.mode = Mode::FOREGROUND,
        ["foreground", "answer", "after", after] => {
            setup.mode = Mode::Foreground { answer_after: Some(ms(number(after))) };
        }
        ["background", "answer", "after", after] => {
            setup.mode = Mode::Background { answer_after: ms(number(after)) };
        }
        ["timeout", limit] => setup.timeouts.wall = Some(ms(number(limit))),
        ["idle", limit] => setup.timeouts.idle = Some(ms(number(limit))),
        ["limits"] => setup.limited = true,
        ["program", ..] => {
            line.trim_start_matches("program ")
                .split(", ")
                .for_each(|what| be(&mut setup.processes[0], what));
        }
        ["child", ..] => {
            let mut child = Process::default();
            line.trim_start_matches("child ").split(", ").for_each(|what| be(&mut child, what));
            setup.processes.push(child);
        }
        ["at", at, what @ ..] => {
            let input = match what.join(" ").as_str() {
                "start" => Input::Start,
                "fail to start" => Input::FailToStart,
                "stop" => Input::Stop(Urgency::Politely),
                "stop now" => Input::Stop(Urgency::Now),
                "release" => Input::Release,
                "caller goes" => Input::CallerGone,
                "print" => Input::Print,
                "reader behind" => Input::ReaderBehind,
                "reader caught up" => Input::ReaderCaughtUp,
                "suspend" => Input::Suspend,
                "continue" => Input::Continue,
                "exceed limit" => Input::ExceedLimit,
                other => panic!("`{other}`"),
            };
            setup.inputs.push((number(at), input));
        }
        _ => panic!("`{line}`"),
    }
}

fn be(process: &mut Process, what: &str) {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("`{text}` in `{what}`"));
    match what.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["exits", "at", at] => process.exits = Some((number(at), Exit::Code(0))),
        ["exits", "by", signal, "at", at] => {
            process.exits = Some((number(at), Exit::Signal(signal.parse().unwrap())));
        }
        ["exits", code, "at", at] => process.exits = Some((number(at), Exit::Code(code.parse().unwrap()))),
        ["ignores", "TERM"] => process.term_ms = None,
        ["takes", time, "for", "TERM"] => process.term_ms = Some(number(time)),
        ["survives", "KILL", "until", at] => process.unkillable_until = number(at),
        ["holds", "streams"] => process.holds_streams = true,
        ["is", "unborn", "until", at] => process.unborn_until = number(at),
        ["is", "unclaimed", "until", at] => process.unclaimed_until = number(at),
        _ => panic!("`{what}`"),
    }
}

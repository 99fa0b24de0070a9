//! Command lines for an interactive shell: where a line ends, what has to be judged, and what an interactive shell does
//! with a line that a shell running a script doesn't.

use shellgate_exec::PartialLine;
use shellgate_policy::programs::affects_later_lines;
use shellgate_policy::{InputUse, is_complete_command};

use super::input_reader::InputReader;
use crate::admit::judge::Verdict;
use crate::{Code, ErrorObject};

/// Ctrl-U: deletes the line.
const KILL_LINE: u8 = 0x15;

/// Ctrl-D.
pub(super) const END_OF_INPUT: u8 = 0x04;

/// Ctrl-C, Ctrl-\ and Ctrl-Z: the kernel turns them into signals, whether the program reads or not.
pub(super) const SIGNAL_KEYS: [u8; 3] = [0x03, 0x1c, 0x1a];

/// Bytes that may be sent next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NextBytes {
    /// How many.
    pub(super) count: usize,
    /// The line that they finish, a whole command. It has to be judged before they are sent.
    pub(super) command_to_judge: Option<String>,
}

impl NextBytes {
    const fn unjudged(count: usize) -> Self {
        Self { count, command_to_judge: None }
    }
}

/// The next bytes of `rest` for a shell. `partial_line`: the line that was begun at its prompt.
pub(super) fn next_bytes(
    partial_line: &PartialLine,
    rest: &[u8],
    id: &str,
) -> Result<NextBytes, ErrorObject> {
    let refused = |message: &str, hint: &'static str| {
        Err(ErrorObject::new(Code::DeniedByPolicy, format!("{message} (`{id}`)")).token(id).hint(hint))
    };
    let clear = "send the key C-c or C-u to delete that line, then the whole command";
    match rest.first() {
        Some(&KILL_LINE) => return Ok(NextBytes::unjudged(1)),
        Some(&END_OF_INPUT) if partial_line.is_empty() => return Ok(NextBytes::unjudged(1)),
        Some(&END_OF_INPUT) => {
            return refused("a line was begun: what Ctrl-D does with it can't be judged", clear);
        }
        _ => {}
    }
    if partial_line.edited {
        return refused("keys that edit the line were pressed, so its text is not known", clear);
    }
    let is_text = |byte: &u8| *byte == b'\r' || (*byte >= 0x20 && *byte != 0x7f);
    let length = rest.iter().position(|byte| !is_text(byte)).unwrap_or(rest.len());
    if length == 0 {
        return refused(
            "keys that edit a shell's line are not sent: the text of the line would not be known",
            "send the whole command as text",
        );
    }
    let typed = rest.get(..length).unwrap_or_default();
    // One line at a time: the program that this line starts may read the next one. A command of several lines is refused: a
    // signal in the middle of it would turn its quoted lines into commands.
    let Some(last) = typed.iter().position(|byte| *byte == b'\r') else {
        return Ok(NextBytes::unjudged(length));
    };
    let line = typed.get(..last).unwrap_or_default();
    let Ok(text) = String::from_utf8([partial_line.text.as_slice(), line].concat()) else {
        return refused("the line is not UTF-8", "write the command to a script file, and run that file");
    };
    if !is_complete_command(&text) {
        return refused(
            "the line is not a whole command: a quote, a here-document or a block is open",
            "send the whole command as one line, with `;` between its parts",
        );
    }
    Ok(NextBytes { count: last + 1, command_to_judge: Some(text) })
}

/// The lines that a shell would read if it read all of the input.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LinesAhead {
    pub(super) lines: Vec<String>,
    /// Where the last line ends in the input.
    pub(super) end: usize,
    /// Whether other bytes are sent before the last line is judged.
    pub(super) sends_before_last: bool,
}

/// All lines in `bytes` for a shell, so that a refusal comes before the first byte is sent. Stops at the end of the input:
/// it ends the shell, and the next reader is not known. `partial_line`: the line that was begun at its prompt.
pub(super) fn lines_ahead(
    partial_line: &PartialLine,
    bytes: &[u8],
    id: &str,
) -> Result<LinesAhead, ErrorObject> {
    let (mut partial_line, mut at) = (partial_line.clone(), 0);
    let mut found = LinesAhead::default();
    while let Some((first, rest)) = bytes.get(at..).and_then(|rest| Some((rest.first()?, rest))) {
        let next = match SIGNAL_KEYS.contains(first) {
            true => NextBytes::unjudged(1),
            false => next_bytes(&partial_line, rest, id)?,
        };
        if *first == END_OF_INPUT {
            break;
        }
        partial_line = partial_line.typed(rest.get(..next.count).unwrap_or_default(), None);
        let start = at;
        at += next.count;
        if let Some(text) = next.command_to_judge {
            found.lines.push(text);
            (found.end, found.sends_before_last) = (at, start > 0);
        }
    }
    Ok(found)
}

/// How long the first piece of `rest` is: after a piece another process may read. A piece is a line for a program that reads
/// lines, else a key.
pub(super) fn first_piece_length(rest: &[u8], by_line: bool) -> usize {
    let ends = |byte: &u8| matches!(*byte, b'\r' | b'\n' | END_OF_INPUT);
    if by_line {
        return rest.iter().position(ends).map_or(rest.len(), |at| at + 1);
    }
    match rest {
        // `ESC [ … letter`, `ESC O letter`: one key.
        [0x1b, b'[', code @ ..] => {
            code.iter().position(|byte| (0x40..0x7f).contains(byte)).map_or(rest.len(), |at| at + 3)
        }
        [0x1b, b'O', _, ..] => 3,
        [first, ..] if *first >= 0xc0 => {
            1 + rest.iter().skip(1).take_while(|byte| (0x80..0xc0).contains(*byte)).count()
        }
        _ => 1,
    }
}

/// Makes the verdict ask about what an interactive shell does differently from a shell that runs a script.
pub(super) fn add_interactive_reasons(verdict: &mut Verdict, text: &str, knows_directory: bool) {
    if !knows_directory {
        verdict.require_approval("the current directory of the shell is not known".to_owned());
    }
    if recalls_history(text) {
        verdict.require_approval("`!` and `^` recall earlier lines in an interactive shell".to_owned());
    }
    let lasting = verdict.parts().iter().find_map(|part| {
        let name = part.argv.first()?.as_deref()?;
        affects_later_lines(name).then(|| name.to_owned())
    });
    if let Some(name) = lasting {
        verdict.require_approval(format!("`{name}` changes what later lines of the shell mean"));
    }
}

/// Makes the verdict ask about input for a program that runs it as code.
pub(super) fn ask_about_interpreter(verdict: &mut Verdict, reader: &InputReader) {
    let program = reader.argv.first().map_or("", String::as_str);
    verdict.require_approval(match (reader.input_use, reader.before_shell) {
        (InputUse::Forwarded, true) => {
            format!("the shell reads what `{program}` leaves unread, and that is not judged")
        }
        _ => format!("`{program}` runs what is typed at it as code, and that is not judged"),
    });
}

/// Whether bash might expand something from its history in `text`. Quotes and comments count as text, because history
/// expansion reads them differently from the grammar.
fn recalls_history(text: &str) -> bool {
    let recalls = |(at, _): (usize, &str)| {
        let next = text.get(at + 1..).and_then(|rest| rest.chars().next()).unwrap_or('\n');
        !next.is_whitespace() && !matches!(next, '=' | '(')
    };
    text.lines().any(|line| line.starts_with('^')) || text.match_indices('!').any(recalls)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(begun: &[u8], rest: &[u8]) -> Result<NextBytes, ErrorObject> {
        next_bytes(&PartialLine::default().typed(begun, None), rest, "01J")
    }

    #[test]
    fn whole_lines_are_judged_and_begun_ones_wait() {
        assert_eq!(next(b"", b"r").unwrap(), NextBytes::unjudged(1));
        let rm = next(b"r", b"m x\r").unwrap();
        assert_eq!(rm, NextBytes { count: 4, command_to_judge: Some("rm x".to_owned()) });
        let two = next(b"", b"python3\rprint\rx").unwrap();
        assert_eq!(
            two,
            NextBytes { count: 8, command_to_judge: Some("python3".to_owned()) },
            "the rest is judged later"
        );
        assert_eq!(next(b"ab", b"\x15ls\r").unwrap(), NextBytes::unjudged(1));
    }

    #[test]
    fn input_with_unknown_meaning_is_refused() {
        for (begun, rest) in [
            (b"ls".as_slice(), b"\x7f\r".as_slice()),
            (b"ls\x7f", b"\r"),
            (b"", b"\t"),
            (b"", b"\x1b[A\r"),
            (b"", b"echo 'a\r"),
            (b"", b"if true\rthen ls\rfi\r"),
            (b"", b"echo 'a\rb'\r"),
            (b"", b"cat <<E\r"),
            (b"", b"ls \\\r"),
            (b"rm x", b"\x04"),
            (b"", b"\xff\r"),
        ] {
            assert!(next(begun, rest).is_err(), "{begun:?} {rest:?}");
        }
        assert!(next(b"", b"\x04").is_ok(), "the end of an empty line ends the shell");
    }

    #[test]
    fn later_lines_are_known_before_the_first_is_sent() {
        let ahead = |begun: &[u8], bytes: &[u8]| {
            lines_ahead(&PartialLine::default().typed(begun, None), bytes, "01J")
        };
        let whole = |lines: &[&str], end, sends_before_last| LinesAhead {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            end,
            sends_before_last,
        };
        assert_eq!(ahead(b"", b"ls\r").unwrap(), whole(&["ls"], 3, false));
        assert_eq!(ahead(b"r", b"m x\rls\rec").unwrap(), whole(&["rm x", "ls"], 7, true));
        assert_eq!(ahead(b"echo", b"\x03rm x\r").unwrap(), whole(&["rm x"], 6, true));
        assert_eq!(
            ahead(b"", b"ls\r\x04\t").unwrap(),
            whole(&["ls"], 3, false),
            "another process reads the tab"
        );
        for bytes in [b"ls\t".as_slice(), b"ls\r\t", b"ls\recho '\r", b"ls\x04", b"ls\x1a\r"] {
            assert!(ahead(b"", bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn some_marks_recall_history() {
        for text in
            ["!!", "echo !$", "!rm", "^a^b", "ls\n^a^b", "echo \"a!b\"", ": \"'\"; !-1 # '", "echo 'a!b'"]
        {
            assert!(recalls_history(text), "{text}");
        }
        for text in ["! ls", "[ a != b ]", "echo hi!", "a^b"] {
            assert!(!recalls_history(text), "{text}");
        }
    }

    #[test]
    fn pieces_are_lines_or_keys() {
        assert_eq!(first_piece_length(b"ab\rcd", true), 3);
        assert_eq!(first_piece_length(b"ab", true), 2);
        assert_eq!(first_piece_length(b"ab", false), 1);
        assert_eq!(first_piece_length(b"\x1b[15~x", false), 5);
        assert_eq!(first_piece_length(b"\x1bOAx", false), 3);
        assert_eq!(first_piece_length("äx".as_bytes(), false), 2);
    }
}

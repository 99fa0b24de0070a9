//! Lines for a shell: where they end, what they say, what they do that only a shell with a person in front of it does.

use shellgate_exec::PartialLine;
use shellgate_policy::programs::affects_later_lines;
use shellgate_policy::{InputUse, is_complete_command};

use super::reader::Reader;

use crate::admit::judge::Verdict;
use crate::{Code, ErrorObject};

/// Ctrl-U: throws the line away.
const KILL_LINE: u8 = 0x15;

/// Ctrl-D.
pub(super) const END: u8 = 0x04;

/// Ctrl-C, Ctrl-\ and Ctrl-Z: they reach the program whether it reads or not.
pub(super) const SIGNALS: [u8; 3] = [0x03, 0x1c, 0x1a];

/// What may be typed next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// So many bytes now.
    pub(super) now: usize,
    /// What has to be judged before: one line, which is a whole command.
    pub(super) judged: Option<String>,
}

impl Line {
    const fn unjudged(now: usize) -> Self {
        Self { now, judged: None }
    }
}

/// The next bytes of `rest` for a shell in whose line `draft` stands.
pub(super) fn next(draft: &PartialLine, rest: &[u8], id: &str) -> Result<Line, ErrorObject> {
    let refused = |message: &str, hint: &str| {
        Err(ErrorObject::new(Code::DeniedByPolicy, format!("{message} (`{id}`)")).token(id).hint(hint))
    };
    let clear = "send the key C-c or C-u to throw that line away, then the whole command";
    match rest.first() {
        Some(&KILL_LINE) => return Ok(Line::unjudged(1)),
        Some(&END) if draft.is_empty() => return Ok(Line::unjudged(1)),
        Some(&END) => {
            return refused("a line was begun, and what its end would make of it is not judged", clear);
        }
        _ => {}
    }
    if draft.edited {
        return refused("keys were pressed that edit the line, so nobody can say what it is", clear);
    }
    let is_text = |byte: &u8| *byte == b'\r' || (*byte >= 0x20 && *byte != 0x7f);
    let length = rest.iter().position(|byte| !is_text(byte)).unwrap_or(rest.len());
    if length == 0 {
        return refused(
            "keys that edit a shell's line are not sent to it: nobody could say what the line is then",
            "send the whole command as text",
        );
    }
    let typed = rest.get(..length).unwrap_or_default();
    // One line at a time: the next may be for the program that this one starts. And never a command of several lines: a
    // signal in the midst of it would make commands of those that were quoted.
    let Some(last) = typed.iter().position(|byte| *byte == b'\r') else { return Ok(Line::unjudged(length)) };
    let line = typed.get(..last).unwrap_or_default();
    let Ok(text) = String::from_utf8([draft.text.as_slice(), line].concat()) else {
        return refused("the line is not UTF-8", "write the command in a script, and run that");
    };
    if !is_complete_command(&text) {
        return refused(
            "the line is not a whole command: a quote, a here-document or a block is open",
            "send the whole command as one line, with `;` between its parts",
        );
    }
    Ok(Line { now: last + 1, judged: Some(text) })
}

/// Lines that a shell gets if it is the one to read all that is typed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ahead {
    /// What they say.
    pub(super) lines: Vec<String>,
    /// Where the last of them ends.
    pub(super) end: usize,
    /// Whether something is typed before the last of them is judged.
    pub(super) is_late: bool,
}

/// All lines in `bytes`, for a shell in whose line `draft` stands: so that what is refused is refused before the first of
/// it is typed. The end of the input ends the shell, and who reads then nobody knows.
pub(super) fn ahead(draft: &PartialLine, bytes: &[u8], id: &str) -> Result<Ahead, ErrorObject> {
    let (mut draft, mut at) = (draft.clone(), 0);
    let mut found = Ahead::default();
    while let Some((first, rest)) = bytes.get(at..).and_then(|rest| Some((rest.first()?, rest))) {
        let line = match SIGNALS.contains(first) {
            true => Line::unjudged(1),
            false => next(&draft, rest, id)?,
        };
        if *first == END {
            break;
        }
        draft = draft.typed(rest.get(..line.now).unwrap_or_default(), None);
        let start = at;
        at += line.now;
        if let Some(text) = line.judged {
            found.lines.push(text);
            (found.end, found.is_late) = (at, start > 0);
        }
    }
    Ok(found)
}

/// The first piece of text for a program after which another may read: a line where it reads lines, else a key.
pub(super) fn piece(rest: &[u8], by_line: bool) -> usize {
    let ends = |byte: &u8| matches!(*byte, b'\r' | b'\n' | END);
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

/// Has somebody asked about what a shell with a person in front of it does differently from one that runs a text.
pub(super) fn be_stricter(verdict: &mut Verdict, text: &str, knows_directory: bool) {
    if !knows_directory {
        verdict.require_approval("the folder that the shell is in can't be seen".to_owned());
    }
    if recalls_history(text) {
        verdict.require_approval(
            "`!` and `^` call back earlier lines in a shell that people type at".to_owned(),
        );
    }
    let lasting = verdict.parts().iter().find_map(|part| {
        let name = part.argv.first()?.as_deref()?;
        affects_later_lines(name).then(|| name.to_owned())
    });
    if let Some(name) = lasting {
        verdict.require_approval(format!("`{name}` changes what later lines of the shell mean"));
    }
}

/// Has somebody asked about text for a program that runs it.
pub(super) fn ask_about(verdict: &mut Verdict, reader: &Reader) {
    let program = reader.argv.first().map_or("", String::as_str);
    verdict.require_approval(match (reader.typed, reader.before_shell) {
        (InputUse::Forwarded, true) => {
            format!("what `{program}` doesn't read of it goes to the shell, and that is not judged")
        }
        _ => format!("`{program}` runs what is typed at it, and that is not judged"),
    });
}

/// Whether bash might expand something from its history in `text`. Quotes and comments are not looked at: bash has ideas of its
/// own about them.
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

    fn line(begun: &[u8], rest: &[u8]) -> Result<Line, ErrorObject> {
        next(&PartialLine::default().typed(begun, None), rest, "01J")
    }

    #[test]
    fn whole_lines_are_judged_and_begun_ones_wait() {
        assert_eq!(line(b"", b"r").unwrap(), Line::unjudged(1));
        let rm = line(b"r", b"m x\r").unwrap();
        assert_eq!(rm, Line { now: 4, judged: Some("rm x".to_owned()) });
        let two = line(b"", b"python3\rprint\rx").unwrap();
        assert_eq!(
            two,
            Line { now: 8, judged: Some("python3".to_owned()) },
            "the rest is judged in its time"
        );
        assert_eq!(line(b"ab", b"\x15ls\r").unwrap(), Line::unjudged(1));
    }

    #[test]
    fn what_nobody_can_judge_is_refused() {
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
            assert!(line(begun, rest).is_err(), "{begun:?} {rest:?}");
        }
        assert!(line(b"", b"\x04").is_ok(), "the end of an empty line ends the shell");
    }

    #[test]
    fn what_is_typed_later_is_known_before() {
        let ahead =
            |begun: &[u8], bytes: &[u8]| ahead(&PartialLine::default().typed(begun, None), bytes, "01J");
        let whole = |lines: &[&str], end, is_late| Ahead {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            end,
            is_late,
        };
        assert_eq!(ahead(b"", b"ls\r").unwrap(), whole(&["ls"], 3, false));
        assert_eq!(ahead(b"r", b"m x\rls\rec").unwrap(), whole(&["rm x", "ls"], 7, true));
        assert_eq!(ahead(b"echo", b"\x03rm x\r").unwrap(), whole(&["rm x"], 6, true));
        assert_eq!(ahead(b"", b"ls\r\x04\t").unwrap(), whole(&["ls"], 3, false), "the tab is for another");
        for bytes in [b"ls\t".as_slice(), b"ls\r\t", b"ls\recho '\r", b"ls\x04", b"ls\x1a\r"] {
            assert!(ahead(b"", bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn history_is_recalled_by_some_marks() {
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
        assert_eq!(piece(b"ab\rcd", true), 3);
        assert_eq!(piece(b"ab", true), 2);
        assert_eq!(piece(b"ab", false), 1);
        assert_eq!(piece(b"\x1b[15~x", false), 5);
        assert_eq!(piece(b"\x1bOAx", false), 3);
        assert_eq!(piece("äx".as_bytes(), false), 2);
    }
}

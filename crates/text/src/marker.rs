//! Marker lines: they say what is left out of a text.

use std::{fmt::Write, ops::Range, path::Path};

use super::{
    binary::{Binary, Hashed},
    source::{ReadAs, Stream},
};

/// The beginnings of marker lines. Lines of output that begin so are indented, see `render`.
pub(super) const MARKER_STARTS: [&str; 2] = ["[… ", "[binary output"];

/// Whether a reader may take this sign for a line end. The text of a command's output has only the first and the last two.
pub(super) fn is_line_end(sign: char) -> bool {
    matches!(sign, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a line looks like a marker.
pub(super) fn looks_like_one(line: &str) -> bool {
    MARKER_STARTS.iter().any(|start| line.starts_with(start))
}

/// Foreign text with a blank before every line that looks like a marker.
#[must_use]
pub fn indent_marks(text: &str) -> String {
    let mut indented = String::with_capacity(text.len());
    for line in text.split_inclusive(is_line_end) {
        if looks_like_one(line) {
            indented.push(' ');
        }
        indented.push_str(line);
    }
    indented
}

/// A longer path isn't repeated in a command to copy.
const MAX_REPEATED_PATH_BYTES: usize = 120;

/// The line between head and tail. It offers a command that reads the rest if the rest has at most `readable`
/// bytes.
pub(super) fn left_out(range: &Range<u64>, stream: &mut Stream<'_>, readable: u64) -> String {
    if let (Some(ReadAs { id, stream: name, first_line }), true) =
        (stream.read_as, stream.kept == stream.total)
    {
        // Without a name, both streams are read.
        let name = if name == "stderr" { r#","stream":"stderr""# } else { "" };
        let count = lines_in(stream, range.clone());
        if count == 0 {
            // A part of one line: its number would lead to its beginning again.
            let count = with_commas(range.end.saturating_sub(range.start));
            let from = stream.begins + range.start;
            return format!(
                r#"[… {count} bytes of a line left out: shell_output {{"id":"{id}","from":{from}{name}}}]"#
            );
        }
        let from_line = first_line + lines_in(stream, 0..range.start) as u64;
        let (count, unit) = (with_commas(count), if count == 1 { "line" } else { "lines" });
        return format!(
            r#"[… {count} {unit} left out: shell_output {{"id":"{id}","from_line":{from_line}{name}}}]"#
        );
    }
    let count = range.end.saturating_sub(range.start);
    let amount = bytes(count);
    let path = shown(stream.path);
    if stream.kept < stream.total {
        return format!("[… {amount} left out; {} …]", incomplete(stream, &path));
    }
    let first = stream.begins + range.start + 1;
    if count <= readable && path.len() <= MAX_REPEATED_PATH_BYTES {
        let quoted = quote(&path);
        format!(
            "[… {amount} left out; the whole output is in {path}; \
             to read them: `tail -c +{first} {quoted} | head -c {count}` …]"
        )
    } else {
        format!("[… {amount} left out, from byte {first} on; the whole output is in {path} …]")
    }
}

/// How much of a stream is read at once to count its lines.
const COUNT_CHUNK_BYTES: u64 = 1 << 20;

/// How many lines end in a part of a stream.
fn lines_in(stream: &mut Stream<'_>, bytes: Range<u64>) -> usize {
    let (mut at, mut count) = (bytes.start, 0);
    while at < bytes.end {
        let end = bytes.end.min(at + COUNT_CHUNK_BYTES);
        count += memchr::memchr_iter(b'\n', &stream.read(at..end)).count();
        at = end;
    }
    count
}

/// How many lines of a stream were kept.
pub(super) fn count_lines(stream: &mut Stream<'_>) -> u64 {
    let missing = stream.missing();
    (lines_in(stream, 0..missing.start) + lines_in(stream, missing.end..stream.total)) as u64
}

/// The line that stands for binary output.
pub(super) fn binary(binary: &Binary, stream: &Stream<'_>) -> String {
    let kind = binary.kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    let amount = bytes(binary.bytes);
    let path = shown(stream.path);
    let hash = &binary.sha256;
    let is_whole = stream.kept == stream.total;
    match binary.hashed {
        Hashed::Whole if is_whole => {
            format!("[binary output{kind}: {amount}, sha256 {hash}, kept in {path}]")
        }
        Hashed::Nothing if is_whole => format!("[binary output{kind}: {amount}, kept in {path}]"),
        Hashed::Whole => {
            format!("[binary output{kind}: {amount}, sha256 {hash}; {}]", incomplete(stream, &path))
        }
        Hashed::Kept(1..) if stream.kept > 0 => {
            format!("[binary output{kind}: {amount}; {}; sha256 of these {hash}]", incomplete(stream, &path))
        }
        Hashed::Kept(_) | Hashed::Nothing => {
            format!("[binary output{kind}: {amount}; {}]", incomplete(stream, &path))
        }
    }
}

/// How much of the stream the file holds, and why not all of it.
fn incomplete(stream: &Stream<'_>, path: &str) -> String {
    let why = match &stream.lost {
        None => "the capture limit was reached".to_owned(),
        Some(reason) => one_line(reason),
    };
    match stream.kept {
        0 => format!("none were kept: {why}"),
        kept => format!("only the first {kept} of {} are kept, in {path}: {why}", bytes(stream.total)),
    }
}

/// A number as people read it: `14,210`.
#[must_use]
pub fn with_commas(number: impl std::fmt::Display) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// Replaces control characters, which could end the line or act on a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Quotes a word for a shell.
fn quote(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if word.chars().all(safe) {
        return word.to_owned();
    }
    let mut quoted = String::from("'");
    for c in word.chars() {
        // A single quote can't be inside single quotes.
        let written = if c == '\'' { write!(quoted, r"'\''") } else { write!(quoted, "{c}") };
        debug_assert!(written.is_ok(), "writing to a string never fails");
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_like_marks_are_indented_behind_all_that_ends_a_line() {
        let text = "[… a\nb [… c\r[binary output\u{2028}[… d\u{85}[… e\n";
        let indented = " [… a\nb [… c\r [binary output\u{2028} [… d\u{85} [… e\n";
        assert_eq!(indent_marks(text), indented);
    }

    #[test]
    fn paths_are_quoted_for_the_shell() {
        assert_eq!(quote("/tmp/a.b-c_1"), "/tmp/a.b-c_1");
        assert_eq!(quote("/tmp/it's $HOME"), r"'/tmp/it'\''s $HOME'");
    }
}

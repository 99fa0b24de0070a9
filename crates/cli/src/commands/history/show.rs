//! `shellgate history show`: one execution with its record and its output.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write as _};

use serde_json::{Value, json};
use shellgate::journal::{JournalEntry, PastExecution};
use shellgate::text::escape::OutputEscaper;
use shellgate::views::ExecutionView;
use shellgate::{RecordStore, Stream};

use crate::error::CliError;
use crate::output;
use crate::{commands, time};

/// How much of a file is read at a time.
const READ_CHUNK_BYTES: usize = 64 << 10;

/// JSON has at most this much of a stream; the file has all of it.
const JSON_TEXT_MAX_BYTES: u64 = 8 << 20;

pub(super) fn show(id: &str, raw: bool, json: bool) -> Result<(), CliError> {
    let record = RecordStore::open(None)?;
    let id = record.find(id)?;
    let journal = record.journal();
    let execution = journal.execution(&id).map_err(commands::unreadable)?;
    let Some(execution) = execution else { return Err(CliError::unknown(&id)) };
    let entries = journal.entries_of(&id).map_err(commands::unreadable)?;
    if json {
        return output::print_json(&whole(&record, &execution, &entries));
    }
    output::print_lines(&ExecutionView::new(&execution, &entries).lines())?;
    for stream in [Stream::Stdout, Stream::Stderr] {
        let Some(file) = record.output(&execution, stream) else { continue };
        if file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            output::print(&format!("\x1b[1m{}:\x1b[0m\n", stream.name()))?;
            print_file(file, !raw && io::stdout().is_terminal())?;
        }
    }
    Ok(())
}

/// Prints the answer that the model was given.
pub(super) fn answer(id: &str) -> Result<(), CliError> {
    let text = RecordStore::open(None)?.answer_text(id)?;
    // It has no control codes but line ends and tabs.
    output::print(&format!("{}\n", text.trim_end_matches('\n')))
}

/// Everything as JSON: what `history --json` has, the entries, and the output as text.
fn whole(record: &RecordStore, execution: &PastExecution, entries: &[JournalEntry]) -> Value {
    let mut whole = json!(ExecutionView::new(execution, entries).summary());
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("entries".to_owned(), entries.into());
        for stream in [Stream::Stdout, Stream::Stderr] {
            let text = record.output(execution, stream).and_then(|file| {
                let mut bytes = Vec::new();
                file.take(JSON_TEXT_MAX_BYTES).read_to_end(&mut bytes).ok()?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            });
            fields.insert(format!("{}_text", stream.name()), json!(text));
        }
    }
    whole
}

fn entry(entry: &JournalEntry) -> Value {
    json!({
        "seq": entry.seq,
        "at": time::exact(entry.at),
        "kind": entry.kind,
        "hash": entry.hash,
        "body": entry.body,
    })
}

/// Prints a file, with control codes escaped if `escaped` is set.
fn print_file(mut file: File, escaped: bool) -> Result<(), CliError> {
    let mut buffer = vec![0; READ_CHUNK_BYTES];
    let mut escaper = OutputEscaper::default();
    let mut out = io::stdout().lock();
    let mut last = b'\n';
    loop {
        let read = match file.read(&mut buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CliError::write_failed(&error)),
        };
        let bytes = buffer.get(..read).unwrap_or_default();
        let written = match (escaped, read) {
            (true, 0) => out.write_all(escaper.finish().as_bytes()),
            (true, _) => out.write_all(escaper.push(bytes).as_bytes()),
            (false, _) => out.write_all(bytes),
        };
        written.map_err(|error| CliError::write_failed(&error))?;
        if read == 0 {
            break;
        }
        last = bytes.last().copied().unwrap_or(last);
    }
    let end: &[u8] = if last == b'\n' { b"" } else { b"\n" };
    out.write_all(end).and_then(|()| out.flush()).map_err(|error| CliError::write_failed(&error))
}

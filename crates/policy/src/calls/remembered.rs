//! Texts that were read a moment ago: agents run the same commands again and again.
//!
//! What a text leads to depends on the text and the folder that it starts in, unless one of its programs has no entry in the
//! tables. Then the file decides that the name leads to, and such a text is read each time. Nothing of a verdict is remembered:
//! rules, files and repositories are looked at for each call.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;

use shellgate_syntax::Unreadable;

use super::{FoundCalls, Stdin, of_text};
use crate::program_names::ProgramNames;

/// How many texts are remembered by each thread.
const MAX_TEXTS: usize = 32;

/// Longer texts are scripts, which agents write anew each time.
const MAX_TEXT_BYTES: usize = 1024;

/// Calls of a text that is remembered. More take too much memory.
const MAX_CALLS: usize = 64;

struct ReadText {
    source: String,
    directory: PathBuf,
    calls: Rc<FoundCalls>,
}

thread_local! {
    /// The one that was used last is the first.
    static READ: RefCell<VecDeque<ReadText>> = const { RefCell::new(VecDeque::new()) };
}

/// The calls of a text for bash, as [`of_text`] finds them.
pub(crate) fn of_text_again(
    source: &str,
    stdin: Stdin,
    programs: ProgramNames,
) -> Result<Rc<FoundCalls>, Unreadable> {
    if !matches!(stdin, Stdin::Empty) || source.len() > MAX_TEXT_BYTES {
        return of_text(source, stdin, programs).map(Rc::new);
    }
    let directory = programs.directory().to_owned();
    let known = READ.with_borrow_mut(|read| {
        let at = read.iter().position(|one| one.source == source && one.directory == directory)?;
        let found = read.remove(at)?;
        let calls = Rc::clone(&found.calls);
        read.push_front(found);
        Some(calls)
    });
    if let Some(calls) = known {
        return Ok(calls);
    }
    let calls = Rc::new(of_text(source, stdin, programs)?);
    if calls.calls.len() + calls.respelled.len() <= MAX_CALLS && !calls.programs.has_looked() {
        READ.with_borrow_mut(|read| {
            read.truncate(MAX_TEXTS - 1);
            read.push_front(ReadText { source: source.to_owned(), directory, calls: Rc::clone(&calls) });
        });
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str, directory: &str) -> Rc<FoundCalls> {
        of_text_again(source, Stdin::Empty, ProgramNames::new(directory.into(), "/usr/bin".as_ref())).unwrap()
    }

    #[test]
    fn a_text_is_read_once_in_each_folder() {
        let first = read("git status", "/a");
        assert!(Rc::ptr_eq(&first, &read("git status", "/a")));
        assert!(!Rc::ptr_eq(&first, &read("git status", "/b")));
        assert!(!Rc::ptr_eq(&first, &read("git status ", "/a")));
        let given = of_text_again("git status", Stdin::Unknown, ProgramNames::new("/a".into(), "".as_ref()));
        assert!(!Rc::ptr_eq(&first, &given.unwrap()), "its input may be code");
    }

    #[test]
    fn a_program_without_an_entry_is_looked_for_each_time() {
        let text = "no-such-program-9f2 x; true";
        assert!(!Rc::ptr_eq(&read(text, "/a"), &read(text, "/a")));
    }

    #[test]
    fn old_texts_are_forgotten() {
        let first = read("echo first", "/a");
        for number in 0..MAX_TEXTS {
            read(&format!("echo {number}"), "/a");
        }
        assert!(!Rc::ptr_eq(&first, &read("echo first", "/a")));
    }
}

//! What the rules say about what a call does besides what its name says.

use std::path::PathBuf;

use shellgate_syntax::{Place, Redirect, Span, Unknown, Value, Why, Word};

use super::{Basis, Judge};
use crate::programs::{Effect, Kind, Property, What, base_name, has, variable};
use crate::reach::Call;
use crate::redirects::{self, Touches};
use crate::rules::{Prefix, Redirects};
use crate::verdict::ReasonCode;

/// What tables call code in the program's own language: a file of it, or a module that it finds.
const CODE: [&str; 2] = ["a script", "a module that it finds and runs"];

/// Code that a call runs and nobody can read.
struct Unread<'a> {
    span: Span,
    message: String,
    /// The word that names or is it.
    word: Option<&'a Word>,
    /// Whether it is code in the program's own language.
    code: bool,
}

impl Judge<'_> {
    /// What the call does besides what its name says.
    pub(super) fn effects(&mut self, call: &Call, basis: Basis) {
        if basis == Basis::None {
            return;
        }
        if basis == Basis::Everything && self.rules.forbid_something() && self.is_of_project(call) {
            let message = "it runs a program of the project, which may do anything".to_owned();
            self.ask(ReasonCode::Unknown, call.span, message);
        }
        self.hidden(call);
        for note in &call.notes {
            let unread =
                Unread { span: note.span, message: note.message.clone(), word: None, code: note.code };
            self.opaque(basis, call, &unread);
        }
        for effect in &call.understood.effects {
            let span = if call.inner { call.span } else { effect.span };
            match &effect.what {
                What::Opaque(word, what) => {
                    let shown = word.value.known().unwrap_or("…");
                    let message = format!("it runs {what}: `{shown}`");
                    let unread = Unread { span, message, word: Some(word), code: CODE.contains(what) };
                    self.opaque(basis, call, &unread);
                }
                What::Inline(word, language) => {
                    let message = format!("it runs inline {language} code");
                    self.opaque(basis, call, &Unread { span, message, word: Some(word), code: true });
                }
                What::Unusual(why) => {
                    self.ask(ReasonCode::Unusual, span, (*why).to_owned());
                }
                What::MaybeOption(_) if basis == Basis::Everything && !self.rules.forbid_something() => {}
                What::MaybeOption(word) if self.is_plain_pattern(call, word) => {}
                What::MaybeOption(word) => {
                    let message = "a word that can't be known may be an option".to_owned();
                    self.ask(ReasonCode::Unknown, span, message).token = Some(word.value.lead().to_owned());
                }
                What::Assigns { name, value } => {
                    let value = value.as_ref().and_then(Value::known);
                    self.variable(name.known(), value, span);
                }
                What::Writes(word) => self.writes(call, basis, word, span),
                What::Directory(Some(word)) if matches!(basis, Basis::Named(_)) => {
                    self.works_in(call, word, span)
                }
                _ => {}
            }
        }
    }

    /// Whether the program is a file that agents may write: inside the root, or not there yet.
    fn is_of_project(&self, call: &Call) -> bool {
        let name = call.words.first().and_then(|word| word.value.known()).filter(|name| name.contains('/'));
        name.is_some_and(|name| match self.world.program_file(name) {
            Some(file) => file.starts_with(self.world.root()),
            None => true,
        })
    }

    /// Whether a call may make files, as far as is known.
    pub(super) fn is_loud(&self, call: &Call) -> bool {
        let writes =
            |effect: &Effect| matches!(effect.what, What::Writes(_) | What::Opaque(..) | What::Inline(..));
        let quiet = call.words.is_empty()
            || matches!(call.understood.kind, Some(Kind::Reader | Kind::Builtin | Kind::Wrapper))
                && !call.understood.effects.iter().any(writes);
        let touches = |redirect| redirects::touches(redirect, self.directories.as_deref(), self.world);
        !quiet
            || call.redirects.iter().any(|redirect| {
                matches!(touches(redirect), Touches::WritesInside(_) | Touches::WritesElsewhere(_))
            })
    }

    /// Whether a pattern is the names of files that are there, of which none looks like an option: `sort *.txt`. Only in a
    /// command that makes no file before.
    fn is_plain_pattern(&self, call: &Call, word: &Word) -> bool {
        let Value::Unknown(Unknown { lead, why: Why::Glob, .. }) = &word.value else { return false };
        let Some([directory]) = self.directories.as_deref() else { return false };
        let dashed = |entry: &std::fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"-");
        // Nothing else makes files.
        self.loud == usize::from(self.is_loud(call))
            && lead.is_empty()
            && std::fs::read_dir(directory)
                .is_ok_and(|entries| !entries.flatten().any(|entry| dashed(&entry)))
    }

    /// Code that nobody can read is as good as the rule that allows its program.
    fn opaque(&mut self, basis: Basis, call: &Call, unread: &Unread<'_>) {
        let kind = call.understood.kind;
        let fine = match basis {
            Basis::Named(words) => {
                let named = call.words.iter().take(words);
                kind == Some(Kind::Interpreter) && unread.code
                    || unread.word.is_some_and(|word| named.clone().any(|named| named.span == word.span))
            }
            Basis::Everything => {
                // What a build tool runs of its project is allowed with it; code on its command line is not.
                !self.rules.forbid_something() || kind == Some(Kind::Builder) && !unread.code
            }
            Basis::Nothing | Basis::None => false,
        };
        if !fine {
            self.ask(ReasonCode::Unknown, unread.span, unread.message.clone());
        }
    }

    fn writes(&mut self, call: &Call, basis: Basis, word: &Word, span: Span) {
        // Some programs take `|command` for a file.
        if word.value.lead().starts_with('|') {
            self.ask(ReasonCode::Unknown, span, "it writes to a command that it starts".to_owned());
            return;
        }
        if self.is_of_git(word) {
            let message = "it writes into `.git`, whose files can name programs that git runs".to_owned();
            self.ask(ReasonCode::Unusual, span, message);
            return;
        }
        let touches = redirects::file(word, self.directories.as_deref(), self.world, true);
        // Who allowed a program whose purpose is writing, or any program, allowed that it writes.
        let purpose = matches!(call.understood.kind, Some(Kind::Writer | Kind::Builder));
        match (touches, basis, purpose) {
            (Touches::Nothing | Touches::WritesInside(_), Basis::Named(_), true) => {}
            (_, Basis::Everything, true) => {}
            (Touches::WritesElsewhere(path), _, true) => {
                self.ask(
                    ReasonCode::Outside,
                    span,
                    format!("it writes `{path}`, outside the root or unknown"),
                );
            }
            (touches, _, _) => self.touches(touches, span),
        }
    }

    /// A program that is told to work in another folder does what that folder says.
    fn works_in(&mut self, call: &Call, word: &Word, span: Span) {
        let moves = call.understood.kind == Some(Kind::Builtin);
        let path = redirects::path(&word.value, self.world);
        if !moves && !path.is_some_and(|path| self.is_inside(&path)) {
            self.ask(
                ReasonCode::Outside,
                span,
                "it works in a folder outside the root, or unknown".to_owned(),
            );
        }
    }

    /// Whether a path leads into the folder that git keeps its settings in.
    fn is_of_git(&self, word: &Word) -> bool {
        let Some(path) = redirects::path(&word.value, self.world) else { return false };
        let place = self.world.destination(self.world.directory(), &path);
        let inside = place.strip_prefix(self.world.root()).unwrap_or(&place);
        inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
    }

    /// A program that no table lists may run what it is given: one of its words may name what is excluded.
    fn hidden(&mut self, call: &Call) {
        if call.understood.kind.is_some() {
            return;
        }
        let words = call.words.iter().skip(1).filter_map(|word| word.value.known());
        let found = words.flat_map(names).find_map(|name| self.excluded_by_name(name));
        if let Some((name, rule)) = found {
            let message = format!("it may run `{name}`, which is excluded: nothing is known of this program");
            self.ask(ReasonCode::Unknown, call.span, message).rule = Some(rule);
        }
    }

    /// The rule that excludes a program of this name.
    fn excluded_by_name(&self, name: &str) -> Option<(String, String)> {
        self.rules.exclude.iter().find_map(|entry| match &entry.prefix {
            Prefix::Words(words) if words.first().is_some_and(|word| base_name(word) == base_name(name)) => {
                Some((name.to_owned(), entry.shown.clone()))
            }
            _ => None,
        })
    }

    pub(super) fn redirect(&mut self, redirect: &Redirect, span: Span) {
        let touches = redirects::touches(redirect, self.directories.as_deref(), self.world);
        self.touches(touches, span);
    }

    fn touches(&mut self, touches: Touches, span: Span) {
        let free = |path: &str| format!("it writes the file `{path}`");
        match (touches, self.rules.redirects) {
            (Touches::Nothing, _)
            | (Touches::WritesInside(_), Redirects::Scope | Redirects::Allow)
            | (Touches::WritesElsewhere(_), Redirects::Allow) => {}
            (Touches::WritesInside(path), Redirects::Ask) => {
                self.ask(ReasonCode::Write, span, free(&path)).hint =
                    Some("`redirects = \"scope\"` allows it inside the root".to_owned());
            }
            (Touches::WritesElsewhere(path), _) => {
                self.ask(ReasonCode::Outside, span, format!("{}, outside the root or unknown", free(&path)));
            }
            (Touches::ReadsElsewhere(path), _) => {
                self.ask(
                    ReasonCode::Outside,
                    span,
                    format!("it reads `{path}`, outside the root or unknown"),
                );
            }
            (Touches::Connects(path), _) => {
                self.ask(ReasonCode::Outside, span, format!("it opens the network connection `{path}`"));
            }
        }
    }

    pub(super) fn variable(&mut self, name: Option<&str>, value: Option<&str>, span: Span) {
        let message = match name {
            None => "which variable it sets can't be known".to_owned(),
            Some(name) => {
                match variable(name).filter(|row| !value.is_some_and(|value| row.is_harmless(value))) {
                    Some(row) => format!("it sets `{name}`: {}", row.about),
                    None => match value.and_then(|value| self.excluded_by_name(names(value).next()?)) {
                        Some((program, _)) => format!("it sets `{name}` to `{program}`, which is excluded"),
                        None => return,
                    },
                }
            }
        };
        self.ask(ReasonCode::Assignment, span, message).token = name.map(str::to_owned);
    }

    /// `cd` changes where relative paths of later calls start from.
    pub(super) fn follow_directory(&mut self, call: &Call) {
        let builtin = call.words.first().and_then(|word| word.value.known());
        if !builtin.is_some_and(|name| has(name, Property::ChangesDirectory)) {
            return;
        }
        let steady = call.places.iter().all(|place| matches!(place, Place::Group | Place::Subshell));
        let target = call.understood.effects.iter().find_map(|effect| match &effect.what {
            What::Directory(Some(word)) => redirects::path(&word.value, self.world),
            _ => None,
        });
        self.directories = match (self.directories.take(), target) {
            (Some(mut before), Some(path)) if steady && before.len() < 16 => {
                let after: Vec<PathBuf> =
                    before.iter().map(|from| self.world.destination(from, &path)).collect();
                // It may have failed, too.
                before.extend(after);
                before.dedup();
                Some(before)
            }
            _ => None,
        };
    }
}

/// The names of programs that a text may hold.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "._-/+".contains(c))).filter(|name| !name.is_empty())
}

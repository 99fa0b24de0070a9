//! Code that is found in the folder of the command: modules of python before python's own, tools of `npx`.

use std::path::Path;

use shellgate_syntax::{RedirectOperator, RedirectTarget, Span, Word};

use super::{Basis, Judge};
use crate::calls::{Call, FoundCalls};
use crate::programs::{EffectKind, Property, has, words};
use crate::verdict::ReasonCode;

const NPX: &str = "npx";

impl Judge<'_> {
    /// Judges a tool of `npx`, which the command itself may write, and `python -m` with a module of python's own: a file of the project may take its place.
    pub(super) fn judge_import(&mut self, call: &Call, basis: Basis, word: &Word, span: Span) {
        if basis != Basis::Everything || !self.rules.restrict_something() {
            return;
        }
        if call.meaning.entry == Some(NPX) {
            let tool = word.value.lead();
            if let Some((program, rule)) = self.excluded_by_name(tool) {
                let message = format!("it runs `{program}`, which is excluded");
                self.ask(ReasonCode::Unknown, span, message).rule = Some(rule);
            } else if self.writes_tools {
                let message = format!("it runs `{tool}` of the project, which the command may write");
                self.ask(ReasonCode::Unknown, span, message);
            }
            return;
        }
        let folders = self.state.directories.as_deref();
        let is_hidden =
            folders.is_none_or(|folders| folders.iter().any(|folder| holds_standard_module(folder)));
        if self.writes_modules || is_hidden {
            let module = word.value.lead();
            let message =
                format!("it runs `{module}`, which may load code from the folder in place of python's own");
            self.ask(ReasonCode::Unknown, span, message).hint = Some(format!("`python3 -I -m {module}`"));
        }
    }
}

/// Whether a folder holds a file or package with the name of a module that comes with python.
fn holds_standard_module(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { return false };
        let (module, ending) = name.split_once('.').unwrap_or((name, ""));
        let is_code = ending == "py" || ending == "pyc" || ending.ends_with("so");
        words::PYTHON_STANDARD_MODULES.contains(&module)
            && (is_code || ending.is_empty() && entry.path().join("__init__.py").exists())
    })
}

/// Whether a command may make files that `npx` runs: any that its words name, or that it unpacks.
pub(super) fn may_write_tools(found: &FoundCalls) -> bool {
    let unpacks = [Property::MakesLinks, Property::Unpacks, Property::UnpacksByLetter];
    let is_tree =
        |word: &Word| word.value.known().is_none_or(|text| words::GIT_TREE_SUBCOMMANDS.contains(&text));
    found.calls.iter().any(|call| {
        let name = call.name();
        name.is_some_and(|name| {
            unpacks.iter().any(|property| has(name, *property))
                || has(name, Property::RunsGit) && call.words.iter().any(is_tree)
        }) || writes_file(call, |_| true)
    })
}

/// Whether a command may make files of python code: it writes one, a file of unknown name, or unpacks many.
pub(super) fn may_write_modules(found: &FoundCalls) -> bool {
    let is_module = |word: &Word| {
        word.value.known().is_none_or(|path| [".py", ".so"].iter().any(|end| path.contains(end)))
    };
    found.calls.iter().any(|call: &Call| {
        let name = call.name();
        name.is_some_and(|name| has(name, Property::MakesLinks)) || writes_file(call, is_module)
    })
}

/// Whether a call writes a file of this kind, by its words or its redirects.
fn writes_file(call: &Call, is_kind: fn(&Word) -> bool) -> bool {
    let by_words = |kind: &EffectKind| matches!(kind, EffectKind::Writes(word) if is_kind(word));
    call.meaning.effects.iter().any(|effect| by_words(&effect.kind))
        || call.redirects.iter().any(|redirect| {
            matches!(&redirect.target, RedirectTarget::Word(word) if is_kind(word))
                && !matches!(
                    redirect.operator,
                    RedirectOperator::Read | RedirectOperator::HereString | RedirectOperator::HereDocument
                )
        })
}

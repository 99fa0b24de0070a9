//! Programs that run a command, a script or a module in an environment of Python: `uv run`, `hatch run`.

use super::super::collector::{Collector, with_text};
use super::super::form::Entry;
use super::super::form::Role;
use super::super::{Canonical, EffectKind, read};
use super::{module_arguments, python_module};
use shellgate_syntax::Word;

/// Endings of files that are given to Python instead of being started.
const SCRIPT_ENDINGS: [&str; 4] = [".py", ".pyw", ".pyc", ".pyz"];

/// The command that the call runs, as the table has read it.
fn command(collector: &Collector) -> Option<Vec<Word>> {
    collector.meaning.effects.iter().rev().find_map(|effect| match &effect.kind {
        EffectKind::Argv { words, .. } => Some(words.clone()),
        _ => None,
    })
}

/// Reads `uv run TARGET`: a script, an address or a folder of one, standard input as `-`, or else a command.
pub(crate) fn uv_run(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    let Some(command) = command(collector) else { return };
    let Some((target, arguments)) = command.split_first() else { return };
    let has = |name: &str| {
        let mut parts = collector.meaning.canonical.iter();
        parts.any(|part| matches!(part, Canonical::Option(given, _) if given == name))
    };
    let lead = target.value.lead().to_ascii_lowercase();
    let is_script = SCRIPT_ENDINGS.iter().any(|ending| lead.ends_with(ending))
        || lead == "-"
        || lead.contains("://")
        || lead.ends_with('/')
        || matches!(lead.as_str(), "." | "..");
    if has("-m") {
        python_module(target, collector);
        if let Some(module) = target.value.known() {
            module_arguments(module, arguments, collector);
        }
    } else if is_script || has("-s") || has("--gui-script") {
        collector.role(Role::Script, target, "python");
    }
}

/// Reads `hatch run ENVIRONMENT:COMMAND`.
pub(crate) fn hatch_run(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    let Some(command) = command(collector) else { return };
    let Some((first, rest)) = command.split_first() else { return };
    if let Some((_, name)) = first.value.known().and_then(|text| text.rsplit_once(':')) {
        let inner: Vec<Word> = [with_text(first, name)].into_iter().chain(rest.iter().cloned()).collect();
        collector.runs(&inner, false);
    }
}

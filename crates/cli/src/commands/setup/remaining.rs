//! What stays switched in an agent after a set-up was taken back.
//!
//! Without a note nobody knows who switched it, so it stays. But an agent that has lost shellgate and has no shell of its
//! own either runs no command at all: that is said.

use super::agent::{Agent, Switch};
use super::file::{Owner, SettingsFile};
use super::plan::{self, Change};
use crate::output::escape;

/// A sentence for each setting that will still be there. `changes`: what is to be done before.
pub(super) fn remaining_settings(agent: &Agent, owner: Owner, changes: &[Change]) -> Vec<String> {
    let off = format!("{}'s own shell tool is still switched off", agent.title);
    let trusts = format!("{} still calls shellgate without a question of its own", agent.title);
    let mut sentences = Vec::new();
    for (switch, what, then) in
        [(&agent.shell_off, off, "to have that shell back"), (&agent.trust, trusts, "to be asked again")]
    {
        let (file, settings) = match switch {
            Switch::Here(settings) => (&agent.file, settings),
            Switch::Elsewhere(file, settings) => (file, settings),
            // That goes with the entry, or was never there.
            Switch::Entry(_) | Switch::No(_) => continue,
        };
        let Ok(path) = plan::path(agent, file, owner) else { continue };
        let text = match changes.iter().find(|change| change.file.path == path) {
            Some(change) => change.after.clone(),
            None => SettingsFile::read(path.clone(), owner).ok().and_then(|file| file.text),
        };
        let Some(values) = text.and_then(|text| file.format.read(text.trim_start_matches('\u{feff}')).ok())
        else {
            continue;
        };
        for setting in settings.iter().filter(|setting| !setting.step().would_change(&values)) {
            let (key, path) = (setting.path.join("."), escape(&path.display().to_string()));
            sentences.push(format!(
                "{what}: `{key}` in `{path}` {}. It isn't noted that `setup` did this: change it yourself {then}.",
                setting.wanted.description(),
            ));
        }
    }
    sentences
}

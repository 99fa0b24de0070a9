//! Settings that remain after a set-up was undone.
//!
//! Without a note, `setup` can't know whether it or the user changed a setting, so the setting stays. But an agent without
//! shellgate and with its own shell tool disabled can run no command at all, so the person is told.

use super::agent::{Agent, Switch};
use super::file::{Owner, SettingsFile};
use super::plan::{self, Change};
use crate::output::escape;

/// A sentence for each setting that remains after `changes`.
pub(super) fn remaining_settings(agent: &Agent, owner: Owner, changes: &[Change]) -> Vec<String> {
    let off = format!("{}'s own shell tool is still disabled", agent.title);
    let trusts = format!("{} still calls shellgate without asking you", agent.title);
    let mut sentences = Vec::new();
    for (switch, what, then) in
        [(&agent.shell_off, off, "to enable the tool"), (&agent.trust, trusts, "to be asked again")]
    {
        let (file, settings) = match switch {
            Switch::Here(settings) => (&agent.file, settings),
            Switch::Elsewhere(file, settings) => (file, settings),
            // These are part of the entry, or were never set.
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
                "{what}: `{key}` in `{path}` {}. There is no note that `setup` did this: change it yourself {then}.",
                setting.wanted.description(),
            ));
        }
    }
    sentences
}

//! Loading: every layer is read once, in order, and the result merged.

use std::path::{Path, PathBuf};

use super::{
    Sources, Trust,
    change::{Layer, To},
    file::{self, Place},
    json, merge,
    text::Text,
    toml, untrusted,
};
use crate::{Settings, SettingsError};

impl Settings {
    /// Reads all layers and merges them.
    pub fn load(sources: &Sources) -> Result<Self, SettingsError> {
        let above = Above::read(sources)?;
        above.with_project(sources, sources.project.as_deref())
    }

    /// The same, when the root isn't known yet and a layer may say it: `choose` gets the
    /// `workspace.working_directory` of all layers but the project's, and returns the root, whose project file is
    /// read then. `sources.project` doesn't count.
    pub fn load_for_root(
        sources: &Sources,
        choose: impl FnOnce(Option<&Path>) -> PathBuf,
    ) -> Result<(PathBuf, Self), SettingsError> {
        let above = Above::read(sources)?;
        let root = choose(above.working_directory());
        let settings = above.with_project(sources, Some(&root.join(super::PROJECT_FILE)))?;
        Ok((root, settings))
    }
}

/// The layers that need no project: those before its file, and those after.
struct Above {
    before: Vec<Layer>,
    after: Vec<Layer>,
}

impl Above {
    fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let mut above = Self { before: Vec::new(), after: Vec::new() };
        for path in [&sources.system, &sources.user].into_iter().flatten() {
            above.before.extend(layer(path, Place::Standard, sources)?);
        }
        for path in &sources.extra {
            above.after.extend(layer(path, Place::Named, sources)?);
        }
        Ok(above)
    }

    fn working_directory(&self) -> Option<&Path> {
        let changes = self.before.iter().chain(&self.after).flatten();
        let mut folders = changes.filter_map(|change| match &change.to {
            To::Folder(_, folder) => Some(folder.as_deref()),
            _ => None,
        });
        folders.next_back().flatten()
    }

    fn with_project(self, sources: &Sources, project: Option<&Path>) -> Result<Settings, SettingsError> {
        let project = project.map(|path| project_layer(path, sources)).transpose()?.flatten();
        let mut settings = Settings::default();
        for layer in self.before {
            merge::trusted(&mut settings, layer);
        }
        match project {
            Some((layer, true)) => merge::trusted(&mut settings, layer),
            Some((layer, false)) => untrusted::untrusted(&mut settings, layer),
            None => {}
        }
        for layer in self.after {
            merge::trusted(&mut settings, layer);
        }
        sources.flags.apply(&mut settings)?;
        crate::unbuilt::add_notices(&mut settings);
        Ok(settings)
    }
}

/// The project's file, and whether it is trusted. What is hashed is what is read.
fn project_layer(path: &Path, sources: &Sources) -> Result<Option<(Layer, bool)>, SettingsError> {
    let Some(bytes) = file::bytes(path, Place::Project)? else { return Ok(None) };
    let trusted = match &sources.trust {
        Trust::Trusted => true,
        Trust::Untrusted => false,
        Trust::Recorded(store) => store.is_trusted(path, &bytes),
    };
    let layer = toml::read(&Text::new(path, bytes)?, sources.home.as_deref())?;
    Ok(Some((layer, trusted)))
}

/// What a project's file says, to the letter; `None` if there is none.
pub fn project_file(path: &Path) -> Result<Option<Vec<u8>>, SettingsError> {
    file::bytes(path, Place::Project)
}

fn layer(path: &Path, place: Place, sources: &Sources) -> Result<Option<Layer>, SettingsError> {
    let Some(text) = file::read(path, place)? else { return Ok(None) };
    // Other agents' files are read only where someone names them.
    if place == Place::Named && json::is_json(path) {
        json::read(&text).map(Some)
    } else {
        toml::read(&text, sources.home.as_deref()).map(Some)
    }
}

//! Loading: each layer is read once, in order, and the layers are merged.

use std::path::{Path, PathBuf};

use super::{
    Sources, Trust,
    change::{Layer, NewValue},
    file::{self, Place},
    json, merge,
    text::Text,
    toml, untrusted,
};
use crate::{Settings, SettingsError};

impl Settings {
    /// Reads all layers and merges them.
    pub fn load(sources: &Sources) -> Result<Self, SettingsError> {
        let others = OtherLayers::read(sources)?;
        others.merge_with_project(sources, sources.project.as_deref())
    }

    /// Reads all layers and merges them when the root isn't known yet. `choose` gets the `workspace.working_directory` of
    /// all layers except the project's, and returns the root. Then the root's project file is read; `sources.project` is
    /// ignored.
    pub fn load_for_root(
        sources: &Sources,
        choose: impl FnOnce(Option<&Path>) -> PathBuf,
    ) -> Result<(PathBuf, Self), SettingsError> {
        let others = OtherLayers::read(sources)?;
        let root = choose(others.working_directory());
        let settings = others.merge_with_project(sources, Some(&root.join(super::PROJECT_FILE)))?;
        Ok((root, settings))
    }
}

/// All file layers except the project's: those before it and those after it.
struct OtherLayers {
    before: Vec<Layer>,
    after: Vec<Layer>,
}

impl OtherLayers {
    fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let mut layers = Self { before: Vec::new(), after: Vec::new() };
        for path in [&sources.system, &sources.user].into_iter().flatten() {
            layers.before.extend(read_layer(path, Place::Standard, sources)?);
        }
        for path in &sources.extra {
            layers.after.extend(read_layer(path, Place::Named, sources)?);
        }
        Ok(layers)
    }

    fn working_directory(&self) -> Option<&Path> {
        let changes = self.before.iter().chain(&self.after).flatten();
        let mut folders = changes.filter_map(|change| match &change.value {
            NewValue::Folder(_, folder) => Some(folder.as_deref()),
            _ => None,
        });
        folders.next_back().flatten()
    }

    fn merge_with_project(
        self,
        sources: &Sources,
        project: Option<&Path>,
    ) -> Result<Settings, SettingsError> {
        let project = project.map(|path| read_project_layer(path, sources)).transpose()?.flatten();
        let mut settings = Settings::default();
        for layer in self.before {
            merge::apply_trusted(&mut settings, layer);
        }
        match project {
            Some((layer, true)) => merge::apply_trusted(&mut settings, layer),
            Some((layer, false)) => untrusted::apply_untrusted(&mut settings, layer),
            None => {}
        }
        for layer in self.after {
            merge::apply_trusted(&mut settings, layer);
        }
        sources.flags.apply(&mut settings)?;
        crate::unbuilt::add_notices(&mut settings);
        Ok(settings)
    }
}

/// Reads the project's file, and decides whether it is trusted. Both use the same bytes.
fn read_project_layer(path: &Path, sources: &Sources) -> Result<Option<(Layer, bool)>, SettingsError> {
    let Some(bytes) = file::read_bytes(path, Place::Project)? else { return Ok(None) };
    let trusted = match &sources.trust {
        Trust::Trusted => true,
        Trust::Untrusted => false,
        Trust::Recorded(store) => store.is_trusted(path, &bytes),
    };
    let layer = toml::read(&Text::new(path, bytes)?, sources.home.as_deref())?;
    Ok(Some((layer, trusted)))
}

/// The exact content of a project's file. `None`: there is no file.
pub fn project_file(path: &Path) -> Result<Option<Vec<u8>>, SettingsError> {
    file::read_bytes(path, Place::Project)
}

fn read_layer(path: &Path, place: Place, sources: &Sources) -> Result<Option<Layer>, SettingsError> {
    let Some(text) = file::read_text(path, place)? else { return Ok(None) };
    // Other agents' files are read only if they are named with `--config`.
    if place == Place::Named && json::is_json(path) {
        json::read(&text).map(Some)
    } else {
        toml::read(&text, sources.home.as_deref()).map(Some)
    }
}

//! Loading: each layer is read once, in order, and the layers are merged.

use std::path::{Path, PathBuf};

use super::{
    ProjectSearch, Sources, Trust,
    change::{Layer, NewValue},
    file::{self, Place},
    json, merge,
    text::Text,
    toml::{self, Folders},
    untrusted,
};
use crate::{Settings, SettingsError};

/// Settings with the root that they were loaded for, and the files that were looked for.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The root. It is without links if it exists.
    pub root: PathBuf,
    /// What named the root.
    pub root_source: RootSource,
    /// The settings.
    pub settings: Settings,
    /// The files of all layers, in order. A project's file has an entry for each place that was looked at.
    pub files: Vec<LayerFile>,
}

/// What named the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootSource {
    /// The caller.
    Caller,
    /// `workspace.working_directory` of a layer other than the project's.
    Settings,
    /// `workspace.working_directory` of the trusted project file.
    Project,
    /// Nothing; it is the caller's default.
    Default,
}

/// A place of a settings file, and what was found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerFile {
    /// The layer.
    pub layer: LayerName,
    /// The place.
    pub path: PathBuf,
    /// What was found.
    pub state: LayerState,
}

/// The layers that are files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerName {
    /// The machine's file.
    System,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// A file named with `--config`.
    Named,
}

impl LayerName {
    /// The word that people and programs read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "machine",
            Self::User => "user",
            Self::Project => "project",
            Self::Named => "--config",
        }
    }
}

/// What was found at the place of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerState {
    /// There is no file.
    Absent,
    /// It was read, and all of it is in force.
    Read,
    /// It was read, and can only make settings stricter.
    Untrusted,
}

impl LayerState {
    /// The word that people and programs read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Read => "read",
            Self::Untrusted => "untrusted",
        }
    }
}

impl Settings {
    /// Reads all layers and merges them.
    pub fn load(sources: &Sources) -> Result<Self, SettingsError> {
        let others = OtherLayers::read(sources)?;
        let project = sources.project.as_deref().map(|path| ProjectLayer::read(path, sources));
        others.merge(project.transpose()?.flatten(), sources)
    }

    /// The settings that a text would give as the user's file, alone. `path`: its place, for errors. With this a change is
    /// checked before it is written.
    pub fn of_text(path: &Path, text: &str, home: Option<&Path>) -> Result<Self, SettingsError> {
        let text = Text::new(path, text.as_bytes().to_vec())?;
        let layer = toml::read(&text, Folders { home, project: None })?;
        let mut settings = Self::default();
        merge::apply_trusted(&mut settings, layer);
        Ok(settings)
    }

    /// Reads all layers and merges them when the root isn't known yet. It is `named`, else `workspace.working_directory` of
    /// the last layer that has one, else `default`. The project file is looked for from the root that the other layers name;
    /// if it is trusted, it may name another root. `sources.project` is ignored.
    pub fn load_for_root(
        sources: &Sources,
        named: Option<PathBuf>,
        default: impl FnOnce() -> PathBuf,
    ) -> Result<Loaded, SettingsError> {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let others = OtherLayers::read(sources)?;
        let configured = working_directory(others.before.iter().chain(&others.after)).flatten();
        let is_set_later = working_directory(&others.after).is_some();
        let (mut root, mut root_source) = match (named, configured) {
            (Some(named), _) => (real(named), RootSource::Caller),
            (None, Some(configured)) => (real(configured.to_owned()), RootSource::Settings),
            (None, None) => (real(default()), RootSource::Default),
        };
        let search = ProjectSearch::new(&root, sources.home.as_deref());
        let project = search.found.as_deref().map(|path| ProjectLayer::read(path, sources));
        let project = project.transpose()?.flatten();
        if let Some(ProjectLayer { layer, trusted: true }) = &project
            && root_source != RootSource::Caller
            && !is_set_later
            && let Some(Some(folder)) = working_directory([layer])
        {
            (root, root_source) = (real(folder.to_owned()), RootSource::Project);
        }
        let mut files = others.files.clone();
        let after = files.iter().position(|file| file.layer == LayerName::Named).unwrap_or(files.len());
        let places = search.places.iter().map(|path| {
            let found = project.as_ref().filter(|_| search.found.as_ref() == Some(path));
            let state = match found {
                None => LayerState::Absent,
                Some(ProjectLayer { trusted: true, .. }) => LayerState::Read,
                Some(ProjectLayer { trusted: false, .. }) => LayerState::Untrusted,
            };
            LayerFile { layer: LayerName::Project, path: path.clone(), state }
        });
        files.splice(after..after, places.collect::<Vec<_>>());
        Ok(Loaded { root, root_source, settings: others.merge(project, sources)?, files })
    }
}

/// All file layers except the project's: those before it and those after it.
struct OtherLayers {
    before: Vec<Layer>,
    after: Vec<Layer>,
    files: Vec<LayerFile>,
}

impl OtherLayers {
    fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let mut layers = Self { before: Vec::new(), after: Vec::new(), files: Vec::new() };
        let standard = [(LayerName::System, &sources.system), (LayerName::User, &sources.user)];
        for (name, path) in standard {
            let Some(path) = path else { continue };
            let layer = read_layer(path, Place::Standard, sources)?;
            layers.note(name, path, layer.is_some());
            layers.before.extend(layer);
        }
        for path in &sources.extra {
            let layer = read_layer(path, Place::Named, sources)?;
            layers.note(LayerName::Named, path, layer.is_some());
            layers.after.extend(layer);
        }
        Ok(layers)
    }

    fn note(&mut self, layer: LayerName, path: &Path, is_read: bool) {
        let state = if is_read { LayerState::Read } else { LayerState::Absent };
        self.files.push(LayerFile { layer, path: path.to_owned(), state });
    }

    fn merge(self, project: Option<ProjectLayer>, sources: &Sources) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        for layer in self.before {
            merge::apply_trusted(&mut settings, layer);
        }
        match project {
            Some(ProjectLayer { layer, trusted: true }) => merge::apply_trusted(&mut settings, layer),
            Some(ProjectLayer { layer, trusted: false }) => untrusted::apply_untrusted(&mut settings, layer),
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

/// The `workspace.working_directory` of the last layer that has the key. An empty one names no folder.
fn working_directory<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> Option<Option<&'a Path>> {
    let folders = layers.into_iter().flatten().filter_map(|change| match &change.value {
        NewValue::Folder(_, folder) => Some(folder.as_deref()),
        _ => None,
    });
    folders.last()
}

/// The project's file, and whether a person trusts it. Both are from the same bytes.
struct ProjectLayer {
    layer: Layer,
    trusted: bool,
}

impl ProjectLayer {
    fn read(path: &Path, sources: &Sources) -> Result<Option<Self>, SettingsError> {
        let Some(bytes) = file::read_bytes(path, Place::Project)? else { return Ok(None) };
        let trusted = match &sources.trust {
            Trust::Trusted => true,
            Trust::Untrusted => false,
            Trust::Recorded(store) => store.is_trusted(path, &bytes),
        };
        let folders = Folders { home: sources.home.as_deref(), project: path.parent() };
        let layer = toml::read(&Text::new(path, bytes)?, folders)?;
        Ok(Some(Self { layer, trusted }))
    }
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
        toml::read(&text, Folders { home: sources.home.as_deref(), project: None }).map(Some)
    }
}

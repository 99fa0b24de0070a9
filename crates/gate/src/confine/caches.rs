//! Caches of tools: commands can write them in the mode `workspace`.

use std::ffi::OsStr;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use tracing::debug;

use super::list;
use crate::sys::shell;

const CACHES: &str = include_str!("caches.txt");

/// A cache of a tool.
#[derive(Debug)]
pub(super) struct Cache {
    /// The tool, or `-`.
    program: &'static str,
    is_folder: bool,
    /// Where it is. It need not exist, and may be a link.
    pub(super) path: PathBuf,
}

/// The caches in `home`.
pub(super) fn named(home: &Path) -> Vec<Cache> {
    let rows = list::entries(CACHES).filter_map(|line| line.split_once(' '));
    let caches = rows.flat_map(|(program, path)| {
        let path = path.trim_start();
        let named = list::named(path.trim_end_matches('/'), Some(home));
        named.into_iter().map(move |named| Cache { program, is_folder: path.ends_with('/'), path: named })
    });
    caches.collect()
}

/// Makes caches that don't exist, each where it was found, if their program is on `search_path` and the home folder is ours:
/// root makes nothing in the home folder of another user.
pub(super) fn make_missing<'a>(
    caches: impl Iterator<Item = (&'a Cache, &'a PathBuf)>,
    home: &Path,
    search_path: Option<&OsStr>,
) {
    let is_ours = home.parent().is_some()
        && home.metadata().is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
    let mut known: Option<(&str, bool)> = None;
    let mut is_on_path = |program| match known {
        Some((last, found)) if last == program => found,
        _ => {
            let found = program != "-" && shell::find(program, search_path, home).is_ok();
            known.insert((program, found)).1
        }
    };
    for (cache, path) in caches.filter(|(_, path)| is_ours && path.symlink_metadata().is_err()) {
        if is_on_path(cache.program)
            && let Err(error) = make(path, cache.is_folder)
        {
            debug!(path = %path.display(), %error, "a cache can't be made");
        }
    }
}

fn make(cache: &Path, is_folder: bool) -> std::io::Result<()> {
    let folder = if is_folder { Some(cache) } else { cache.parent() };
    if let Some(folder) = folder {
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    }
    if !is_folder {
        std::fs::File::create_new(cache)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn caches_of_programs_on_path_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let (home, programs) = (folder.path().join("home"), folder.path().join("bin"));
        for folder in [&home, &programs] {
            std::fs::create_dir(folder).unwrap();
        }
        let npm = programs.join("npm");
        std::fs::write(&npm, "").unwrap();
        std::fs::set_permissions(&npm, std::fs::Permissions::from_mode(0o755)).unwrap();
        let caches = named(&home);
        make_missing(caches.iter().map(|cache| (cache, &cache.path)), &home, Some(programs.as_os_str()));
        assert!(home.join(".npm/_cacache").is_dir());
        assert!(!home.join(".cargo").exists() && !home.join(".cache/Cypress").exists());
    }

    #[test]
    fn the_list_is_of_programs_and_paths() {
        for line in list::entries(CACHES) {
            let (program, path) = line.split_once(' ').unwrap();
            assert!(!program.contains('/') && path.trim_start().starts_with("~/"), "{line}");
        }
    }
}

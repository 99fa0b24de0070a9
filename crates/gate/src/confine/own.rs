//! What belongs to shellgate and its user, whatever the settings open.

use std::path::{Path, PathBuf};

use shellgate_settings::Sandbox;

use super::held::Held;
use super::{Places, UNREADABLE, list};

/// Folders of the system: temporary files don't belong there.
const SYSTEM: [&str; 12] =
    ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/opt", "/proc", "/run", "/sbin", "/sys", "/usr"];

/// Holds what decides about the next command: shellgate's settings, who writes them chooses its sandbox; and every link on the way
/// to them, to the state folder and to credentials. Returns what can't be read. None of it needs to exist.
pub(super) fn hold(held: &mut Held, sandbox: &Sandbox, places: &Places<'_>) -> Vec<PathBuf> {
    let Places { home, other_home, state, state_name, settings, .. } = *places;
    for place in settings {
        held.settings(place);
    }
    // Where `HOME` leads, the next command finds its settings.
    for name in [state_name.map(Path::to_owned), std::env::home_dir()].into_iter().flatten() {
        held.links_to(&name);
    }
    let homes = [home, other_home].into_iter().flatten();
    let names = homes.flat_map(|home| list::named(UNREADABLE, Some(home)));
    let own = sandbox.unreadable.iter().flat_map(|path| list::named(&path.value, home));
    let mut unreadable: Vec<PathBuf> = names.chain(own).filter_map(|name| held.unreadable(&name)).collect();
    unreadable.push(state.to_owned());
    unreadable
}

/// Whether `TMPDIR` may be written as a whole: it is no folder of the system, and holds no home folder.
pub(super) fn is_for_temporary_files(temp: &Path, home: Option<&Path>) -> bool {
    temp.parent().is_some()
        && !SYSTEM.iter().any(|folder| temp.starts_with(folder))
        && !home.is_some_and(|home| home.starts_with(temp))
        && temp != Path::new("/var")
        && temp != Path::new("/home")
}

/// `TMPDIR`, if commands in `root` may write all of it. One that passes a link which they may have made is none.
pub(crate) fn temporary_folder(root: &Path) -> Option<PathBuf> {
    let temp = PathBuf::from(std::env::var_os("TMPDIR")?);
    let temp = list::without_links_of_commands(&temp, &[root.to_owned(), PathBuf::from("/tmp")])?;
    is_for_temporary_files(&temp, std::env::home_dir().as_deref()).then_some(temp)
}

/// The home folder that the system has for us. `HOME` may name another.
pub(crate) fn home_of_user() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let home = users.lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        (fields.next() == Some(&user)).then(|| fields.nth(2)).flatten()
    });
    Path::new(home?).canonicalize().ok().filter(|home| home.parent().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_or_system_folder_is_not_for_temporary_files() {
        let is = |temp: &str| is_for_temporary_files(Path::new(temp), Some(Path::new("/home/me")));
        assert!(is("/var/tmp") && is("/home/me/tmp") && is("/scratch"));
        assert!(
            !is("/") && !is("/home/me") && !is("/home") && !is("/etc") && !is("/usr/share") && !is("/var")
        );
    }
}

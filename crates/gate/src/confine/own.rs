//! What belongs to shellgate and its user, whatever the settings open.

use std::path::{Path, PathBuf};

use shellgate_exec::{Confinement, Protected};

use super::list;

/// Folders of the system: temporary files don't belong there.
const SYSTEM: [&str; 12] =
    ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/opt", "/proc", "/run", "/sbin", "/sys", "/usr"];

/// Protects shellgate's settings where a command could write them: who writes them chooses the sandbox of the next
/// command. `settings`: files and folders; they need not exist.
pub(super) fn protect_settings(confinement: &mut Confinement, settings: &[PathBuf]) {
    for place in settings.iter().flat_map(|place| [Some(place.clone()), list::without_links(place)]).flatten()
    {
        for root in &confinement.writable {
            let path = match place.strip_prefix(root) {
                Ok(below) if !below.as_os_str().is_empty() => below.to_owned(),
                Ok(_) => PathBuf::from("*"),
                Err(_) if root.starts_with(&place) => PathBuf::from("*"),
                Err(_) => continue,
            };
            let protected = Protected { root: root.clone(), path };
            if !confinement.protected.contains(&protected) {
                confinement.protected.push(protected);
            }
        }
    }
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
    fn settings_are_protected_in_every_writable_place() {
        let protected = |writable: &[&str], settings: &str| {
            let writable = writable.iter().map(PathBuf::from).collect();
            let mut confinement = Confinement { writable, ..Confinement::default() };
            protect_settings(&mut confinement, &[settings.into()]);
            confinement.protected.into_iter().map(|one| (one.root, one.path)).collect::<Vec<_>>()
        };
        let of = |root: &str, path: &str| (PathBuf::from(root), PathBuf::from(path));
        assert_eq!(protected(&["/r", "/t"], "/r/cfg/sg"), [of("/r", "cfg/sg")]);
        assert_eq!(protected(&["/cfg/sg"], "/cfg/sg"), [of("/cfg/sg", "*")]);
        assert_eq!(protected(&["/cfg/sg/below"], "/cfg/sg"), [of("/cfg/sg/below", "*")]);
        assert_eq!(protected(&["/r", "/cfg"], "/other/sg"), []);
    }

    #[test]
    fn a_home_or_system_folder_is_not_for_temporary_files() {
        let is = |temp: &str| is_for_temporary_files(Path::new(temp), Some(Path::new("/home/me")));
        assert!(is("/var/tmp") && is("/home/me/tmp") && is("/scratch"));
        assert!(
            !is("/") && !is("/home/me") && !is("/home") && !is("/etc") && !is("/usr/share") && !is("/var")
        );
    }
}

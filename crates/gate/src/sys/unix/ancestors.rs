//! The keeper above us, and how it is called.

/// The short name of every keeper.
const KEEPER: &str = "shellgate-keep";
/// How deep processes are nested at most; a loop can't be, but `/proc` changes while it is read.
const DEEPEST: u32 = 4096;

/// The name of the socket that the outermost keeper above us listens on.
pub(crate) fn socket_of_keeper() -> Option<String> {
    let keeper = outermost()?;
    let sockets = std::fs::read_to_string(format!("/proc/{keeper}/net/unix")).ok()?;
    let open = std::fs::read_dir(format!("/proc/{keeper}/fd")).ok()?.flatten();
    let open: Vec<_> = open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect();
    sockets.lines().find_map(|line| {
        // Only one that listens has a name; its number stands before that.
        let (before, path) = line.split_once('/')?;
        let number = before.split_ascii_whitespace().next_back()?;
        let own = format!("socket:[{number}]");
        let name = path.rsplit('/').next()?;
        open.iter().any(|link| link.as_os_str() == own.as_str()).then(|| name.to_owned())
    })
}

fn outermost() -> Option<u32> {
    let mut pid = std::process::id();
    let mut outermost = None;
    for _ in 0..DEEPEST {
        let Some((parent, name)) = parent_and_name(pid) else { break };
        if name == KEEPER && pid != std::process::id() {
            outermost = Some(pid);
        }
        pid = parent;
    }
    outermost
}

fn parent_and_name(pid: u32) -> Option<(u32, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything.
    let (before, fields) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once('(')?;
    Some((fields.split(' ').nth(1)?.parse().ok()?, name.to_owned()))
}

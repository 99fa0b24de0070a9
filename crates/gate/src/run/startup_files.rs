//! Keeps bash from its start-up files.
//!
//! `bash -c` reads `~/.bashrc` where it takes itself for a shell that `sshd` or `rshd` has just started: `SSH_CLIENT` is set, or
//! its standard input is a socket, and `SHLVL` says that it is the outermost shell. Agents on remote machines are started like
//! that. The file could give a name that was judged another meaning.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;

/// Variables by which bash knows `sshd`.
const OF_SSHD: [&[u8]; 2] = [b"SSH_CLIENT=", b"SSH2_CLIENT="];

const LEVEL: &[u8] = b"SHLVL=";

/// The level of a shell that was started by another one.
const INNER: &CStr = c"SHLVL=1";

/// Bash takes a larger number for a mistake, and starts again at 1.
const MAX_LEVEL: u32 = 900;

/// Sets `SHLVL` where bash would read its start-up file.
pub(super) fn keep_from(environment: &mut Vec<CString>, stdin: Option<&OwnedFd>) {
    let is_remote =
        environment.iter().any(|entry| OF_SSHD.iter().any(|name| entry.to_bytes().starts_with(name)))
            || stdin.is_some_and(is_socket);
    let level = |entry: &CString| entry.to_str().ok()?.strip_prefix("SHLVL=")?.parse::<u32>().ok();
    if is_remote && !environment.iter().filter_map(level).any(|level| (1..=MAX_LEVEL).contains(&level)) {
        environment.retain(|entry| !entry.to_bytes().starts_with(LEVEL));
        environment.push(INNER.to_owned());
    }
}

fn is_socket(stdin: &OwnedFd) -> bool {
    rustix::fs::fstat(stdin).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(environment: &[&str], stdin: Option<OwnedFd>) -> Vec<String> {
        let mut environment = environment.iter().map(|entry| CString::new(*entry).unwrap()).collect();
        keep_from(&mut environment, stdin.as_ref());
        environment.into_iter().map(|entry| entry.into_string().unwrap()).collect()
    }

    #[test]
    fn the_level_is_set_where_it_is_looked_at() {
        assert_eq!(kept(&["A=b"], None), ["A=b"]);
        assert_eq!(kept(&["A=b", "SHLVL=0"], None), ["A=b", "SHLVL=0"]);
        assert_eq!(kept(&["SSH_CLIENT=x", "SHLVL=2"], None), ["SSH_CLIENT=x", "SHLVL=2"]);
        for level in ["0", "-1", "x", "", "5000"] {
            let level = format!("SHLVL={level}");
            assert_eq!(kept(&["SSH_CLIENT=x", &level], None), ["SSH_CLIENT=x", "SHLVL=1"]);
        }
        assert_eq!(kept(&["SSH2_CLIENT="], None), ["SSH2_CLIENT=", "SHLVL=1"]);
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(kept(&[], Some(socket.into())), ["SHLVL=1"]);
        let (pipe, _other) = std::io::pipe().unwrap();
        assert_eq!(kept(&[], Some(pipe.into())), Vec::<String>::new());
    }
}

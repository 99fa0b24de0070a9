//! A [`Confinement`] as a profile for Seatbelt, the sandbox of macOS.
//!
//! This is text made of data, so it is tested where the rest is. No macOS has read it yet, and nothing uses it yet. Of the
//! rules that match, the last one counts, so allowances come first, then what is taken away, then what is exposed again.
//!
//! What Seatbelt can't do: a private `/tmp` (it is read-only then), hiding other processes (only signals to them are
//! refused), a network of the session's own (its localhost is the machine's), and telling the session's Unix sockets from
//! others' (only granted ones can be reached).

use std::fmt::Write as _;
use std::path::Path;

use crate::confinement::{Confinement, Network, Protected, Readable, Temp};

/// What every program needs to start: itself, its libraries, facts about the machine, and a terminal.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.trustd.agent"))
(allow ipc-posix-sem ipc-posix-shm)
(allow pseudo-tty)
(allow file-ioctl (regex "^/dev/(tty|ttys[0-9]+|ptmx)$"))
(allow file-read* file-write*
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (subpath "/dev/fd")
  (regex "^/dev/ttys[0-9]+$"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))
(allow file-read-metadata)
"#;

/// Folders that are links on macOS. A profile names what they lead to.
const LINKS: [(&str, &str); 3] =
    [("/tmp", "/private/tmp"), ("/var", "/private/var"), ("/etc", "/private/etc")];

/// The profile of a confinement. `None`: a path in it is no text, and a profile is one.
#[must_use]
pub fn profile(confinement: &Confinement) -> Option<String> {
    let mut text = BASE.to_owned();
    match &confinement.readable {
        Readable::Everything => text.push_str("(allow file-read*)\n"),
        Readable::Only(paths) => {
            rule(&mut text, "allow file-read*", paths.iter().chain(&confinement.writable))?;
        }
    }
    let is_own = |path: &&std::path::PathBuf| confinement.temp == Temp::Host || *path != Path::new("/tmp");
    rule(&mut text, "allow file-write*", confinement.writable.iter().filter(is_own))?;
    for protected in &confinement.protected {
        let _ = writeln!(text, "(deny file-write* (regex {}))", quoted(&pattern(protected)?));
    }
    rule(&mut text, "deny file-read* file-write*", &confinement.unreadable)?;
    rule(&mut text, "allow file-read*", confinement.exposed.iter().chain(&confinement.unlisted))?;
    for folder in &confinement.unlisted {
        let _ = writeln!(text, "(deny file-read-data (literal {}))", quoted(&real(folder)?));
    }
    let writable_again = confinement.exposed.iter().filter(|path| confinement.writable.contains(path));
    rule(&mut text, "allow file-write*", writable_again)?;
    match confinement.network {
        Network::Host => text.push_str("(allow network*)\n"),
        Network::Private => text.push_str(
            "(allow network* (local ip \"localhost:*\"))\n(allow network-outbound (remote ip \"localhost:*\"))\n",
        ),
    }
    text.push_str("(deny network-outbound (remote unix-socket))\n");
    for path in &confinement.sockets {
        let path = quoted(&real(path)?);
        let _ = writeln!(text, "(allow network-outbound (remote unix-socket (path-literal {path})))");
    }
    Some(text)
}

/// Adds a rule about these places and what is in them. No place: no rule.
fn rule<'a>(
    text: &mut String,
    verb: &str,
    paths: impl IntoIterator<Item = &'a std::path::PathBuf>,
) -> Option<()> {
    let places: Option<Vec<String>> = paths
        .into_iter()
        .map(|path| real(path).map(|path| format!("  (subpath {})", quoted(&path))))
        .collect();
    let places = places?;
    if !places.is_empty() {
        let _ = writeln!(text, "({verb}\n{})", places.join("\n"));
    }
    Some(())
}

/// A path as the kernel of macOS knows it.
fn real(path: &Path) -> Option<String> {
    let link = LINKS.iter().find_map(|(link, target)| {
        let rest = path.strip_prefix(link).ok()?;
        Some(if rest.as_os_str().is_empty() {
            Path::new(target).to_owned()
        } else {
            Path::new(target).join(rest)
        })
    });
    link.unwrap_or_else(|| path.to_owned()).to_str().map(str::to_owned)
}

/// A regular expression for a protected place and what is in it. Letters stand for both cases: most file systems of macOS
/// don't tell them apart.
fn pattern(protected: &Protected) -> Option<String> {
    let mut pattern = format!("^{}", escaped(&real(&protected.root)?, false));
    for part in &protected.path {
        let part = part.to_str()?;
        pattern.push('/');
        match part.strip_suffix('*') {
            Some(start) => pattern.push_str(&format!("{}[^/]*", escaped(start, true))),
            None => pattern.push_str(&escaped(part, true)),
        }
    }
    pattern.push_str("(/|$)");
    Some(pattern)
}

fn escaped(text: &str, both_cases: bool) -> String {
    text.chars().fold(String::new(), |mut pattern, character| {
        match character {
            letter if both_cases && letter.is_ascii_alphabetic() => {
                let (upper, lower) = (letter.to_ascii_uppercase(), letter.to_ascii_lowercase());
                pattern.extend(['[', upper, lower, ']']);
            }
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '$' | '|' | '\\' => {
                pattern.extend(['\\', character]);
            }
            plain => pattern.push(plain),
        }
        pattern
    })
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::PathBuf;

    use super::*;

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    /// What comes after the base.
    fn rules(confinement: &Confinement) -> String {
        profile(confinement).unwrap().strip_prefix(BASE).unwrap().to_owned()
    }

    #[test]
    fn a_workspace() {
        let confinement = Confinement {
            writable: paths(&["/Users/me/a \"b\"", "/tmp"]),
            unreadable: paths(&["/Users/me/.ssh", "/Users/me/.local/state/shellgate"]),
            exposed: paths(&["/Users/me/.ssh/key"]),
            unlisted: paths(&["/Users/me/.local/state/shellgate/spool"]),
            protected: vec![Protected { root: "/Users/me/a.b".into(), path: ".git/config*".into() }],
            sockets: paths(&["/var/run/docker.sock"]),
            ..Confinement::default()
        };
        insta::assert_snapshot!(rules(&confinement), @r#"
        (allow file-read*)
        (allow file-write*
          (subpath "/Users/me/a \"b\"")
          (subpath "/private/tmp"))
        (deny file-write* (regex "^/Users/me/a\\.b/\\.[Gg][Ii][Tt]/[Cc][Oo][Nn][Ff][Ii][Gg][^/]*(/|$)"))
        (deny file-read* file-write*
          (subpath "/Users/me/.ssh")
          (subpath "/Users/me/.local/state/shellgate"))
        (allow file-read*
          (subpath "/Users/me/.ssh/key")
          (subpath "/Users/me/.local/state/shellgate/spool"))
        (deny file-read-data (literal "/Users/me/.local/state/shellgate/spool"))
        (allow network*)
        (deny network-outbound (remote unix-socket))
        (allow network-outbound (remote unix-socket (path-literal "/private/var/run/docker.sock")))
        "#);
    }

    #[test]
    fn a_strict_sandbox() {
        let confinement = Confinement {
            writable: paths(&["/Users/me/a", "/tmp"]),
            readable: Readable::Only(paths(&["/usr", "/etc/hosts"])),
            network: Network::Private,
            temp: Temp::Private,
            ..Confinement::default()
        };
        insta::assert_snapshot!(rules(&confinement), @r#"
        (allow file-read*
          (subpath "/usr")
          (subpath "/private/etc/hosts")
          (subpath "/Users/me/a")
          (subpath "/private/tmp"))
        (allow file-write*
          (subpath "/Users/me/a"))
        (allow network* (local ip "localhost:*"))
        (allow network-outbound (remote ip "localhost:*"))
        (deny network-outbound (remote unix-socket))
        "#);
    }

    #[test]
    fn every_bracket_is_closed() {
        let text = profile(&Confinement::default()).unwrap();
        let count = |bracket| text.matches(bracket).count();
        assert_eq!(count('('), count(')'));
    }

    #[test]
    fn a_path_that_is_no_text_has_no_profile() {
        let path = PathBuf::from(std::ffi::OsString::from_vec(b"/a\xff".to_vec()));
        let confinement = Confinement { unreadable: vec![path], ..Confinement::default() };
        assert_eq!(profile(&confinement), None);
    }
}

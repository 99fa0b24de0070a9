//! What commands can reach of the user's secrets, by the settings in force.

use std::path::{Path, PathBuf};

use super::{Check, Health};
use crate::confine;
use crate::settings::{SandboxMode, Settings};

/// How many places a sentence names.
const MAX_NAMED: usize = 8;

/// Which credentials commands can read, and which sockets lead out.
pub(super) fn check(settings: Option<&Settings>) -> Option<Check> {
    let settings = settings?;
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let mut there: Vec<PathBuf> =
        confine::credentials(home.as_deref()).into_iter().filter(|path| is_readable(path)).collect();
    // The user's own first: they are the ones to worry about.
    there.sort_by_key(|path| !home.as_deref().is_some_and(|home| path.starts_with(home)));
    let shown = |path: &Path| match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    };
    let granted = settings.policy.rules.iter().flat_map(|rule| {
        let paths = rule.grants.read.iter().chain(&rule.grants.write).chain(&rule.grants.sockets);
        let variables = rule.grants.env.iter().map(|name| format!("${name}"));
        paths.cloned().chain(variables).map(|what| format!("{what} (`{}`)", rule.prefix))
    });
    let check = match settings.sandbox.mode {
        SandboxMode::Off if there.is_empty() => {
            Check::new("exposed", Health::Warning, "Commands are not confined.")
        }
        SandboxMode::Off => {
            let paths = named(there.iter().map(|path| shown(path)).collect());
            let said = format!("Commands are not confined: they can read {paths}.");
            Check::new("exposed", Health::Warning, said)
        }
        mode => {
            let hidden = match there.len() {
                0 => "There are no known credentials to hide".to_owned(),
                count => format!("The sandbox `{mode}` hides {count} places with credentials"),
            };
            let said = match named(granted.collect()).as_str() {
                "" => format!("{hidden}."),
                granted => format!("{hidden}. Rules grant {granted}."),
            };
            Check::new("exposed", Health::Ok, said)
        }
    };
    let is_off = settings.sandbox.mode == SandboxMode::Off;
    Some(if is_off { check.hint("`sandbox.mode = \"workspace\"` confines them") } else { check })
}

fn is_readable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

fn named(mut places: Vec<String>) -> String {
    let more = places.len().saturating_sub(MAX_NAMED);
    places.truncate(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", places.join(", "))
}

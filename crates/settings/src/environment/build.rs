//! Builds the environment of a command by the rules.

use std::{
    ffi::{OsStr, OsString},
    fmt,
};

use super::{pattern, rules::Rules, secrets, tables};
use crate::Inherit;

/// The environment of a command, and the variables that were left out of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuiltEnvironment {
    /// All variables, each name once, sorted by name.
    pub vars: Vec<(OsString, OsString)>,
    /// The variables that were left out, in the order in which they were found.
    pub hidden: Vec<HiddenVariable>,
}

/// A variable that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenVariable {
    /// Its name, with invalid UTF-8 replaced.
    pub name: String,
    /// The rule that left it out. It says nothing about the value except its kind.
    pub why: HiddenReason,
}

/// Why a variable was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenReason {
    /// Its name is on the list of variables that are never inherited.
    Never(&'static str),
    /// It is an exported shell function.
    Function,
    /// It isn't on the core list.
    NotCore,
    /// Its name looks like the name of a secret.
    SecretName(&'static str),
    /// Its value contains a secret of this kind.
    SecretValue(&'static str),
    /// The settings remove it.
    Removed,
    /// It can't be passed to a program: its name is empty or contains `=`, or there is a NUL byte.
    Impossible,
}

impl fmt::Display for HiddenReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never(pattern) => write!(out, "`{pattern}` is never inherited"),
            Self::Function => write!(out, "exported functions are never inherited"),
            Self::NotCore => write!(out, "not on the core list"),
            Self::SecretName(pattern) => write!(out, "named like a secret: `{pattern}`"),
            Self::SecretValue(kind) => write!(out, "contains a secret: {kind}"),
            Self::Removed => write!(out, "removed by `environment.remove`"),
            Self::Impossible => write!(out, "can't be passed to a program"),
        }
    }
}

/// Builds the environment of a command from the inherited variables.
pub fn build(inherited: impl IntoIterator<Item = (OsString, OsString)>, rules: &Rules) -> BuiltEnvironment {
    let mut built = BuiltEnvironment::default();
    for (name, value) in inherited {
        match why_hidden(&name, &value, rules) {
            None => built.vars.push((name, value)),
            Some(why) => built.hide(&name, why),
        }
    }
    // If a name occurs twice, programs find the first.
    built.vars.sort_by(|one, other| one.0.cmp(&other.0));
    built.vars.dedup_by(|later, first| later.0 == first.0);

    let quiet = tables::QUIET_VARIABLES.iter().copied().filter(|_| rules.quiet);
    let set = rules.set.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in quiet.chain(set) {
        built.set(name, value);
    }
    built.remove(&rules.remove);
    // A variable that was set to another value isn't hidden.
    let vars = &built.vars;
    built.hidden.retain(|hidden| position(vars, OsStr::new(&hidden.name)).is_err());
    built
}

/// Why an inherited variable is left out. `None`: it is passed on.
fn why_hidden(name: &OsStr, value: &OsStr, rules: &Rules) -> Option<HiddenReason> {
    let (name, value) = (name.as_encoded_bytes(), value.as_encoded_bytes());
    if !is_possible(name, value) {
        return Some(HiddenReason::Impossible);
    }
    if let Some((pattern, _)) =
        tables::NEVER_INHERITED.iter().find(|(pattern, _)| pattern::matches(pattern, name))
    {
        return Some(HiddenReason::Never(pattern));
    }
    if value.starts_with(tables::FUNCTION_VALUE.as_bytes()) {
        return Some(HiddenReason::Function);
    }
    if pattern::find(&rules.keep, name).is_some() {
        return None;
    }
    if rules.inherit == Inherit::Core && pattern::find(tables::CORE_VARIABLES, name).is_none() {
        return Some(HiddenReason::NotCore);
    }
    if rules.hide_secrets { secrets::detect(name, value) } else { None }
}

fn is_possible(name: &[u8], value: &[u8]) -> bool {
    !name.is_empty() && memchr::memchr2(b'=', 0, name).is_none() && memchr::memchr(0, value).is_none()
}

/// The index of a name among sorted variables, or the index at which it would be inserted.
fn position(vars: &[(OsString, OsString)], name: &OsStr) -> Result<usize, usize> {
    vars.binary_search_by(|(known, _)| known.as_os_str().cmp(name))
}

impl BuiltEnvironment {
    fn hide(&mut self, name: &OsStr, why: HiddenReason) {
        self.hidden.push(HiddenVariable { name: name.to_string_lossy().into_owned(), why });
    }

    fn set(&mut self, name: &str, value: &str) {
        if !is_possible(name.as_bytes(), value.as_bytes()) {
            self.hide(OsStr::new(name), HiddenReason::Impossible);
            return;
        }
        match position(&self.vars, OsStr::new(name)) {
            Ok(at) => {
                if let Some((_, known)) = self.vars.get_mut(at) {
                    *known = value.into();
                }
            }
            Err(at) => self.vars.insert(at, (name.into(), value.into())),
        }
    }

    fn remove(&mut self, patterns: &[String]) {
        let removed =
            |(name, _): &mut (OsString, OsString)| pattern::find(patterns, name.as_encoded_bytes()).is_some();
        let gone: Vec<_> = self.vars.extract_if(.., removed).collect();
        for (name, _) in gone {
            self.hide(&name, HiddenReason::Removed);
        }
    }
}

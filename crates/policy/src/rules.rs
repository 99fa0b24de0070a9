//! Rules as data: what may run, what may not, and what happens with the rest.

use std::fmt;

use crate::effect::EffectName;

/// What happens with a command. The later variants are stricter: of two decisions, the greater counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It doesn't run.
    Deny,
}

impl Decision {
    /// All decisions.
    pub const ALL: &'static [Self] = &[Self::Allow, Self::Ask, Self::Deny];
    /// Their names, in the same order.
    pub const NAMES: &'static [&'static str] = &["allow", "ask", "deny"];

    /// The decision as programs and settings write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The decision of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|decision| decision.name() == name)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The commands that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// Every command.
    Everything,
    /// Commands that begin with these words; at least one, none of them empty.
    Words(Vec<String>),
    /// Commands of exactly these words. Only rules that allow have this: a rule that denies or asks covers longer commands too.
    Exactly(Vec<String>),
    /// Commands that begin with words like these; at least one, none of them empty. A `*` stands for one or more words, and
    /// inside a word for any characters. As the first word it stands for a program; a rule that allows is about the whole
    /// command then.
    Pattern(Vec<String>),
}

impl Prefix {
    /// The words that it has, with `*` among those of a pattern.
    pub(crate) fn words(&self) -> &[String] {
        match self {
            Self::Everything => &[],
            Self::Words(words) | Self::Exactly(words) | Self::Pattern(words) => words,
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("*"),
            Self::Words(words) | Self::Pattern(words) => f.write_str(&words.join(" ")),
            Self::Exactly(words) => write!(f, "exactly {}", words.join(" ")),
        }
    }
}

/// The prefix of a rule, and how people know the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The commands.
    pub prefix: Prefix,
    /// The rule as people know it, with the place where it is written: `exclude: rm (/etc/…:3:5)`.
    pub shown: String,
}

/// A rule of the long form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The commands.
    pub entry: Entry,
    /// What is to happen with them.
    pub decision: Decision,
    /// Why, in its author's words.
    pub reason: Option<String>,
    /// Commands that it isn't about: all of their words must be those of an entry.
    pub except: Vec<Prefix>,
}

/// A rule about what calls do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectRule {
    /// The rule as people know it, with the place where it is written.
    pub shown: String,
    /// What a call does.
    pub effect: EffectName,
    /// What it does it to: patterns of paths, or of hosts. Empty: anything.
    pub targets: Vec<String>,
    /// Targets that it isn't about.
    pub except: Vec<String>,
    /// What is to happen with the call.
    pub decision: Decision,
    /// Why, in its author's words.
    pub reason: Option<String>,
}

/// What happens with output that is redirected to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Redirects {
    /// A person is asked.
    Ask,
    /// Free inside the root; elsewhere a person is asked.
    InsideRoot,
    /// Free everywhere.
    Allow,
}

impl Redirects {
    /// All values, the strictest first.
    pub const ALL: &'static [Self] = &[Self::Ask, Self::InsideRoot, Self::Allow];
    /// Their names, in the same order.
    pub const NAMES: &'static [&'static str] = &["ask", "scope", "allow"];

    /// The value as settings write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::InsideRoot => "scope",
            Self::Allow => "allow",
        }
    }

    /// The value of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name)
    }
}

impl fmt::Display for Redirects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is allowed where no rule says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Reading is free.
    Cautious,
    /// Reading and work inside the root are free.
    Balanced,
    /// Everything but ruin is free.
    Open,
}

impl Preset {
    /// All presets, the strictest first.
    pub const ALL: &'static [Self] = &[Self::Cautious, Self::Balanced, Self::Open];

    /// The preset of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|preset| preset.name() == name)
    }

    /// The preset as settings write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cautious => "cautious",
            Self::Balanced => "balanced",
            Self::Open => "open",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// All rules of one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The allowlist. `None`: there is none. `Some` and empty: there is one, and it allows nothing.
    pub core: Option<Vec<Entry>>,
    /// What is denied, whatever else is said.
    pub exclude: Vec<Entry>,
    /// For what no rule covers, without an allowlist.
    pub default: Decision,
    /// For what no rule covers, with an allowlist.
    pub beyond_core: Decision,
    /// For `$( )`, backticks, `<( )` and `>( )` as such; what they run is judged besides.
    pub substitution: Decision,
    /// For output to files.
    pub redirects: Redirects,
    /// The long form.
    pub rules: Vec<Rule>,
    /// Rules about what calls do.
    pub effects: Vec<EffectRule>,
    /// What is allowed where no rule says anything.
    pub preset: Option<Preset>,
    /// Whether commands run in a sandbox, which holds code that can't be read inside the root.
    pub confined: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            core: None,
            exclude: Vec::new(),
            default: Decision::Ask,
            beyond_core: Decision::Deny,
            substitution: Decision::Allow,
            redirects: Redirects::Ask,
            rules: Vec::new(),
            effects: Vec::new(),
            preset: None,
            confined: false,
        }
    }
}

impl Rules {
    /// Whether a rule denies something or asks about it. Code that can't be read might do just that.
    pub(crate) fn restrict_something(&self) -> bool {
        !self.exclude.is_empty()
            || self.rules.iter().any(|rule| rule.decision != Decision::Allow)
            || self.effects.iter().any(|rule| rule.decision != Decision::Allow)
    }

    /// Whether there is something that may not run without a question, so that it matters what a text leads to.
    pub(crate) fn forbid_something(&self) -> bool {
        let allows_the_rest = match &self.core {
            Some(_) => !self.name_programs() || self.beyond_core == Decision::Allow,
            None => self.default == Decision::Allow || self.preset == Some(Preset::Open),
        };
        self.restrict_something() || !allows_the_rest
    }

    /// What happens with output to files: the preset may be more generous than the setting.
    pub(crate) fn output(&self) -> Redirects {
        match (self.preset, self.redirects) {
            (Some(Preset::Open), _) | (_, Redirects::Allow) => Redirects::Allow,
            (Some(Preset::Balanced), _) | (_, Redirects::InsideRoot) => Redirects::InsideRoot,
            (Some(Preset::Cautious) | None, Redirects::Ask) => Redirects::Ask,
        }
    }

    /// Whether code that can't be read is free: it runs in the sandbox, and the preset trusts that to hold it.
    pub(crate) fn frees_code(&self) -> bool {
        self.confined && self.preset == Some(Preset::Balanced)
    }

    /// Whether a rule denies programs. Code that can't be read might start them.
    pub(crate) fn deny_programs(&self) -> bool {
        !self.exclude.is_empty() || self.rules.iter().any(|rule| rule.decision == Decision::Deny)
    }

    /// Whether it doesn't matter what code does that can't be read: it is free, and nothing is forbidden that it could do.
    pub(crate) fn holds_any_code(&self) -> bool {
        self.frees_code() && !self.deny_programs()
    }

    /// Whether everything is free but ruin and credentials, so that no option can do more than is allowed.
    pub(crate) fn frees_everything(&self) -> bool {
        self.preset == Some(Preset::Open) && !self.restrict_something()
    }

    /// Whether only programs may run that rules name.
    #[must_use]
    pub fn name_programs(&self) -> bool {
        self.core.as_ref().is_some_and(|core| !core.iter().any(|entry| entry.prefix == Prefix::Everything))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for (decision, name) in Decision::ALL.iter().zip(Decision::NAMES) {
            assert_eq!((decision.name(), Decision::from_name(name)), (*name, Some(*decision)));
        }
        for (redirects, name) in Redirects::ALL.iter().zip(Redirects::NAMES) {
            assert_eq!((redirects.name(), Redirects::from_name(name)), (*name, Some(*redirects)));
        }
        assert_eq!((Decision::from_name("ALLOW"), Redirects::from_name("")), (None, None));
    }
}

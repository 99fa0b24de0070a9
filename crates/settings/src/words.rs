//! The values of settings with a fixed choice of words. Each such setting has an enum.
//!
//! A word knows how strict it is, so that a file that isn't trusted can move a setting only towards the strict end.
//! Words of equal strictness restrict different things (`read-only` and `strict`): neither may replace the other.

use std::fmt;

use shellgate_policy::{Decision, Redirects};

/// What every enum of words can do; lets the table of keys treat them alike.
pub trait Word: Copy + Sized + 'static {
    /// All words, in the order in which messages list them.
    const NAMES: &'static [&'static str];

    /// The word, as written in a file or after a flag.
    fn name(self) -> &'static str;

    /// Higher is stricter.
    fn strictness(self) -> u8;

    /// The value of the word `name`.
    fn from_name(name: &str) -> Option<Self>;
}

/// Choices as a sentence lists them: each in backticks, commas between.
pub(crate) struct Choices<'a>(pub(crate) &'a [&'a str]);

impl fmt::Display for Choices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if nth == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Defines an enum. Each line has a variant, its word and its strictness.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$line:meta])* $variant:ident = $word:literal, $strictness:literal;)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$line])* $variant,)+ }

        impl $name {
            /// All values, in the order of [`Self::NAMES`].
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// All words, in the order in which messages list them.
            pub const NAMES: &'static [&'static str] = &[$($word),+];
        }

        impl Word for $name {
            const NAMES: &'static [&'static str] = Self::NAMES;

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            fn strictness(self) -> u8 {
                match self { $(Self::$variant => $strictness,)+ }
            }

            fn from_name(name: &str) -> Option<Self> {
                match name { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

/// Makes a word of an enum that [`shellgate_policy`] defines: how strict each of its values is.
macro_rules! policy_words {
    ($name:ident: $($variant:ident = $strictness:literal),+) => {
        impl Word for $name {
            const NAMES: &'static [&'static str] = Self::NAMES;

            fn name(self) -> &'static str {
                Self::name(self)
            }

            fn strictness(self) -> u8 {
                match self { $(Self::$variant => $strictness,)+ }
            }

            fn from_name(name: &str) -> Option<Self> {
                Self::from_name(name)
            }
        }
    };
}

policy_words! { Decision: Allow = 0, Ask = 1, Deny = 2 }
policy_words! { Redirects: Allow = 0, InsideRoot = 1, Ask = 2 }

words! {
    /// The decision for `$( )`, backticks, `<( )` and `>( )`.
    Substitution {
        /// The command inside is judged like any other.
        Check = "check", 0;
        /// A person is asked, whatever is inside.
        Ask = "ask", 1;
        /// Refused, whatever is inside.
        Deny = "deny", 2;
    }
}

words! {
    /// What is allowed where no rule says anything.
    PresetChoice {
        /// Reading is free.
        Cautious = "cautious", 2;
        /// Reading and work inside the root are free.
        Balanced = "balanced", 1;
        /// Everything but ruin is free.
        Open = "open", 0;
        /// Nothing: `default` decides.
        None = "none", 3;
    }
}

words! {
    /// What becomes of a verdict that says `ask`.
    ApprovalMode {
        /// A person is asked.
        Ask = "ask", 2;
        /// It is tried in a sandbox where nothing can be lost, and a person is asked only about what it needs beyond that.
        OnNeed = "on-need", 1;
        /// Every `ask` becomes `deny`.
        Deny = "deny", 3;
        /// Every `ask` becomes `allow`. `deny` stays `deny`.
        Allow = "allow", 0;
    }
}

words! {
    /// Where a question may be answered. No place is stricter than another, but a shorter list of them is.
    Asker {
        /// The terminal that the command line runs on.
        Terminal = "terminal", 0;
        /// The queue that `shellgate approvals` shows.
        Queue = "queue", 0;
        /// The server's web page.
        Page = "page", 0;
        /// The MCP client, by elicitation.
        Elicitation = "elicitation", 0;
    }
}

words! {
    /// How commands are confined.
    SandboxMode {
        /// They are not confined.
        Off = "off", 0;
        /// They can write nothing and reach no network.
        ReadOnly = "read-only", 2;
        /// They can write inside the root.
        Workspace = "workspace", 1;
        /// They can write inside the root, reach no network, and read little elsewhere.
        Strict = "strict", 2;
    }
}

words! {
    /// Whether confined commands reach the network.
    Network {
        /// They reach it.
        Allow = "allow", 0;
        /// They reach nothing outside the session.
        Deny = "deny", 1;
    }
}

words! {
    /// What to do when this machine lacks what the chosen confinement needs.
    OnMissing {
        /// Run nothing.
        Refuse = "refuse", 1;
        /// Warn, and run with the confinement that is possible.
        Warn = "warn", 0;
    }
}

words! {
    /// Which events are logged. None is stricter than another.
    LogLevel {
        /// None.
        Off = "off", 0;
        /// What failed and was given up.
        Error = "error", 0;
        /// And what failed and was worked around.
        Warn = "warn", 0;
        /// And the beginning and end of each execution.
        Info = "info", 0;
        /// And the steps between.
        Debug = "debug", 0;
        /// And the text of commands.
        Trace = "trace", 0;
    }
}

words! {
    /// Whether long output is condensed for models. None is stricter than another.
    Condense {
        /// By rules for the program that wrote it.
        Auto = "auto", 0;
        /// Never.
        Off = "off", 0;
    }
}

words! {
    /// Which variables a command gets from the environment of shellgate.
    Inherit {
        /// All but those that never reach a command.
        All = "all", 0;
        /// The few that most programs need.
        Core = "core", 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Word + fmt::Display>() {
        for name in T::NAMES {
            let value = T::from_name(name).unwrap();
            assert_eq!(value.name(), *name);
            assert_eq!(value.to_string(), *name);
        }
        assert!(T::from_name("").is_none());
        assert!(T::from_name(&T::NAMES[0].to_uppercase()).is_none());
    }

    #[test]
    fn every_word_is_parsed_and_printed() {
        check::<Decision>();
        check::<Substitution>();
        check::<Redirects>();
        check::<PresetChoice>();
        check::<ApprovalMode>();
        check::<Asker>();
        check::<SandboxMode>();
        check::<Network>();
        check::<OnMissing>();
        check::<Inherit>();
    }

    #[test]
    fn strictness_orders_the_words() {
        let order = |words: &[Redirects]| words.iter().map(|w| w.strictness()).collect::<Vec<_>>();
        assert_eq!(order(&[Redirects::Allow, Redirects::InsideRoot, Redirects::Ask]), [0, 1, 2]);
        assert_eq!(SandboxMode::ReadOnly.strictness(), SandboxMode::Strict.strictness());
    }
}

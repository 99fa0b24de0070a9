//! Rules of another agent in one form, and what they become here.
//!
//! The result is never looser than the rules that were read. Here deny counts before ask before allow; in some agents the
//! last rule counts, or the one with the highest priority. A rule that loses by that order is made stricter or left out,
//! and a remark says so.

use toml_edit::Value;

/// What a rule decides. Later ones are stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Decision {
    Allow,
    Ask,
    Deny,
}

impl Decision {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The commands that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All.
    Everything,
    /// Those that begin with these words; a `*` stands for one or more.
    Prefix(Vec<String>),
    /// Those with these words and no others.
    Exact(Vec<String>),
    /// Those that begin with exactly these words. They may have blanks and signs, and a `*` is a `*`.
    Literal(Vec<String>),
}

impl Reach {
    fn words(&self) -> &[String] {
        match self {
            Self::Everything => &[],
            Self::Prefix(words) | Self::Exact(words) | Self::Literal(words) => words,
        }
    }

    /// Whether every command of `other` is one of this.
    fn covers(&self, other: &Self) -> bool {
        !matches!(self, Self::Exact(_)) && other.words().starts_with(self.words()) || self == other
    }
}

/// A rule of another agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForeignRule {
    /// As it is written.
    pub(super) shown: String,
    pub(super) reach: Reach,
    pub(super) decision: Decision,
    /// Of several that match, the agent takes the one with the highest rank.
    pub(super) rank: i64,
}

/// Something that has no equal here, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    /// The entry as it is written.
    pub(super) entry: String,
    pub(super) reason: String,
}

/// What was read from another agent's file.
#[derive(Clone, Debug, Default)]
pub(super) struct Foreign {
    pub(super) rules: Vec<ForeignRule>,
    /// Other settings, by their key here.
    pub(super) values: Vec<(&'static str, Value)>,
    /// An allowlist, and prefixes that are always denied. They have an equal: `core` and `exclude`.
    pub(super) core: Option<Vec<String>>,
    pub(super) exclude: Vec<String>,
    pub(super) remarks: Vec<Remark>,
}

impl Foreign {
    pub(super) fn rule(&mut self, shown: &str, reach: Reach, decision: Decision, rank: i64) {
        self.rules.push(ForeignRule { shown: shown.to_owned(), reach, decision, rank });
    }

    pub(super) fn remark(&mut self, entry: impl Into<String>, reason: impl Into<String>) {
        self.remarks.push(Remark { entry: entry.into(), reason: reason.into() });
    }
}

/// What becomes of another agent's rules here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists {
    pub(super) preset: Option<&'static str>,
    pub(super) core: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) allow: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) deny: Vec<String>,
    /// Rules with their words in a list.
    pub(super) listed: Vec<ListedRule>,
}

/// A rule that the lists of texts can't have: a word has a blank or a sign, or no further words may follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedRule {
    pub(super) words: Vec<String>,
    pub(super) decision: Decision,
    /// Whether further words may follow.
    pub(super) ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Open,
    Exact,
}

impl Lists {
    /// Adds a rule to the list that it belongs to.
    pub(super) fn add(&mut self, reach: &Reach, decision: Decision) {
        let words = reach.words().to_vec();
        let list = match (decision, reach) {
            (Decision::Allow, Reach::Exact(_)) => {
                return push(&mut self.listed, ListedRule { words, decision, ending: Ending::Exact });
            }
            (_, Reach::Literal(_)) => {
                return push(&mut self.listed, ListedRule { words, decision, ending: Ending::Open });
            }
            (Decision::Allow, _) => &mut self.allow,
            (Decision::Ask, _) => &mut self.ask,
            (Decision::Deny, _) => &mut self.deny,
        };
        push(list, words.join(" "));
    }
}

/// Turns the rules into lists. Adds remarks about what became stricter.
pub(super) fn lists(foreign: &mut Foreign) -> Lists {
    let mut lists = Lists { exclude: std::mem::take(&mut foreign.exclude), ..Lists::default() };
    let rules = std::mem::take(&mut foreign.rules);
    let everything = rules.iter().filter(|rule| rule.reach == Reach::Everything);
    let fallback = everything.max_by_key(|rule| (rule.rank, rule.decision)).cloned();
    let kept: Vec<&ForeignRule> = rules
        .iter()
        .filter(|rule| rule.reach != Reach::Everything)
        .filter(|rule| match &fallback {
            Some(all) if all.rank > rule.rank && all.decision > rule.decision => {
                let reason = format!("left out: `{}` counts before it", all.shown);
                foreign.remarks.push(Remark { entry: rule.shown.clone(), reason });
                false
            }
            _ => true,
        })
        .collect();
    for rule in &kept {
        let stricter = kept.iter().find(|other| {
            other.decision > rule.decision && other.rank < rule.rank && other.reach.covers(&rule.reach)
        });
        if let Some(other) = stricter {
            let decision = other.decision.name();
            let reason = format!("stricter: `{}` covers it, and here {decision} counts first", other.shown);
            foreign.remarks.push(Remark { entry: rule.shown.clone(), reason });
        }
        lists.add(&rule.reach, rule.decision);
    }
    if let Some(core) = foreign.core.take() {
        allow_only(&mut lists, foreign, core, "the list of tools");
    }
    match fallback {
        Some(ForeignRule { decision: Decision::Allow, .. }) => lists.preset = Some("open"),
        Some(ForeignRule { decision: Decision::Ask, shown, .. }) => {
            lists.preset = Some("cautious");
            foreign.remark(shown, "nearest: with the preset `cautious` all but reads asks");
        }
        Some(ForeignRule { decision: Decision::Deny, shown, .. }) => {
            let core = std::mem::take(&mut lists.allow);
            allow_only(&mut lists, foreign, core, &shown);
        }
        None => {}
    }
    lists
}

/// Makes an allowlist of the entries: all other commands are denied. Without any, all commands are.
fn allow_only(lists: &mut Lists, foreign: &mut Foreign, entries: Vec<String>, shown: &str) {
    let (patterns, prefixes): (Vec<String>, Vec<String>) =
        entries.into_iter().partition(|entry| entry != "*" && entry.contains('*'));
    for pattern in patterns {
        foreign.remark(pattern, "left out: an allowlist here has no `*` beside other words");
    }
    let (allowing, others): (Vec<ListedRule>, Vec<ListedRule>) =
        std::mem::take(&mut lists.listed).into_iter().partition(|rule| rule.decision == Decision::Allow);
    lists.listed = others;
    for rule in allowing {
        foreign.remark(
            rule.words.join(" "),
            format!("left out: `{shown}` denies all else, and an allowlist has prefixes"),
        );
    }
    match prefixes.is_empty() {
        true => {
            for entry in std::mem::take(&mut lists.ask) {
                foreign.remark(entry, format!("stricter: denied, as `{shown}` allows nothing"));
            }
            push(&mut lists.exclude, "*".to_owned());
        }
        false => prefixes.into_iter().for_each(|prefix| push(&mut lists.core, prefix)),
    }
}

fn push<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(rules: &[(&str, Decision, i64)]) -> Foreign {
        let mut foreign = Foreign::default();
        for (text, decision, rank) in rules {
            let words = text.split(' ').map(str::to_owned).collect();
            let reach = if *text == "*" { Reach::Everything } else { Reach::Prefix(words) };
            foreign.rule(text, reach, *decision, *rank);
        }
        foreign
    }

    #[test]
    fn what_decides_about_all_other_commands() {
        use Decision::{Allow, Ask, Deny};
        let of = |rules: &[(&str, Decision, i64)]| {
            let mut foreign = foreign(rules);
            let lists = lists(&mut foreign);
            (lists, foreign.remarks.len())
        };
        let (open, remarks) = of(&[("*", Allow, 0), ("git push", Ask, 1)]);
        assert_eq!(
            (open.preset, open.ask.as_slice(), remarks),
            (Some("open"), ["git push".to_owned()].as_slice(), 0)
        );
        let (cautious, remarks) = of(&[("*", Ask, 0), ("ls", Allow, 1)]);
        assert_eq!((cautious.preset, cautious.allow.len(), remarks), (Some("cautious"), 1, 1));
        let (closed, _) = of(&[("*", Deny, 0), ("ls", Allow, 1)]);
        assert_eq!((closed.core.as_slice(), closed.allow.len()), (["ls".to_owned()].as_slice(), 0));
        let (nothing, _) = of(&[("*", Deny, 0)]);
        assert_eq!(nothing.exclude, ["*"]);
    }

    #[test]
    fn a_rule_that_loses_is_left_out_and_an_exception_is_named() {
        use Decision::{Allow, Ask, Deny};
        let mut lost = foreign(&[("ls", Allow, 0), ("*", Deny, 1)]);
        let made = lists(&mut lost);
        assert_eq!((made.core.len(), made.exclude.as_slice()), (0, ["*".to_owned()].as_slice()));
        assert_eq!(lost.remarks[0].entry, "ls");
        let mut exception = foreign(&[("git", Ask, 0), ("git status", Allow, 1)]);
        let made = lists(&mut exception);
        assert_eq!((made.ask.len(), made.allow.len()), (1, 1));
        assert!(exception.remarks[0].reason.starts_with("stricter: `git` covers it"));
        let mut plain = foreign(&[("git push", Deny, 0), ("git", Allow, 1)]);
        assert_eq!((lists(&mut plain).deny.len(), plain.remarks.len()), (1, 0), "deny wins here anyway");
    }
}

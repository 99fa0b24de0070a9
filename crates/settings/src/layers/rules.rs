//! Reads `[[policy.rule]]`.

use toml_edit::{Item, Key as TomlKey, TableLike, Value};

use super::{
    describe::describe_value,
    toml::{Reader, entries, start_of},
};
use crate::{
    Decision, EffectName, EffectRule, Grants, Origin, Prefix, Problem, Rule, SettingsError,
    keys::{self, Key},
    words::Choices,
};
use crate::{pattern, prefix};

const RULE_PATH: &str = "policy.rule";
const RULE_KEYS: &[&str] =
    &["prefix", "exact", "effect", "path", "host", "except", "decision", "reason", "grants"];
const GRANTS_PATH: &str = "policy.rule.grants";
const GRANTS_KEYS: &[&str] = &["network", "read", "write", "env", "sockets"];

/// Reads the rules of a file, written as `[[policy.rule]]` or as a list of inline tables.
pub(super) fn read(
    reader: &Reader<'_>,
    key: &Key,
    at: &TomlKey,
    item: &Item,
) -> Result<(Vec<Rule>, Vec<EffectRule>), SettingsError> {
    let (mut by_prefix, mut by_effect) = (Vec::new(), Vec::new());
    for rule in all(reader, key, at, item)? {
        match rule {
            AnyRule::Prefix(rule) => by_prefix.push(rule),
            AnyRule::Effect(rule) => by_effect.push(rule),
        }
    }
    Ok((by_prefix, by_effect))
}

/// A rule of either kind.
enum AnyRule {
    Prefix(Rule),
    Effect(EffectRule),
}

fn all(reader: &Reader<'_>, key: &Key, at: &TomlKey, item: &Item) -> Result<Vec<AnyRule>, SettingsError> {
    if let Some(tables) = item.as_array_of_tables() {
        let offset =
            |table: &toml_edit::Table| table.span().map_or_else(|| start_of(item, at), |span| span.start);
        return tables.iter().map(|table| rule(reader, table, offset(table))).collect();
    }
    let Some(array) = item.as_array() else {
        return Err(reader.not_wanted(key, at, item));
    };
    let read = |value: &Value| {
        let offset = value.span().map_or_else(|| start_of(item, at), |span| span.start);
        match value.as_inline_table() {
            Some(table) => rule(reader, table, offset),
            None => Err(reader.wanted_at(
                offset,
                RULE_PATH,
                &key.wanted(),
                format!("{} in it", describe_value(value)),
            )),
        }
    };
    array.iter().map(read).collect()
}

/// A rule as it is read, before it is known of which kind it is.
#[derive(Default)]
struct Draft<'a> {
    prefix: Option<Prefix>,
    /// Where `exact = true` is.
    exact: Option<(&'a TomlKey, &'a Item)>,
    effect: Option<EffectName>,
    /// `path` or `host`, and where it is.
    targets: Option<(&'a TomlKey, Vec<String>)>,
    except: Option<(&'a TomlKey, &'a Item)>,
    decision: Option<Decision>,
    reason: Option<String>,
    grants: Option<(&'a TomlKey, Grants)>,
}

fn rule(reader: &Reader<'_>, table: &dyn TableLike, offset: usize) -> Result<AnyRule, SettingsError> {
    let mut draft = Draft::default();
    for (key, item) in entries(table) {
        let path = format!("{RULE_PATH}.{}", key.get());
        match key.get() {
            "prefix" => draft.prefix = Some(read_prefix(reader, &path, key, item)?),
            "exact" => {
                let wanted = || reader.wanted(item, key, &path, "`true` or `false`");
                draft.exact = item.as_bool().ok_or_else(wanted)?.then_some((key, item));
            }
            "effect" => draft.effect = Some(read_effect(reader, &path, key, item)?),
            "path" | "host" if draft.targets.is_some() => {
                return Err(unfit(reader, key, "a rule has either `path` or `host`"));
            }
            "path" | "host" => draft.targets = Some((key, strings(reader, &path, key, item)?)),
            "except" => draft.except = Some((key, item)),
            "decision" => {
                let found = item.as_str().and_then(Decision::from_name);
                let wanted =
                    || reader.wanted(item, key, &path, &format!("one of {}", Choices(Decision::NAMES)));
                draft.decision = Some(found.ok_or_else(wanted)?);
            }
            "reason" => {
                let found = item.as_str().ok_or_else(|| reader.wanted(item, key, &path, "a string"))?;
                draft.reason = Some(found.to_owned());
            }
            "grants" => draft.grants = Some((key, read_grants(reader, key, item)?)),
            _ => return Err(unknown(reader, RULE_PATH, RULE_KEYS, key)),
        }
    }
    let missing = |name: &str, example: &str| {
        let problem = Problem::MissingKey {
            path: format!("{RULE_PATH}.{name}"),
            hint: format!("a rule needs a prefix or an effect, and a decision: add `{name} = {example}`"),
        };
        reader.text.error(offset, problem)
    };
    let origin = reader.text.origin(offset);
    if let Some(effect) = draft.effect {
        let decision = draft.decision.ok_or_else(|| missing("decision", r#""ask""#))?;
        return draft.by_effect(reader, table, (effect, decision), origin).map(AnyRule::Effect);
    }
    if let Some((key, _)) = draft.targets {
        return Err(unfit(reader, key, "`path` and `host` need an effect: add `effect = \"write\"`"));
    }
    let except = match draft.except {
        Some((key, item)) => {
            let found = exceptions(reader, key, item)?;
            check_exceptions(reader, key, draft.prefix.as_ref(), &found)?;
            found
        }
        None => Vec::new(),
    };
    let prefix = draft.prefix.ok_or_else(|| missing("prefix", r#"["git", "push"]"#))?;
    let decision = draft.decision.ok_or_else(|| missing("decision", r#""ask""#))?;
    Ok(AnyRule::Prefix(Rule {
        prefix: exactly(reader, draft.exact, prefix, decision)?,
        decision,
        reason: draft.reason,
        except,
        grants: draft.grants.map(|(_, grants)| grants).unwrap_or_default(),
        origin,
    }))
}

/// The prefix of a rule, exactly if `exact` is there.
fn exactly(
    reader: &Reader<'_>,
    exact: Option<(&TomlKey, &Item)>,
    prefix: Prefix,
    decision: Decision,
) -> Result<Prefix, SettingsError> {
    let Some((key, item)) = exact else { return Ok(prefix) };
    let unwanted = |where_: &str| reader.wanted(item, key, &format!("{RULE_PATH}.exact"), where_);
    match prefix {
        // A rule that asks or denies must cover longer commands too: one more word would get around it.
        _ if decision != Decision::Allow => Err(unwanted("`false` where the decision isn't `allow`")),
        Prefix::Words(words) => Ok(Prefix::Exactly(words)),
        Prefix::Everything | Prefix::Exactly(_) | Prefix::Pattern(_) => {
            Err(unwanted("`false` where the prefix is every command or has a `*`"))
        }
    }
}

impl Draft<'_> {
    fn by_effect(
        self,
        reader: &Reader<'_>,
        table: &dyn TableLike,
        (effect, decision): (EffectName, Decision),
        origin: Origin,
    ) -> Result<EffectRule, SettingsError> {
        if let Some((key, _)) = self.prefix.and_then(|_| table.get_key_value("prefix")) {
            return Err(unfit(reader, key, "a rule is by `prefix` or by `effect`: write two rules"));
        }
        if let Some((key, _)) = self.exact {
            return Err(unfit(reader, key, "only a rule by `prefix` can be exact"));
        }
        if let Some((key, _)) = self.grants {
            return Err(unfit(reader, key, "only a rule by `prefix` can grant something"));
        }
        let wanted = target_key(effect);
        if let Some((key, _)) = self.targets.as_ref().filter(|(key, _)| Some(key.get()) != wanted) {
            let hint = match wanted {
                Some(wanted) => format!("what `{effect}` is done to is `{wanted} = [\"…\"]`"),
                None => format!("`{effect}` has neither `path` nor `host`: leave it out"),
            };
            return Err(unfit(reader, key, &hint));
        }
        if let Some((key, _)) = self.except.filter(|_| wanted.is_none()) {
            let hint =
                format!("`{effect}` has no target to except: leave it out, or write a rule by `prefix`");
            return Err(unfit(reader, key, &hint));
        }
        let except = match self.except {
            Some((key, item)) => {
                let found = strings(reader, &format!("{RULE_PATH}.except"), key, item)?;
                check_targets(reader, key, wanted, &found)?;
                found
            }
            None => Vec::new(),
        };
        let targets = match self.targets {
            Some((key, found)) => {
                check_targets(reader, key, wanted, &found)?;
                found
            }
            None => Vec::new(),
        };
        Ok(EffectRule { effect, targets, except, decision, reason: self.reason, origin })
    }
}

/// The key for what an effect is done to.
fn target_key(effect: EffectName) -> Option<&'static str> {
    match effect {
        EffectName::Read | EffectName::Write | EffectName::Delete | EffectName::Secret | EffectName::Code => {
            Some("path")
        }
        EffectName::Network => Some("host"),
        EffectName::Publish | EffectName::Machine | EffectName::Unknown => None,
    }
}

/// Refuses what can never be a host, or a path.
fn check_targets(
    reader: &Reader<'_>,
    key: &TomlKey,
    wanted: Option<&str>,
    targets: &[String],
) -> Result<(), SettingsError> {
    if targets.is_empty() {
        let hint = "an empty list matches nothing: name something, or leave the key out for everything";
        return Err(unfit(reader, key, hint));
    }
    if let Some(hint) = targets.iter().filter(|_| wanted == Some("path")).find_map(|path| never_matches(path))
    {
        return Err(unfit(reader, key, &hint));
    }
    let bad = targets.iter().find(|target| match wanted {
        Some("host") => target.contains(['/', ':', '@', ' ']),
        _ => target.contains("..") && target.split('/').any(|name| name == ".."),
    });
    match bad {
        None => Ok(()),
        Some(host) if wanted == Some("host") => {
            let rest = host.split_once("://").map_or(host.as_str(), |(_, rest)| rest);
            let plain = rest.split(['/', ':', '@', ' ']).next().unwrap_or_default();
            Err(unfit(reader, key, &format!("a host is a name alone: write {plain:?}")))
        }
        Some(_) => Err(unfit(reader, key, "write the path without `..`")),
    }
}

/// What to write instead of a path that no file has: only `~`, `$HOME` and `*` stand for something.
fn never_matches(path: &str) -> Option<String> {
    let first = path.split('/').next().unwrap_or(path);
    if let Some(user) = first.strip_prefix('~').filter(|user| !user.is_empty()) {
        let rest = path.strip_prefix(first).unwrap_or_default();
        return Some(format!("only your own home is `~`: write \"/home/{user}{rest}\""));
    }
    let is_home = ["$HOME", "${HOME}"].contains(&first);
    if path.contains('$') && !is_home {
        return Some("variables but `$HOME` are not replaced here: write the path out".to_owned());
    }
    if path.contains('{') && path.contains('}') && !is_home {
        return Some("braces stand for themselves here: write each path as an entry of its own".to_owned());
    }
    if path.contains(['?', '[']) {
        return Some("of patterns only `*` and `**` are known here: write `*`".to_owned());
    }
    None
}

fn read_effect(
    reader: &Reader<'_>,
    path: &str,
    key: &TomlKey,
    item: &Item,
) -> Result<EffectName, SettingsError> {
    let names: Vec<&str> = EffectName::ALL
        .iter()
        .filter(|effect| **effect != EffectName::Unknown)
        .map(|effect| effect.name())
        .collect();
    let found = item.as_str().filter(|name| names.contains(name)).and_then(EffectName::from_name);
    found.ok_or_else(|| {
        let mut error = reader.wanted(item, key, path, &format!("one of {}", Choices(&names)));
        if let Problem::Wanted { hint, .. } = &mut *error.problem {
            let nearest = item.as_str().and_then(|found| keys::nearest(found, names.iter().copied()));
            *hint = nearest.map(keys::did_you_mean);
        }
        error
    })
}

/// Reads what a rule by prefix doesn't cover.
fn exceptions(reader: &Reader<'_>, key: &TomlKey, item: &Item) -> Result<Vec<Prefix>, SettingsError> {
    let texts = strings(reader, &format!("{RULE_PATH}.except"), key, item)?;
    let read = |text: &String| {
        pattern::parse_exception(text).map_err(|error| reader.text.error(start_of(item, key), error.into()))
    };
    texts.iter().map(read).collect()
}

/// Refuses exceptions of another program than the rule is about, and an empty list.
fn check_exceptions(
    reader: &Reader<'_>,
    key: &TomlKey,
    prefix: Option<&Prefix>,
    exceptions: &[Prefix],
) -> Result<(), SettingsError> {
    if exceptions.is_empty() {
        return Err(unfit(reader, key, "an empty list excepts nothing: name a command, or leave it out"));
    }
    let program = prefix.and_then(|prefix| words_of(prefix).first()).filter(|word| !word.contains('*'));
    let Some(program) = program else { return Ok(()) };
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let is_other = |one: &&Prefix| {
        words_of(one).first().is_some_and(|word| !word.contains('*') && name(word) != name(program))
    };
    match exceptions.iter().find(is_other) {
        None => Ok(()),
        Some(other) => {
            let other = words_of(other).join(" ");
            let hint = format!(
                "`{other}` is no case of `{program}`: an exception begins with the words of its rule"
            );
            Err(unfit(reader, key, &hint))
        }
    }
}

/// The words of a prefix.
fn words_of(prefix: &Prefix) -> &[String] {
    match prefix {
        Prefix::Everything => &[],
        Prefix::Words(words) | Prefix::Exactly(words) | Prefix::Pattern(words) => words,
    }
}

/// A key that doesn't fit the others of its rule.
fn unfit(reader: &Reader<'_>, key: &TomlKey, hint: &str) -> SettingsError {
    let path = format!("{RULE_PATH}.{}", key.get());
    let offset = key.span().map_or(0, |span| span.start);
    reader.text.error(offset, Problem::Unfit { path, hint: hint.to_owned() })
}

/// Reads a prefix: a list of words as they are, or a string whose spaces separate words, as in `allow`.
fn read_prefix(reader: &Reader<'_>, path: &str, key: &TomlKey, item: &Item) -> Result<Prefix, SettingsError> {
    let fail = |problem: Problem| reader.text.error(start_of(item, key), problem);
    match item.as_str() {
        // The form of other agents was always read here.
        Some(text) => match prefix::of_tool(text).map_err(|error| fail(error.into()))? {
            Some(prefix) => Ok(prefix),
            None => pattern::parse(text).map_err(|error| fail(error.into())),
        },
        None => prefix::from_words(strings(reader, path, key, item)?).map_err(|error| fail(error.into())),
    }
}

fn read_grants(reader: &Reader<'_>, at: &TomlKey, item: &Item) -> Result<Grants, SettingsError> {
    let Some(table) = item.as_table_like() else {
        return Err(reader.wanted(item, at, GRANTS_PATH, "a table"));
    };
    let mut grants = Grants::default();
    for (key, item) in entries(table) {
        let path = format!("{GRANTS_PATH}.{}", key.get());
        let list = || strings(reader, &path, key, item);
        match key.get() {
            "network" => {
                let wanted = || reader.wanted(item, key, &path, "`true` or `false`");
                grants.network = item.as_bool().ok_or_else(wanted)?;
            }
            "read" => grants.read = list()?,
            "write" => grants.write = list()?,
            "env" => grants.env = list()?,
            "sockets" => grants.sockets = list()?,
            _ => return Err(unknown(reader, GRANTS_PATH, GRANTS_KEYS, key)),
        }
    }
    Ok(grants)
}

fn strings(
    reader: &Reader<'_>,
    path: &str,
    key: &TomlKey,
    item: &Item,
) -> Result<Vec<String>, SettingsError> {
    const WANTED: &str = "a list of non-empty strings";
    let array = item.as_array().ok_or_else(|| reader.wanted(item, key, path, WANTED))?;
    let read = |value: &Value| match value.as_str() {
        Some(text) if !text.is_empty() && !text.contains('\0') => Ok(text.to_owned()),
        _ => {
            let offset = value.span().map_or_else(|| start_of(item, key), |span| span.start);
            Err(reader.wanted_at(offset, path, WANTED, format!("{} in it", describe_value(value))))
        }
    };
    array.iter().map(read).collect()
}

fn unknown(reader: &Reader<'_>, table: &str, names: &[&str], key: &TomlKey) -> SettingsError {
    let hint = match keys::nearest(key.get(), names.iter().copied()) {
        Some(name) => keys::did_you_mean(&format!("{table}.{name}")),
        None => format!("{table} has {}", Choices(names)),
    };
    let path = format!("{table}.{}", key.get());
    let offset = key.span().map_or(0, |span| span.start);
    reader.text.error(offset, Problem::UnknownKey { path, hint })
}

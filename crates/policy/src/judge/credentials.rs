//! Credentials that a call reads: by a word that names one, by a word that may become one, and by code in a word.
//!
//! What a word becomes often can't be known: a variable, a pattern, a name that `find` or `xargs` puts in. A pattern is compared with
//! the list of secrets. Any other unknown word counts as a secret if the text names one somewhere, or lists files among
//! which there are some.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use shellgate_syntax::{Redirect, RedirectOperator, RedirectTarget, Unknown, Value, Why, Word};

use super::Judge;
use super::links::has_option;
use crate::calls::Call;
use crate::programs::{Canonical, EffectKind, words};
use crate::secrets;
use crate::shapes::{self, ANY};

/// How many values of the variables in one word are looked at.
const MAX_VALUES: usize = 8;

/// Options of find and its like that say how the files are called.
const NAME_OPTIONS: [&str; 6] = ["-name", "-iname", "-path", "-ipath", "-wholename", "-lname"];

/// What separates words in a text, also in code of other languages.
const SEPARATORS: [char; 18] =
    [' ', '\t', '\n', ';', '|', '&', '<', '>', '(', ')', '=', ',', '`', '@', '[', ']', '\'', ':'];

impl Judge<'_> {
    /// The secret that a word of a call names, or may become by what is written in it.
    pub(super) fn secret_named(&self, call: &Call, word: &Word) -> Option<String> {
        let directories = self.state.directories.as_deref();
        let written = call.written(word).unwrap_or(word.span.of(self.text));
        secrets::named_by(&word.value, written, directories, self.machine)
            .or_else(|| self.secret_by_shape(call, word))
    }

    /// The secret that a call may read by a word.
    pub(super) fn secret_read(&self, call: &Call, word: &Word) -> Option<String> {
        self.secret_named(call, word)
            .or_else(|| self.secret_of_text(call, word))
            .or_else(|| self.secret_in_folder(call, word))
    }

    /// The secret that a word may become: a pattern that fits one, a variable that the text sets to one.
    fn secret_by_shape(&self, call: &Call, word: &Word) -> Option<String> {
        if shows_no_content(call) {
            return None;
        }
        let shown =
            |shape: &String| shape.replace(shapes::NAME, "*").replace(shapes::LETTER, "?").replace(ANY, "…");
        match &word.value {
            // From a folder that isn't known.
            Value::Known(path) => {
                let shape = shapes::without_parents(&format!("{ANY}/{path}"));
                let is_anywhere = self.state.directories.is_none() && !path.starts_with('/');
                (is_anywhere && self.machine.secrets().may_be(&shape)).then(|| path.clone())
            }
            Value::Unknown(_) => {
                let is_filled = matches!(&word.value, Value::Unknown(Unknown { why: Why::Parameter(name), .. }) if name.contains([' ', '{']));
                let shapes = self.shapes_of(call.written(word).filter(|_| !is_filled)?);
                let is_one =
                    |shape: &&String| self.machine.secrets().may_be(shape) || self.is_key_somewhere(shape);
                shapes.iter().find(is_one).map(shown)
            }
        }
    }

    /// What a word may be as a path from the top, as it is written.
    fn shapes_of(&self, written: &str) -> Vec<String> {
        let home = self.machine.home().map(|home| home.to_string_lossy().into_owned());
        let (tilde, rest) = match written.strip_prefix('~') {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (user, rest) = rest.split_at(end);
                let own = home.clone().unwrap_or_default();
                (if user.is_empty() { own } else { format!("/home/{user}") }, rest)
            }
            None => (String::new(), written),
        };
        let mut all: Vec<String> = Vec::new();
        for number in 0..MAX_VALUES {
            let mut is_more = false;
            let read = shapes::of_written(rest, |name| {
                let values = self.values.get(name).map(|(values, _)| values).unwrap_or_default();
                is_more |= values.len() > number + 1;
                match (values.get(number).or(values.last()), name, &home) {
                    (Some(value), _, _) => self.shape_of_value(value),
                    (None, "HOME", Some(home)) => home.clone(),
                    _ => ANY.to_string(),
                }
            });
            let Some(read) = read else { break };
            let shape = format!("{tilde}{read}");
            let starts = self.state.directories.as_deref().unwrap_or_default();
            match shape.starts_with(['/', ANY]) {
                true => all.push(shape),
                false => all.extend(starts.iter().map(|from| format!("{}/{shape}", from.display()))),
            }
            if !is_more {
                break;
            }
        }
        all.iter().map(|shape| shapes::without_parents(shape)).collect()
    }

    /// Whether a pattern of folders outside the root ends in the name of a key: `../*/id_rsa`.
    fn is_key_somewhere(&self, shape: &str) -> bool {
        let Some((folder, name)) = shape.rsplit_once('/').filter(|_| shape.starts_with('/')) else {
            return false;
        };
        let known = folder.split([shapes::NAME, shapes::LETTER, ANY]).next().unwrap_or_default();
        known.len() < folder.len()
            && words::KEY_NAMES.contains(&name)
            && !self.is_inside(
                known.rsplit_once('/').map_or("/", |(known, _)| if known.is_empty() { "/" } else { known }),
            )
    }

    /// What a value may be that the text sets a variable to.
    fn shape_of_value(&self, value: &Value) -> String {
        let home = || self.machine.home().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
        match value {
            Value::Known(text) => text.clone(),
            Value::Unknown(Unknown { why: Why::Tilde { rest, .. }, .. }) => match rest {
                Some(rest) => format!("{}{rest}", home()),
                None => format!("{}{ANY}", home()),
            },
            Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail, .. }) if name == "HOME" => {
                format!("{lead}{}{}", home(), tail.clone().unwrap_or_else(|| ANY.to_string()))
            }
            Value::Unknown(unknown) => {
                format!("{}{ANY}{}", unknown.lead, unknown.tail.as_deref().unwrap_or_default())
            }
        }
    }

    /// The secret that the text names, if a word may be anything.
    fn secret_of_text(&self, call: &Call, word: &Word) -> Option<String> {
        let secret = self.named_secret.as_ref()?;
        let Value::Unknown(unknown) = &word.value else { return None };
        let is_other = matches!(unknown.why, Why::Process | Why::Arithmetic) || shows_no_content(call);
        // What another program puts in isn't written.
        let is_filled = matches!(&unknown.why, Why::Parameter(name) if name.contains([' ', '{']));
        let written = call.written(word).filter(|_| !is_filled).unwrap_or_default();
        let is_pattern = !written.is_empty() && !written.contains(['$', '`']) && !written.contains("{}");
        (!is_other && !is_pattern).then(|| secret.clone())
    }

    /// A folder with secrets that a call takes as a whole: `cp -r ~ x`, `grep -r key ~`.
    fn secret_in_folder(&self, call: &Call, word: &Word) -> Option<String> {
        let name = call.name()?;
        let takes_all = words::FOLDER_COPIERS.contains(&name)
            || words::FOLDER_SEARCHERS.contains(&name) && has_option(call, words::RECURSIVE_OPTIONS)
            || words::HIDDEN_SEARCHERS.iter().any(|row| {
                row.split_once(' ').is_some_and(|(own, option)| own == name && has_option(call, &[option]))
            });
        let path = secrets::path_of(&word.value, self.machine)
            .filter(|_| takes_all && !word.value.lead().contains('*'))?;
        let is_pattern = matches!(&word.value, Value::Unknown(Unknown { why: Why::Glob, .. }));
        let directories = self.state.directories.as_deref().unwrap_or_default();
        let top = [PathBuf::from("/")];
        let directories = if path.starts_with('/') { &top[..] } else { directories };
        let holds =
            |from: &PathBuf| self.machine.secrets().are_below(&self.machine.cached_destination(from, &path));
        (!is_pattern && directories.iter().any(holds)).then_some(path)
    }

    /// The secrets that code in the words of a call names: `python3 -c "open('/etc/shadow')"`, `yq 'load("/etc/shadow")'`.
    pub(super) fn secrets_in_code(&self, call: &Call) -> Vec<String> {
        let of_effects = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Inline(word, _) => Some(word),
            EffectKind::Opaque(word, _) if word.value.lead().contains(['(', '\'', '"', ' ']) => Some(word),
            _ => None,
        });
        let is_expression = call.name().is_some_and(|name| words::EXPRESSION_PROGRAMS.contains(&name));
        let of_words =
            call.words.iter().skip(1).filter(|word| is_expression && word.value.lead().contains('('));
        let mut all: Vec<String> =
            of_effects.chain(of_words).filter_map(|word| self.secret_in_code(word.value.lead())).collect();
        all.dedup();
        all
    }

    /// The first secret that a text names, in whatever language.
    pub(super) fn secret_in(&self, text: &str) -> Option<String> {
        let plain: String = text.chars().filter(|c| !matches!(c, '"' | '\\')).collect();
        let quoted = text.contains('"').then(|| text.split('"').flat_map(|part| part.split(SEPARATORS)));
        let mut seen = HashSet::new();
        let mut all = plain.split(SEPARATORS).chain(quoted.into_iter().flatten());
        let may_be = |token: &&str| {
            token.len() > 2
                && token.contains('/')
                && (token.starts_with(['/', '~', '$']) || token.contains("../"))
        };
        // Code puts the home before a name: `process.env.HOME + '/.ssh/id_rsa'`.
        let is_of_home = |token: &str| {
            let home = self.machine.home().filter(|_| token.starts_with("/."));
            home.is_some_and(|home| self.is_secret_token(&format!("{}{token}", home.display())))
        };
        all.find(|token| {
            may_be(token) && seen.insert(*token) && (self.is_secret_token(token) || is_of_home(token))
        })
        .map(str::to_owned)
    }

    pub(super) fn is_secret_token(&self, token: &str) -> bool {
        self.shapes_of(token).iter().any(|shape| self.machine.secrets().may_be(shape))
    }

    /// Notes whether a call lists files among which there are secrets: `find ~ -name id_rsa`.
    pub(super) fn note_listed_secrets(&mut self, call: &Call) {
        let is_lister = call.name().is_some_and(|name| words::FILE_LISTERS.contains(&name));
        if !is_lister {
            return;
        }
        let names = searched_names(call).into_iter().map(str::to_owned).collect();
        self.found_names = names;
        if self.named_secret.is_some() {
            return;
        }
        let starts = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Reads(word) => secrets::path_of(&word.value, self.machine),
            _ => None,
        });
        let directories = self.state.directories.as_deref().unwrap_or_default();
        let holding = starts.into_iter().find(|start| {
            let top = [PathBuf::from("/")];
            let from = if start.starts_with('/') { &top[..] } else { directories };
            from.iter().any(|from| {
                let folder = self.machine.cached_destination(from, start);
                self.machine.secrets().are_below(Path::new(&folder))
            })
        });
        let Some(folder) = holding else { return };
        let names = searched_names(call);
        if names.is_empty() || names.iter().any(|name| self.machine.secrets().may_have_name(name)) {
            self.named_secret = Some(folder);
        }
    }

    /// The secret that a redirect of a call reads or writes.
    pub(super) fn secret_redirected(&self, call: &Call, redirect: &Redirect) -> Option<String> {
        let RedirectTarget::Word(word) = &redirect.target else { return None };
        let reads = redirect.operator == RedirectOperator::Read;
        self.secret_named(call, word).or_else(|| self.secret_of_text(call, word).filter(|_| reads))
    }
}

/// The patterns of names that a call of find looks for.
fn searched_names(call: &Call) -> Vec<&str> {
    let names = call.meaning.canonical.iter().filter_map(|part| match part {
        Canonical::Option(name, Some(value)) if NAME_OPTIONS.contains(&name.as_str()) => value.known(),
        _ => None,
    });
    names.collect()
}

/// Whether a call says only which files there are, and how large and old they are.
fn shows_no_content(call: &Call) -> bool {
    call.name().is_some_and(|name| words::PROGRAMS_WITHOUT_CONTENT.contains(&name))
}

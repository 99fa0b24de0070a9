//! What a call will do, foretold from its words: the effects that rules, presets and people decide by.
//!
//! Words say which files a call reads and writes, and which code it runs. The table `effects.toml` says what the call does
//! besides, and what its writing means: `rm` deletes. A program's kind speaks where no row does: what reaches other machines
//! and has no row may send anything. What can't be explained is an effect of its own.

use shellgate_syntax::{RedirectTarget, Value, Word};

use super::Judge;
use super::links::has_option;
use crate::calls::{Call, Shadowed, Stdin};
use crate::effect::{CallEffect, EffectName};
use crate::hosts;
use crate::programs::words::{ADDRESS_READERS, CONNECTING_PRINTERS, FETCHING_CALLS, READING_FUNCTIONS};
use crate::programs::{Canonical, EffectKind, EffectRow, ProgramKind, effect_rows, is_known_by_effects};
use crate::redirects::{self, FileAccess};

/// What stands in a row for the files that the call writes.
const FILES: &str = "<files>";
/// What stands in a row for the files that the call reads.
const READ_FILES: &str = "<reads>";
/// What stands in a row for the files that lines of its standard input name.
const LISTED_FILES: &str = "<input>";
/// What stands in a row for the host of the first address.
const HOST: &str = "<host>";
/// What stands in a row for every operand.
const OPERANDS: &str = "<*>";

/// How many names on a standard input are looked at.
const MAX_LISTED: usize = 1000;

/// Words with which alone programs say something about themselves and end.
const ASKING_WORDS: [&str; 3] = ["--version", "--help", "-version"];

impl Judge<'_> {
    /// What the call does, the worst first, nothing twice.
    pub(super) fn foretell(&self, call: &Call) -> Vec<CallEffect> {
        let mut effects = Vec::new();
        if !call.words.is_empty() && call.shadowed != Shadowed::Certainly {
            self.foretell_program(call, &mut effects);
        }
        if !call.in_wrapper {
            self.foretell_redirects(call, &mut effects);
        }
        self.note_sending(call, &mut effects);
        effects.extend(self.foretell_inner(call));
        effects.sort();
        effects.dedup();
        effects
    }

    pub(super) fn foretell_program(&self, call: &Call, effects: &mut Vec<CallEffect>) {
        let Some(program) = call.program() else {
            effects.push(CallEffect::new(EffectName::Unknown, None, false));
            return;
        };
        // A program of the project is its code, whatever its name says. What programs of that name do elsewhere may only make it
        // worse: `./gradlew publish` may publish, and `./script` doesn't write what `script` does.
        let is_project_code = program.contains('/') && self.is_inside(program);
        let mut rows = effect_rows(program, &call.meaning, &call.words);
        rows.retain(|row| !is_project_code || !is_everyday(row.effect));
        let is_of_project = is_project_code && is_own_program(call, program);
        let files = rows.iter().find(|row| row.target == FILES).map(|row| row.effect);
        for effect in call.meaning.effects.iter().filter(|one| !is_of_project || is_of_any_program(&one.kind))
        {
            effects.extend(self.foretell_word(call, &effect.kind, files));
        }
        if reads_by_expression(call) {
            effects.push(CallEffect::new(EffectName::Read, None, false));
        }
        let in_code = self.secrets_in_code(call).into_iter();
        effects.extend(in_code.map(|path| CallEffect::new(EffectName::Secret, Some(path), true)));
        effects.extend(self.told_secrets(call));
        let runs_code = effects.iter().any(|effect| effect.effect == EffectName::Code);
        if !call.problems.is_empty() && !runs_code {
            effects.push(CallEffect::new(EffectName::Code, None, false));
        }
        if is_project_code {
            effects.push(CallEffect::new(EffectName::Code, Some(program.to_owned()), true));
        }
        if prints(call, program) {
            return;
        }
        for row in rows.iter().filter(|row| row.target != FILES) {
            match row.target {
                READ_FILES => {
                    effects.extend(self.read_files(call).map(|word| self.of_word(row.effect, word)))
                }
                LISTED_FILES if self.secret_listed(call).is_some() => {
                    effects.push(CallEffect::new(EffectName::Secret, self.secret_listed(call), true));
                }
                _ => effects.extend(effects_of_row(row, call)),
            }
        }
        let is_network =
            |effect: &CallEffect| matches!(effect.effect, EffectName::Network | EffectName::Publish);
        if !effects.iter().any(is_network) && !rows.iter().any(|row| row.effect == EffectName::Network) {
            effects.extend(fetched_besides(call));
        }
        if rows.is_empty() {
            let by_kind = foretell_by_kind(call, program, is_project_code, effects);
            effects.extend(by_kind);
        }
    }

    /// What a word of the call means.
    fn foretell_word(&self, call: &Call, kind: &EffectKind, files: Option<EffectName>) -> Option<CallEffect> {
        let of = |effect: EffectName, word: &Word| self.of_word(effect, word);
        match kind {
            EffectKind::Reads(word) if self.secret_read(call, word).is_some() => {
                Some(of(EffectName::Secret, word))
            }
            EffectKind::Reads(_) if call.meaning.kind == Some(ProgramKind::Builtin) => None,
            EffectKind::Reads(word) if is_address(word) => {
                let host = host_of(word.value.lead());
                let known = host.is_some();
                Some(CallEffect::new(EffectName::Network, host, known))
            }
            EffectKind::Reads(word) => Some(of(EffectName::Read, word)),
            EffectKind::Writes(word) if is_device_without_content(word) => None,
            EffectKind::Writes(word) => Some(of(files.unwrap_or(EffectName::Write), word)),
            kind @ EffectKind::Opaque(..) if self.secret_in_list(kind).is_some() => {
                Some(CallEffect::new(EffectName::Secret, self.secret_in_list(kind), true))
            }
            EffectKind::Opaque(word, _) | EffectKind::ShellInput(Some(word)) => {
                Some(of(EffectName::Code, word))
            }
            EffectKind::Inline(..) => Some(CallEffect::new(EffectName::Code, None, true)),
            EffectKind::Connects(word) => {
                let host = word.value.lead().split("/inet").nth(1).and_then(|rest| rest.split('/').nth(3));
                let host = host.filter(|host| hosts::normal(host).is_some()).map(str::to_owned);
                let known = host.is_some();
                Some(CallEffect { sends: true, ..CallEffect::new(EffectName::Network, host, known) })
            }
            EffectKind::OpaqueInput(_) | EffectKind::ShellInput(None) => {
                Some(CallEffect::new(EffectName::Code, None, false))
            }
            EffectKind::MaybeOption(word) if self.is_plain_pattern(call, word) => None,
            EffectKind::MaybeOption(word)
                if self.is_listed_inside(call, word) || self.is_plain_listed(call, word) =>
            {
                None
            }
            EffectKind::Unusual(_) | EffectKind::MaybeOption(_) => {
                Some(CallEffect::new(EffectName::Unknown, None, false))
            }
            EffectKind::Argv { .. }
            | EffectKind::Shell(_)
            | EffectKind::Assigns { .. }
            | EffectKind::Arithmetic(_)
            | EffectKind::Uses(_)
            | EffectKind::Directory(_)
            | EffectKind::Imports(_) => None,
        }
    }

    pub(super) fn of_word(&self, effect: EffectName, word: &Word) -> CallEffect {
        let path = redirects::known_path(&word.value, self.machine);
        let known = path.is_some();
        let target = path.or_else(|| shown(&word.value));
        CallEffect::new(effect, target, known)
    }

    /// The files that the words of a call name for reading.
    fn read_files<'c>(&self, call: &'c Call) -> impl Iterator<Item = &'c Word> + use<'c> {
        call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Reads(word) => Some(word),
            _ => None,
        })
    }

    fn foretell_redirects(&self, call: &Call, effects: &mut Vec<CallEffect>) {
        for redirect in &call.redirects {
            let RedirectTarget::Word(word) = &redirect.target else { continue };
            let access = redirects::access_of(redirect, self.state.directories.as_deref(), self.machine);
            let is_file = access != FileAccess::None || redirects::reads_file(redirect, self.machine);
            let known = redirects::known_path(&word.value, self.machine).is_some();
            let target = |path: String| if path.is_empty() { None } else { Some(path) };
            effects.extend(match access {
                _ if !is_file => None,
                // `/dev/tcp/$host/80`
                _ if redirects::connects(word) => {
                    Some(CallEffect { sends: true, ..CallEffect::new(EffectName::Network, None, false) })
                }
                _ if self.secret_redirected(call, redirect).is_some() => {
                    Some(CallEffect::new(EffectName::Secret, shown(&word.value), true))
                }
                FileAccess::WriteInside(path) | FileAccess::WriteOutside(path) => {
                    Some(CallEffect::new(EffectName::Write, target(path), known))
                }
                FileAccess::None => Some(CallEffect::new(EffectName::Read, shown(&word.value), known)),
                FileAccess::ReadOutside(path) => Some(CallEffect::new(EffectName::Read, target(path), known)),
                FileAccess::Connect(path) => {
                    let host = path.split('/').nth(3).map(str::to_owned);
                    Some(CallEffect { sends: true, ..CallEffect::new(EffectName::Network, host, known) })
                }
            });
        }
    }
}

/// Whether a call only has a program of the tables say something about itself: `tsc --version`.
fn prints(call: &Call, program: &str) -> bool {
    let is_known = call.meaning.kind.is_some() || is_known_by_effects(program);
    let asks = |word: &Word| word.value.known().is_some_and(|text| ASKING_WORDS.contains(&text));
    // `gh pr --help`; behind the subcommands of others it may be for what they run.
    let is_client = call.meaning.kind == Some(ProgramKind::Network) && call.meaning.has_subcommands;
    let is_plain = |word: &Word| word.value.known().is_some_and(|text| !text.starts_with('-'));
    let is_help = |words: &[Word]| match words {
        [_, names @ .., last] => last.value.known() == Some("--help") && names.iter().all(is_plain),
        _ => false,
    };
    let connects = |row: &&str| {
        row.split_once(' ')
            .is_some_and(|(name, option)| call.name() == Some(name) && has_option(call, &[option]))
    };
    call.meaning.prints && !CONNECTING_PRINTERS.iter().any(connects)
        || is_known && matches!(call.words.as_slice(), [_, word] if asks(word))
        || is_client && is_help(&call.words)
}

/// What a call fetches from other machines, besides what its rows say: `docker pull`, `pandoc https://x`.
fn fetched_besides(call: &Call) -> Option<CallEffect> {
    let is_row = |row: &&str| {
        let mut words = row.split(' ');
        let subcommands = call.meaning.subcommands.as_slice();
        words.next() == call.name() && {
            let wanted: Vec<&str> = words.collect();
            subcommands.starts_with(&wanted) || !wanted.is_empty() && has_option(call, &wanted)
        }
    };
    if FETCHING_CALLS.iter().any(is_row) {
        return Some(CallEffect::new(EffectName::Network, None, true));
    }
    let reads = call.name().is_some_and(|name| ADDRESS_READERS.contains(&name));
    let address = call.words.iter().skip(1).find(|word| reads && is_address(word))?;
    let host = host_of(address.value.lead());
    let known = host.is_some();
    Some(CallEffect::new(EffectName::Network, host, known))
}

/// What the kind of a program says, where no row does. `so_far`: what its words say.
fn foretell_by_kind(
    call: &Call,
    program: &str,
    is_project_code: bool,
    so_far: &[CallEffect],
) -> Option<CallEffect> {
    match call.meaning.kind {
        Some(ProgramKind::Builder) => Some(CallEffect::new(EffectName::Code, None, true)),
        // An interpreter that shows nothing and is given no code has tools of its own: `deno lint`.
        Some(ProgramKind::Interpreter) => {
            let is_code = |effect: &CallEffect| effect.effect == EffectName::Code;
            (!so_far.iter().any(is_code)).then(|| CallEffect::new(EffectName::Code, None, true))
        }
        // Where it writes isn't said by its words: `git commit`, `tar xf a.tar`.
        Some(ProgramKind::Writer) => {
            let names_files =
                call.meaning.effects.iter().any(|one| matches!(one.kind, EffectKind::Writes(_)));
            (!names_files).then(|| CallEffect::new(EffectName::Write, None, true))
        }
        Some(ProgramKind::Network) => {
            let host = hosts(call).next();
            let known = host.is_some();
            Some(CallEffect { sends: true, ..CallEffect::new(EffectName::Network, host, known) })
        }
        Some(ProgramKind::Workbench) => Some(CallEffect::new(EffectName::Unknown, None, false)),
        Some(ProgramKind::Reader | ProgramKind::Wrapper | ProgramKind::Shell | ProgramKind::Builtin) => None,
        None => {
            (!is_project_code).then(|| CallEffect::new(EffectName::Unknown, Some(program.to_owned()), false))
        }
    }
}

/// Whether a program of the project only shares its name with one that the tables know: `./script`, and not `.venv/bin/pip` or
/// `./gradlew`.
fn is_own_program(call: &Call, program: &str) -> bool {
    let folder = program.rsplit('/').nth(1).unwrap_or_default();
    let is_known = matches!(call.meaning.kind, Some(ProgramKind::Builder | ProgramKind::Interpreter));
    !is_known && !matches!(folder, "bin" | ".bin" | "Scripts")
}

/// Whether a word means the same to whatever program: it may be read.
const fn is_of_any_program(kind: &EffectKind) -> bool {
    matches!(kind, EffectKind::Reads(_) | EffectKind::Unusual(_) | EffectKind::MaybeOption(_))
}

/// Whether an effect is what programs do all day.
const fn is_everyday(effect: EffectName) -> bool {
    matches!(effect, EffectName::Read | EffectName::Write | EffectName::Code)
}

/// The effects that a row says.
fn effects_of_row(row: &EffectRow, call: &Call) -> Vec<CallEffect> {
    let of = |target: Option<String>, known: bool| CallEffect {
        sends: row.sends,
        held: row.held,
        ..CallEffect::new(row.effect, target, known)
    };
    let operand = row.target.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    match (row.target, operand.and_then(|number| number.parse::<usize>().ok())) {
        ("", _) => vec![of(None, true)],
        (HOST, _) => {
            let host = hosts(call).next();
            let known = host.is_some();
            vec![of(host, known)]
        }
        (OPERANDS, _) if operands(call).next().is_some() => {
            operands(call).map(|value| of(shown(value), value.known().is_some())).collect()
        }
        (OPERANDS, _) => vec![of(None, true)],
        (LISTED_FILES, _) => match &call.stdin {
            Stdin::Text(text) => {
                text.lines().take(MAX_LISTED).map(|line| of(Some(line.to_owned()), true)).collect()
            }
            _ => vec![of(None, false)],
        },
        (_, Some(number)) => match operands(call).nth(number.saturating_sub(1)) {
            Some(value) => vec![of(shown(value), value.known().is_some())],
            None => vec![of(None, true)],
        },
        (text, None) => vec![of(Some(text.to_owned()), true)],
    }
}

/// The operands behind the subcommands of a call.
fn operands(call: &Call) -> impl Iterator<Item = &Value> {
    let words = call.meaning.canonical.iter().skip(1).filter_map(|part| match part {
        Canonical::Word(value) => Some(value),
        Canonical::Option(..) => None,
    });
    let is_plain = |value: &&Value| call.meaning.kind.is_some() || !value.lead().starts_with('-');
    words.filter(is_plain).skip(call.meaning.subcommands.len())
}

/// The hosts of the addresses among a call's words: `https://HOST/…`, `user@HOST:path`.
fn hosts(call: &Call) -> impl Iterator<Item = String> {
    let words = call.words.iter().skip(1).filter_map(|word| match &word.value {
        Value::Known(text) => Some(text.as_str()),
        // The host is known if a path behind it has begun.
        Value::Unknown(unknown) => {
            let lead = unknown.lead.as_str();
            let rest = lead.split_once("://").map(|(_, rest)| rest)?;
            rest.contains('/').then_some(lead)
        }
    });
    // If one of the addresses can't be read, which comes first isn't known.
    let is_readable = |text: &&str| !text.contains("://") || host_of(text).is_some();
    words.take_while(is_readable).filter_map(host_of)
}

/// The host of an address.
pub(super) fn host_of(text: &str) -> Option<String> {
    let host = match text.split_once("://") {
        Some((_, rest)) => {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
            let host = authority.rsplit('@').next().unwrap_or(authority);
            match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                // Other things in such brackets are patterns of curl.
                Some((inner, behind)) => {
                    let is_address = inner.contains(':') && hosts::normal(inner).is_some();
                    let is_end = behind.is_empty() || behind.starts_with(':');
                    return (is_address && is_end).then(|| inner.to_owned());
                }
                None => host.split(':').next().unwrap_or(host),
            }
        }
        None => {
            let (host, path) = text.split_once(':')?;
            let is_place = host.contains('@') && !host.contains('/') && !path.starts_with("//");
            is_place.then(|| host.rsplit('@').next().unwrap_or(host))?
        }
    };
    // curl reads `{a,b}`, `[a-z]` and `%61` as other hosts than they look like, and some programs take a backslash for a slash.
    let is_plain = |c: char| c.is_alphanumeric() || "-._~".contains(c);
    (!host.is_empty() && host.chars().all(is_plain) && !text.contains('\\')).then(|| host.to_owned())
}

/// A word as people see it, as far as it is known.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Known(text) => Some(text.clone()),
        Value::Unknown(unknown) if unknown.lead.is_empty() => None,
        Value::Unknown(unknown) => Some(format!("{}…", unknown.lead)),
    }
}

/// Whether an expression in the words of a call reads files: `yq 'load("x")'`.
fn reads_by_expression(call: &Call) -> bool {
    let of_call = |row: &&str| {
        row.split_once(' ').is_some_and(|(name, function)| {
            call.name() == Some(name)
                && call.words.iter().skip(1).any(|word| word.value.lead().contains(function))
        })
    };
    READING_FUNCTIONS.iter().any(of_call)
}

/// Whether a word for a file is the address of another machine: `xmllint http://x/y`.
fn is_address(word: &Word) -> bool {
    let schemes = ["http://", "https://", "ftp://", "ftps://"];
    schemes.iter().any(|scheme| word.value.lead().starts_with(scheme))
}

/// Whether a word names a file that keeps nothing: writing it does nothing to any file.
fn is_device_without_content(word: &Word) -> bool {
    word.value.known() == Some("/dev/null")
}

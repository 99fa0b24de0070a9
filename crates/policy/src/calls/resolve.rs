//! Puts what the text says about its variables into the words of a call.

use shellgate_syntax::{Unknown, Value, Why, Word};

use std::path::Path;

use super::PendingCall;
use super::context::TextContext;
use crate::programs::{ProgramKind, is_builtin, kind_of};

/// Replaces what the text says about the variables of a call.
pub(super) fn resolve_words(pending: &mut PendingCall, context: &TextContext, directory: &Path) {
    let (known, source) = (&context.known_values, &context.source);
    let mut words = std::mem::take(&mut pending.invocation.words);
    let call = &pending.invocation;
    // Which word of a wrapper is the program depends on how many words each value becomes: that must be plain to see.
    let moves =
        words.first().and_then(|word| word.value.known()).and_then(kind_of) == Some(ProgramKind::Wrapper);
    for (at, word) in words.iter_mut().enumerate() {
        // Which builtins a text calls was asked before, by the names that are written.
        let name = known.only_value(word, call, source).filter(|name| at == 0 && !is_builtin(name));
        if let Some(name) = name {
            word.value = Value::Known(name.to_owned());
            continue;
        }
        if let Some(text) = known.filled(word, call, source).filter(|_| at > 0) {
            word.value = Value::Known(text);
            continue;
        }
        if let Some(text) = computed(word, source).filter(|_| at > 0) {
            word.value = Value::Known(text);
            continue;
        }
        if let Some(path) = below_folder(word, context, directory).filter(|_| at > 0) {
            word.value = Value::Known(path);
            continue;
        }
        if let Some(tail) = known.shortened_pattern(word, call, source) {
            word.value = Value::Unknown(Unknown {
                lead: String::new(),
                splits: false,
                why: Why::Glob,
                tail: Some(tail),
            });
            continue;
        }
        // A variable whose value is one word can't become none or several.
        let is_set_to_numbers = known.is_number(word, call, source);
        let is_one_word = known.is_one_word(word, call, source) && (is_set_to_numbers || !moves);
        let is_number = is_set_to_numbers || is_number_behind_option(word, context);
        let is_pattern = known.is_pattern(word, call);
        let Value::Unknown(unknown) = &mut word.value else { continue };
        if is_one_word || is_number {
            unknown.splits = false;
            if !is_one_word {
                unknown.why = Why::Arithmetic;
            }
        } else if is_pattern {
            unknown.why = Why::Glob;
        }
    }
    pending.invocation.words = words;
}

/// The text of a word between double quotes whose only expansions are sums of two numbers: `"$((10-5)),$((10+5))p"`.
fn computed(word: &Word, source: &str) -> Option<String> {
    let is_computed = matches!(&word.value, Value::Unknown(Unknown { why: Why::Arithmetic, .. }));
    let written = Some(word.span.of(source)).filter(|_| is_computed)?;
    let plain = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
    let mut parts = plain.split("$((");
    let mut all = parts.next()?.to_owned();
    for part in parts {
        let (sum, rest) = part.split_once("))")?;
        let sign = sum.chars().find(|c| !c.is_ascii_digit() && *c != ' ')?;
        let (one, other) = sum.split_once(sign)?;
        // A number with a zero before it is read in another base.
        let number =
            |text: &str| text.trim().parse::<i32>().ok().filter(|number| text.trim() == number.to_string());
        let (one, other) = (number(one)?, number(other)?);
        let value = match sign {
            '+' => one.checked_add(other)?,
            '-' => one.checked_sub(other)?,
            '*' => one.checked_mul(other)?,
            _ => return None,
        };
        all.push_str(&value.to_string());
        all.push_str(rest);
    }
    (!all.contains(['$', '`', '"', '\\', '!'])).then_some(all)
}

/// The path of a word that begins with the folder of the command: `$PWD/x`, `"$(pwd)/x"`.
fn below_folder(word: &Word, context: &TextContext, directory: &Path) -> Option<String> {
    let Value::Unknown(Unknown { why, lead, tail: Some(tail), splits }) = &word.value else { return None };
    let folder = directory.to_str()?;
    let spellings: &[&str] = match why {
        Why::Parameter(name) if name == "PWD" => &["$PWD", "${PWD}"],
        Why::Substitution => &["$(pwd)", "`pwd`"],
        _ => return None,
    };
    let written = word.span.of(&context.source).replace('"', "");
    let is_folder = spellings.iter().any(|spelling| written == format!("{lead}{spelling}{tail}"));
    let is_one_word = !splits || folder.chars().all(|c| c.is_alphanumeric() || "_./-".contains(c));
    // `make X=$(pwd)`: what it makes of a value is judged by how the value is written.
    let is_known = lead.is_empty() && is_folder && is_one_word && context.keeps_folder && folder != "/";
    (is_known && (tail.is_empty() || tail.starts_with(['/', ':']))).then(|| format!("{lead}{folder}{tail}"))
}

/// Whether a word is an option with a number that a program prints: `-j$(nproc)`.
fn is_number_behind_option(word: &Word, context: &TextContext) -> bool {
    let Value::Unknown(unknown) = &word.value else { return false };
    let written = word.span.of(&context.source).strip_prefix(unknown.lead.as_str());
    unknown.why == Why::Substitution
        && unknown.lead.starts_with('-')
        && written.is_some_and(|written| context.numbers.is_certain_number(written))
}

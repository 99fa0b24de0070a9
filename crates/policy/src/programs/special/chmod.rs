//! Modes of `chmod`: numbers and letters that mean the same become the same number.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{Canonical, read};
use shellgate_syntax::{Value, Word};

/// Reads a call of chmod.
pub(crate) fn chmod(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let from = collector.meaning.canonical.len();
    read::by_table(entry, words, collector);
    let mut said = collector.meaning.canonical.iter_mut().skip(from);
    let mode = said.find_map(|part| match part {
        Canonical::Word(value) => Some(value),
        Canonical::Option(..) => None,
    });
    if let Some(mode) = mode
        && let Some(number) = mode.known().and_then(number_of)
    {
        *mode = Value::Known(number);
    }
}

/// The number of a mode that says everything about the permissions: `0755`, `a=rwx`, `u=rw,go=r`.
fn number_of(mode: &str) -> Option<String> {
    // `a+x` is `+x`.
    let makes_executable = |clause: &str| clause.trim_start_matches(['u', 'g', 'o', 'a']) == "+x";
    if mode.split(',').all(makes_executable) {
        return Some("+x".to_owned());
    }
    let mode = match mode.strip_prefix('=') {
        Some(number) if number.chars().all(|c| c.is_digit(8)) => number,
        _ if mode == "+777" || mode == "+0777" => "777",
        _ => mode,
    };
    if !mode.is_empty() && mode.chars().all(|c| c.is_digit(8)) {
        return Some(format!("{:0>3}", mode.trim_start_matches('0')));
    }
    let mut bits: [Option<u32>; 3] = [None; 3];
    for clause in mode.split(',') {
        let at = clause.find(['=', '+'])?;
        let (classes, permissions) = (clause.get(..at)?, clause.get(at + 1..)?);
        let mut number = 0;
        for letter in permissions.chars() {
            number |= match letter {
                'r' => 4,
                'w' => 2,
                'x' => 1,
                _ => return None,
            };
        }
        // What is added says everything only if it is all.
        if clause.get(at..=at) == Some("+") && number != 7 {
            return None;
        }
        let all = classes.is_empty() || classes.contains('a');
        for (class, bits) in ['u', 'g', 'o'].into_iter().zip(&mut bits) {
            if all || classes.contains(class) {
                *bits = Some(number);
            }
        }
    }
    let [user, group, others] = bits;
    Some(format!("{}{}{}", user?, group?, others?))
}

//! What a person may approve for later calls: exactly this, or the narrowest prefix that is safe.

use shellgate_policy::{Entry, Prefix, narrow_prefix};

use crate::admit::judge::{Decision, Granted, Judge, Verdict};
use crate::intake::request::Request;
use crate::root::WorkingDirectory;
use crate::settings::TOOL_NAMES;

/// A question about more calls than this offers no rules: a person doesn't read so many.
const MAX_OFFERED_RULES: usize = 8;

/// What a question offers. Each offer has a rule for each call that needs approval; empty: it isn't offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    /// Prefixes for the session.
    pub(crate) session: Vec<Vec<String>>,
    /// Prefixes for always.
    pub(crate) always: Vec<Vec<String>>,
    /// Exactly these calls, for always.
    pub(crate) always_exact: Vec<Vec<String>>,
}

impl Offers {
    /// What the question about `request` offers: only what would have let it run without the question.
    pub(crate) fn new(
        judge: &Judge,
        request: &Request,
        verdict: &Verdict,
        directory: &WorkingDirectory,
    ) -> Self {
        let asking = || {
            let parts = verdict.parts().iter().filter(|part| part.decision == Decision::Ask);
            parts.map(|part| part.argv.as_slice())
        };
        let prefixes = distinct(asking().map(narrow_prefix)).unwrap_or_default();
        let exact = exact_rules(asking()).unwrap_or_default();
        let passes =
            |granted: &Granted| judge.judge_with(request, directory, granted).decision() == Decision::Allow;
        let entries = |rules: &[Vec<String>], prefix: fn(Vec<String>) -> Prefix| -> Vec<Entry> {
            let entry = |words: &Vec<String>| Entry { prefix: prefix(words.clone()), shown: String::new() };
            rules.iter().map(entry).collect()
        };
        let by_prefix = || entries(&prefixes, Prefix::Words);
        let is_for_session =
            !prefixes.is_empty() && passes(&Granted { session: by_prefix(), always: Vec::new() });
        // A rule of the user's settings doesn't change what an untrusted project file asks.
        let is_for_always = is_for_session && passes(&Granted { session: Vec::new(), always: by_prefix() });
        let is_exact = !exact.is_empty()
            && passes(&Granted { session: Vec::new(), always: entries(&exact, Prefix::Exactly) });
        let offered = |rules: &Vec<Vec<String>>, is_offered: bool| match is_offered {
            true => rules.clone(),
            false => Vec::new(),
        };
        Self {
            session: offered(&prefixes, is_for_session),
            always: offered(&prefixes, is_for_always),
            always_exact: offered(&exact, is_exact),
        }
    }
}

/// The words of these calls, for rules that allow exactly them. `None`: a word isn't known, or can't be written in a rule.
pub(crate) fn exact_rules<'a>(calls: impl Iterator<Item = &'a [Option<String>]>) -> Option<Vec<Vec<String>>> {
    distinct(calls.map(|argv| {
        let words: Vec<String> = argv.iter().cloned().collect::<Option<_>>()?;
        // Alone these mean every command, and `*` means any word.
        let is_special = matches!(words.as_slice(), [word] if TOOL_NAMES.contains(&word.as_str()));
        let is_plain = |word: &String| !word.is_empty() && word != "*" && !word.contains('\0');
        (!words.is_empty() && !is_special && words.iter().all(is_plain)).then_some(words)
    }))
}

/// The rules, each once. `None`: one is missing, or there are too many.
fn distinct(rules: impl Iterator<Item = Option<Vec<String>>>) -> Option<Vec<Vec<String>>> {
    let mut distinct: Vec<Vec<String>> = Vec::new();
    for rule in rules {
        let rule = rule?;
        if !distinct.contains(&rule) {
            distinct.push(rule);
        }
    }
    (distinct.len() <= MAX_OFFERED_RULES).then_some(distinct)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_for_exactly_a_call_has_words_that_mean_themselves() {
        let call = |words: &[&str]| words.iter().map(|word| Some((*word).to_owned())).collect::<Vec<_>>();
        let rules = |calls: &[Vec<Option<String>>]| exact_rules(calls.iter().map(Vec::as_slice));
        let rm = call(&["rm", "-rf", "a b"]);
        assert_eq!(rules(&[rm.clone(), rm]).unwrap(), [["rm", "-rf", "a b"]]);
        let unknown = vec![Some("rm".to_owned()), None];
        for odd in [call(&["shell"]), call(&["*"]), call(&["git", "*"]), call(&["git", ""]), unknown] {
            assert_eq!(rules(std::slice::from_ref(&odd)), None, "{odd:?}");
        }
        let many: Vec<_> = (0..9).map(|number| call(&["a", &number.to_string()])).collect();
        assert_eq!(rules(&many), None);
        assert_eq!(rules(&many[..8]).unwrap().len(), 8);
    }
}

//! Which files programs name that list some: `git ls-files`, `ls`, `rg --files`, `compgen -f`, `du -a`; and what code prints that is
//! a string in it.

use shellgate_syntax::{Value, Why, Word};

use super::code_texts::delimited;
use super::spelling::Spelling;
use super::values::{KnownText, MAX_VALUES};
use crate::programs::{ProgramKind, kind_of, words};

/// How many words of a listing are looked at.
const MAX_WORDS: usize = 32;

/// Spellings of the folder that a command is in.
const HERE: [&str; 8] = [".", "./", "$PWD", "\"$PWD\"", "${PWD}", "\"${PWD}\"", "$(pwd)", "\"$(pwd)\""];

/// Options of git's listings that only name files which can't be lost.
const WITHOUT_LOSS: [&str; 3] = ["-d", "--deleted", "--diff-filter=D"];

impl KnownText<'_> {
    /// The names that a program lists. `None`: it is no such program.
    pub(super) fn listed_names(
        &self,
        name: &str,
        words: &[Word],
        at: usize,
        depth: usize,
    ) -> Option<Vec<Spelling>> {
        let words = words.get(..words.len().min(MAX_WORDS)).unwrap_or_default();
        let texts: Vec<&str> = words.iter().map(|word| word.value.lead()).collect();
        let has = |wanted: &[&str]| texts.iter().any(|text| wanted.contains(text));
        let letter = |letters: &[char]| {
            texts
                .iter()
                .any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains(letters))
        };
        let operands = || words.iter().skip(1).filter(|word| !word.value.lead().starts_with('-'));
        let spelled = |words: &mut dyn Iterator<Item = &Word>| -> Vec<Spelling> {
            let found = words.take(MAX_VALUES).flat_map(|word| self.word(word, at, depth + 1).all);
            found.take(MAX_VALUES).collect()
        };
        let everything = |is_hidden: bool| {
            let hidden = is_hidden.then(|| Spelling::source(".[!.]*"));
            [Spelling::source("*")].into_iter().chain(hidden).collect::<Vec<_>>()
        };
        let is_here = |word: &&Word| HERE.contains(&word.span.of(self.source));
        let is_pattern =
            |word: &&Word| matches!(&word.value, Value::Unknown(unknown) if unknown.why == Why::Glob);
        match name {
            "ls" if letter(&['d']) => Some(spelled(&mut operands())),
            "ls" | "dir" | "vdir" => {
                let names_all = operands().next().is_none() || operands().any(|word| is_here(&word));
                let mut found = if names_all { everything(letter(&['a', 'A'])) } else { Vec::new() };
                found.extend(spelled(&mut operands().filter(is_pattern)));
                Some(found).filter(|found| !found.is_empty())
            }
            "compgen" if letter(&['f', 'd']) || has(&["-G"]) => Some(everything(false)),
            "du" if letter(&['a']) && operands().all(|word| is_here(&word)) => {
                Some(vec![Spelling::source("**"), Spelling::source(".[!.]*")])
            }
            "stat" => Some(spelled(&mut operands().filter(is_pattern))),
            "rg" if has(&["--files"]) && !letter(&['g', 't']) && !has(&["--glob", "--type"]) => {
                operands().all(|word| is_here(&word)).then(|| vec![Spelling::source("**")])
            }
            "fd" | "fdfind" if operands().next().is_none() && texts.len() == 1 => {
                Some(vec![Spelling::source("**")])
            }
            "git" => self.listed_by_git(words, at, depth),
            "jq" | "gojq" | "jaq" if letter(&['n']) => Some(printed_strings(&texts)),
            "awk" | "gawk" | "mawk" => None,
            _ if kind_of(name) == Some(ProgramKind::Interpreter) && letter(&['c', 'e', 'E', 'p', 'r']) => {
                Some(printed_strings(&texts))
            }
            _ => None,
        }
    }

    /// The files that `git ls-files` and `git diff --name-only` name: those that fit its patterns, or all.
    fn listed_by_git(&self, words: &[Word], at: usize, depth: usize) -> Option<Vec<Spelling>> {
        let texts: Vec<&str> = words.iter().map(|word| word.value.lead()).collect();
        let place = texts.iter().position(|text| words::RUIN_LISTING_SUBCOMMANDS.contains(text))?;
        let subcommand = texts.get(place)?;
        let has = |wanted: &[&str]| texts.iter().any(|text| wanted.contains(text));
        if *subcommand != "ls-files" && !has(&["--name-only", "--name-status"]) {
            return None;
        }
        if has(&WITHOUT_LOSS) {
            return Some(Vec::new());
        }
        let dashes = texts.iter().position(|text| *text == "--");
        let from = match (dashes, *subcommand) {
            (Some(dashes), _) => dashes + 1,
            (None, "ls-files") => place + 1,
            // What stands there may be commits.
            (None, _) => words.len(),
        };
        let named = words.iter().skip(from).filter(|word| !word.value.lead().starts_with('-'));
        let mut found = Vec::new();
        for word in named.take(MAX_VALUES) {
            if HERE.contains(&word.span.of(self.source)) {
                found.push(Spelling::source("**"));
            } else {
                found.extend(self.word(word, at, depth + 1).all);
            }
        }
        if found.is_empty() {
            found.push(Spelling::source("**"));
        }
        found.truncate(MAX_VALUES);
        Some(found)
    }
}

/// The strings in code, as what it may print.
fn printed_strings(texts: &[&str]) -> Vec<Spelling> {
    let mut all = Vec::new();
    for text in texts.iter().skip(1) {
        let mut rest = *text;
        while let Some(start) = rest.find(['"', '\'']) {
            let (_, from) = rest.split_at(start);
            let mark = if from.starts_with('"') { '"' } else { '\'' };
            let Some((string, behind)) = from.get(1..).and_then(|from| delimited(from, mark)) else { break };
            all.push(Spelling::text(string));
            rest = behind;
            if all.len() >= MAX_VALUES {
                return all;
            }
        }
    }
    all
}

//! What `find` finds: the names that its tests let through, as far as they matter.
//!
//! A test such as `-name '.g*'` also finds `.git`. So a pattern stands for itself below each starting point, and for the names
//! in the table that nobody wants to lose.

use shellgate_syntax::Word;

use super::spelling::{Atom, Spelling, quoted};
use super::values::{KnownText, MAX_VALUES};
use crate::programs::words;

/// What an expression of find does in one of its branches (`-o` is between them).
#[derive(Default)]
struct Branch<'w> {
    /// The tests of names and paths, with their patterns.
    patterns: Vec<(&'w str, &'w str)>,
    /// Whether other tests leave things out.
    narrows: bool,
    /// Whether it finds no folders.
    only_files: bool,
    /// Whether it leaves out what it finds.
    prunes: bool,
    /// What it does with what it finds.
    actions: Vec<Action<'w>>,
}

enum Action<'w> {
    Delete,
    Run(Vec<&'w Word>),
}

/// The names that a call of find prints.
pub(super) fn found_files(text: &KnownText<'_>, words: &[Word], at: usize, depth: usize) -> Vec<Spelling> {
    let (starts, branches) = expression(words);
    let starts = spelled(&starts, text, at, depth);
    let found =
        branches.iter().filter(|branch| branch.actions.is_empty()).flat_map(|branch| branch.found(&starts));
    found.take(MAX_VALUES).collect()
}

/// The commands that a call of find runs for what its tests let through.
pub(super) fn commands(text: &KnownText<'_>, words: &[Word], at: usize) -> Vec<String> {
    let (starts, branches) = expression(words);
    let starts = spelled(&starts, text, at, 0);
    let mut all = Vec::new();
    for branch in &branches {
        if all.len() >= MAX_VALUES {
            break;
        }
        for found in branch.found(&starts).iter().map(Spelling::as_word) {
            for action in &branch.actions {
                all.push(match action {
                    Action::Delete => format!("rm -r {found}"),
                    Action::Run(words) => {
                        let words = words.iter().map(|word| match word.value.known() {
                            Some("{}") => found.clone(),
                            Some(own) if own.contains("{}") => quoted(&own.replace("{}", &found)),
                            _ => word.span.of(text.source).to_owned(),
                        });
                        words.collect::<Vec<_>>().join(" ")
                    }
                });
            }
        }
    }
    all.truncate(MAX_VALUES);
    all
}

fn spelled(starts: &[&Word], text: &KnownText<'_>, at: usize, depth: usize) -> Vec<Spelling> {
    if starts.is_empty() {
        return vec![Spelling::text(".")];
    }
    let starts = starts.iter().take(MAX_VALUES).flat_map(|word| text.word(word, at, depth + 1).all);
    starts.take(MAX_VALUES).collect()
}

/// The starting points of a call, and the branches of its expression.
fn expression(words: &[Word]) -> (Vec<&Word>, Vec<Branch<'_>>) {
    let mut words = words.iter().skip(1).peekable();
    let mut starts = Vec::new();
    while let Some(word) = words.next_if(|word| {
        let lead = word.value.lead();
        words::FIND_LEADING_OPTIONS.contains(&lead) || !lead.starts_with(['-', '(', '!'])
    }) {
        if !word.value.lead().starts_with('-') {
            starts.push(word);
        }
    }
    let mut branches = vec![Branch::default()];
    let mut negated = false;
    while let Some(word) = words.next() {
        let Some(branch) = branches.last_mut() else { break };
        let Some(name) = word.value.known() else { continue };
        match name {
            "!" | "-not" => {
                negated = true;
                continue;
            }
            "(" => continue,
            "-o" | "-or" | "," => branches.push(Branch::default()),
            "-prune" | "-quit" => branch.prunes = true,
            "-delete" => branch.actions.push(Action::Delete),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let mut command = Vec::new();
                for word in words.by_ref() {
                    match word.value.known() {
                        Some(";") => break,
                        Some("+") if command.last().is_some_and(is_placeholder) => break,
                        _ => command.push(word),
                    }
                }
                branch.actions.push(Action::Run(command));
            }
            _ if words::RUIN_FIND_NAME_TESTS.contains(&name) => {
                let pattern = words.next().and_then(|word| word.value.known());
                branch.narrows |= negated;
                branch.patterns.extend(pattern.filter(|_| !negated).map(|pattern| (name, pattern)));
            }
            "-type" => {
                let kinds = words.next().and_then(|word| word.value.known()).unwrap_or_default();
                branch.only_files |= kinds.contains('d') == negated;
            }
            "-mindepth" => {
                branch.narrows |= words.next().and_then(|word| word.value.known()) != Some("0");
            }
            "-maxdepth" => {
                words.next();
            }
            _ if words::FIND_EXPRESSIONS_WITH_ARGUMENT.contains(&name) => {
                words.next();
                branch.narrows = true;
            }
            "-empty" | "-nouser" | "-nogroup" | "-executable" => branch.narrows = true,
            _ => {}
        }
        negated = false;
    }
    (starts, branches)
}

fn is_placeholder(word: &&Word) -> bool {
    word.value.known() == Some("{}")
}

impl Branch<'_> {
    /// What is found below the starting points, as far as it matters.
    fn found(&self, starts: &[Spelling]) -> Vec<Spelling> {
        if self.prunes || self.only_files {
            return Vec::new();
        }
        if self.patterns.is_empty() {
            return if self.narrows { Vec::new() } else { starts.to_vec() };
        }
        let below = |start: &Spelling, name: Atom| {
            let mut all = start.clone();
            let ends_with_slash = matches!(all.0.last(), Some(Atom::Text(text)) if text.ends_with('/'));
            if !ends_with_slash {
                all.0.push(Atom::Text("/".to_owned()));
            }
            all.0.push(name);
            all
        };
        let mut all = Vec::new();
        for start in starts {
            let precious = words::RUIN_PRECIOUS_NAMES
                .iter()
                .filter(|name| self.patterns.iter().all(|(test, pattern)| finds(test, pattern, start, name)));
            all.extend(precious.map(|name| below(start, Atom::Text((*name).to_owned()))));
            for (_, pattern) in self.patterns.iter().filter(|(test, _)| *test == "-name") {
                all.push(below(start, pattern_source(pattern)));
            }
        }
        all
    }
}

/// A pattern as the shell reads one.
fn pattern_source(pattern: &str) -> Atom {
    let mut source = String::new();
    for c in pattern.chars() {
        match c {
            '*' | '?' | '[' | ']' => source.push(c),
            c => source.push_str(&quoted(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Atom::Source(source)
}

/// Whether a test lets a name below a starting point through.
fn finds(test: &str, pattern: &str, start: &Spelling, name: &str) -> bool {
    let pattern = if test.starts_with("-i") { pattern.to_ascii_lowercase() } else { pattern.to_owned() };
    match test {
        "-name" | "-iname" => fits_glob(&pattern, name),
        "-regex" | "-iregex" => {
            let bare = pattern.replace('\\', "");
            let goes_on = |behind: &str| behind.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            bare.split_once(name).is_some_and(|(_, behind)| !goes_on(behind))
        }
        _ => {
            let path = format!("{}/{name}", start.known().unwrap_or_default().trim_end_matches('/'));
            fits_glob(&pattern, &path) || fits_glob(&pattern, &format!("{path}/x"))
        }
    }
}

/// Whether a name fits a pattern with `*`, `?` and `[ ]`, all of which also stand for dots and slashes.
fn fits_glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // `fits[i]`: whether the pattern so far stands for the first `i` characters.
    let mut fits = vec![false; name.len() + 1];
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    let mut rest = pattern.as_slice();
    while let Some((sign, behind)) = rest.split_first() {
        rest = behind;
        if *sign == '*' {
            let mut reached = false;
            for one in &mut fits {
                reached |= *one;
                *one = reached;
            }
            continue;
        }
        let set: Option<&[char]> = match sign {
            '[' => {
                let end = rest.iter().skip(1).position(|c| *c == ']').map(|at| at + 1);
                end.and_then(|end| {
                    let (set, behind) = rest.split_at_checked(end)?;
                    rest = behind.get(1..)?;
                    Some(set)
                })
            }
            _ => None,
        };
        let stands = |c: char| match (sign, set) {
            ('?', _) => true,
            (_, Some(set)) => is_in_set(set, c),
            (sign, None) => *sign == c,
        };
        let next =
            std::iter::once(false).chain(fits.iter().zip(&name).map(|(before, c)| *before && stands(*c)));
        fits = next.collect();
    }
    fits.last().copied().unwrap_or(false)
}

fn is_in_set(set: &[char], c: char) -> bool {
    let (is_other, set) = match set {
        ['!' | '^', rest @ ..] => (true, rest),
        set => (false, set),
    };
    let in_range = |range: &[char]| matches!(range, [low, '-', high] if (*low..=*high).contains(&c));
    (set.contains(&c) || set.windows(3).any(in_range)) != is_other
}

#[cfg(test)]
mod tests {
    use super::fits_glob;

    #[test]
    fn patterns_stand_for_names() {
        for (pattern, name, fits) in [
            (".git", ".git", true),
            (".g*", ".git", true),
            ("*git", ".git", true),
            ("?git", ".git", true),
            (".[a-h]it", ".git", true),
            (".[!g]it", ".git", false),
            ("*", ".git", true),
            ("./.git*", "./.git/x", true),
            ("*/.git/*", "./.git/x", true),
            ("*.pyc", ".git", false),
            (".gitignore", ".git", false),
            ("[", "[", true),
        ] {
            assert_eq!(fits_glob(pattern, name), fits, "{pattern} {name}");
        }
    }
}

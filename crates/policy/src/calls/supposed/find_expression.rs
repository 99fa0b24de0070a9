//! The expression of a call of find: read as a tree, and tried on a name.

use shellgate_syntax::Word;

use super::globs::fits_glob;
use crate::programs::words;

/// How deep parentheses are followed. Deeper ones are read as if they weren't there.
const MAX_DEPTH: usize = 64;

/// A call of find.
pub(super) struct Search<'w> {
    /// The words that name its starting points.
    pub(super) starts: Vec<&'w Word>,
    tree: Node<'w>,
    min_depth: usize,
    max_depth: Option<usize>,
}

/// A part of the expression.
enum Node<'w> {
    All(Vec<Node<'w>>),
    Any(Vec<Node<'w>>),
    Not(Box<Node<'w>>),
    /// A test of names or paths, with its pattern.
    Name(&'w str, &'w str),
    /// `-type`, with its letters.
    Type(&'w str),
    /// A test that is true of all, or of most.
    True,
    /// A test that only few pass.
    Few,
    Prune,
    Do(Action<'w>),
}

/// What is done with a name that is found.
#[derive(Clone)]
pub(super) enum Action<'w> {
    Delete,
    Run(Vec<&'w Word>),
}

/// A name that an expression is tried on.
pub(super) struct Candidate<'c> {
    /// Its last part. `None`: some name that no pattern is for.
    pub(super) name: Option<&'c str>,
    /// The whole path, as find prints it.
    pub(super) path: &'c str,
    pub(super) is_folder: Option<bool>,
    pub(super) depth: usize,
}

/// What came of a candidate.
#[derive(Default)]
pub(super) struct Outcome<'e, 'w> {
    /// What is done with it.
    pub(super) actions: Vec<&'e Action<'w>>,
    /// Whether it is found at all.
    pub(super) is_found: bool,
    /// Whether nothing below it is looked at.
    pub(super) is_pruned: bool,
}

impl<'w> Search<'w> {
    /// Reads the words of a call, the program's name among them.
    pub(super) fn read(words: &'w [Word]) -> Self {
        let mut rest = words.get(1..).unwrap_or_default();
        let mut starts = Vec::new();
        while let Some((word, behind)) = rest.split_first() {
            let lead = word.value.lead();
            if !words::FIND_LEADING_OPTIONS.contains(&lead) && lead.starts_with(['-', '(', '!']) {
                break;
            }
            if !lead.starts_with('-') {
                starts.push(word);
            }
            rest = behind;
        }
        let mut reader = Reader { words: rest, open: 0, ignored: 0, min_depth: 0, max_depth: None };
        let mut parts = vec![reader.any()];
        // A `)` without its `(`: find refuses that. What is behind it counts all the same.
        while !reader.words.is_empty() {
            reader.next();
            parts.push(reader.any());
        }
        let tree = Node::Any(parts);
        Self { starts, tree, min_depth: reader.min_depth, max_depth: reader.max_depth }
    }

    /// Whether the expression has an action of its own, so that it doesn't print.
    pub(super) fn acts(&self) -> bool {
        self.tree.acts()
    }

    /// The patterns that names must have.
    pub(super) fn names(&self) -> Vec<&'w str> {
        let mut all = Vec::new();
        self.tree.names(&mut all);
        all
    }

    /// Tries the expression on a name.
    pub(super) fn outcome<'e>(&'e self, candidate: &Candidate<'_>) -> Outcome<'e, 'w> {
        let mut outcome = Outcome::default();
        let is_reached =
            candidate.depth >= self.min_depth && self.max_depth.is_none_or(|most| candidate.depth <= most);
        if is_reached {
            outcome.is_found = self.tree.holds(candidate, &mut outcome);
        }
        outcome
    }
}

impl<'w> Node<'w> {
    fn acts(&self) -> bool {
        match self {
            Self::All(nodes) | Self::Any(nodes) => nodes.iter().any(Self::acts),
            Self::Not(node) => node.acts(),
            Self::Do(_) => true,
            Self::Name(..) | Self::Type(_) | Self::True | Self::Few | Self::Prune => false,
        }
    }

    fn names(&self, all: &mut Vec<&'w str>) {
        match self {
            Self::All(nodes) | Self::Any(nodes) => nodes.iter().for_each(|node| node.names(all)),
            Self::Name("-name", pattern) => all.push(pattern),
            _ => {}
        }
    }

    fn holds<'e>(&'e self, candidate: &Candidate<'_>, outcome: &mut Outcome<'e, 'w>) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.holds(candidate, outcome)),
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(candidate, outcome)),
            // What only few pass isn't what all others pass: `! -mtime +3`.
            Self::Not(node) if matches!(**node, Self::Few) => false,
            Self::Not(node) => !node.holds(candidate, outcome),
            Self::Name(test, pattern) => finds(test, pattern, candidate),
            Self::Type(letters) => candidate.is_folder.is_none_or(|folder| {
                letters.split(',').any(|letter| if folder { letter == "d" } else { letter == "f" })
            }),
            Self::True => true,
            Self::Few => false,
            Self::Prune => {
                outcome.is_pruned = true;
                true
            }
            Self::Do(action) => {
                outcome.actions.push(action);
                true
            }
        }
    }
}

/// Whether a test lets a name through.
fn finds(test: &str, pattern: &str, candidate: &Candidate<'_>) -> bool {
    let pattern = if test.starts_with("-i") { pattern.to_ascii_lowercase() } else { pattern.to_owned() };
    match (test, candidate.name) {
        ("-name" | "-iname", Some(name)) => name == pattern || fits_glob(&pattern, name),
        ("-name" | "-iname", None) => pattern == "*",
        ("-regex" | "-iregex", _) => {
            let bare = pattern.replace('\\', "");
            let goes_on = |behind: &str| behind.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            candidate.name.is_some_and(|name| {
                bare.split_once(name).is_some_and(|(_, behind)| !goes_on(behind))
                    || matches!(bare.as_str(), ".*" | "./.*")
            })
        }
        _ => {
            let inside = format!("{}/x", candidate.path);
            fits_glob(&pattern, candidate.path)
                || candidate.is_folder != Some(false) && fits_glob(&pattern, &inside)
        }
    }
}

/// Reads an expression.
struct Reader<'w> {
    words: &'w [Word],
    /// How many parentheses are open, of those that are followed.
    open: usize,
    /// How many are open inside those.
    ignored: usize,
    min_depth: usize,
    max_depth: Option<usize>,
}

impl<'w> Reader<'w> {
    fn next(&mut self) -> Option<&'w Word> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn peek(&self) -> Option<&'w str> {
        self.words.first().map(|word| word.value.known().unwrap_or_default())
    }

    fn argument(&mut self) -> &'w str {
        self.next().and_then(|word| word.value.known()).unwrap_or_default()
    }

    /// Parts with `-o` or `,` between them.
    fn any(&mut self) -> Node<'w> {
        let mut all = vec![self.all()];
        while let Some("-o" | "-or" | ",") = self.peek() {
            self.next();
            all.push(self.all());
        }
        Node::Any(all)
    }

    fn all(&mut self) -> Node<'w> {
        let mut all = Vec::new();
        while let Some(word) = self.peek() {
            if word == ")" && self.ignored > 0 {
                self.ignored -= 1;
                self.next();
                continue;
            }
            if matches!(word, "-o" | "-or" | "," | ")") {
                break;
            }
            all.extend(self.one());
        }
        Node::All(all)
    }

    /// A test or action, with what negates it. Signs are counted, not nested: a text may hold thousands of them.
    fn one(&mut self) -> Option<Node<'w>> {
        let mut is_negated = false;
        let mut name = self.argument();
        while matches!(name, "!" | "-not") {
            is_negated = !is_negated;
            name = self.argument();
        }
        let node = self.primary(name)?;
        Some(if is_negated { Node::Not(Box::new(node)) } else { node })
    }

    fn primary(&mut self, name: &'w str) -> Option<Node<'w>> {
        Some(match name {
            "-a" | "-and" => return None,
            "(" if self.open == MAX_DEPTH => {
                self.ignored += 1;
                return None;
            }
            "(" => {
                self.open += 1;
                let inner = self.any();
                self.open -= 1;
                if self.peek() == Some(")") {
                    self.next();
                }
                inner
            }
            "-prune" => Node::Prune,
            "-false" => Node::Any(Vec::new()),
            "-delete" => Node::Do(Action::Delete),
            "-exec" | "-execdir" | "-ok" | "-okdir" => Node::Do(Action::Run(self.command())),
            "-type" | "-xtype" => Node::Type(self.argument()),
            "-mindepth" => {
                self.min_depth = self.argument().parse().unwrap_or(0);
                Node::True
            }
            "-maxdepth" => {
                self.max_depth = self.argument().parse().ok();
                Node::True
            }
            _ if words::RUIN_FIND_NAME_TESTS.contains(&name) => Node::Name(name, self.argument()),
            // Nearly all files that a person works on are new or small.
            "-mtime" | "-mmin" | "-ctime" | "-cmin" | "-atime" | "-amin" | "-size" => {
                if self.argument().starts_with('-') { Node::True } else { Node::Few }
            }
            "-newer" | "-anewer" | "-cnewer" | "-user" | "-group" | "-uid" | "-gid" => {
                self.argument();
                Node::True
            }
            "-empty" | "-nouser" | "-nogroup" | "-executable" => Node::Few,
            _ if words::FIND_EXPRESSIONS_WITH_ARGUMENT.contains(&name) => {
                self.argument();
                if matches!(name, "-printf" | "-regextype" | "-fstype") { Node::True } else { Node::Few }
            }
            _ => Node::True,
        })
    }

    fn command(&mut self) -> Vec<&'w Word> {
        let mut command: Vec<&Word> = Vec::new();
        while let Some(word) = self.next() {
            let is_last = match word.value.known() {
                Some(";") => true,
                Some("+") => command.last().is_some_and(|last| last.value.known() == Some("{}")),
                _ => false,
            };
            if is_last {
                break;
            }
            command.push(word);
        }
        command
    }
}

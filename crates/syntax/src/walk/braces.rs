//! Brace expansion: `{a,b}` and `{1..9}`, before anything else is expanded.
//!
//! Bash does this on the text of the word. Here it is done on the pieces, where quotes and expansions are opaque.

use std::cell::Cell;

use crate::Span;
use crate::tree::{Piece, PieceKind};

/// An expansion to more words than this isn't listed.
const MAX_BRACE_WORDS: usize = 256;

/// How many characters and pieces all brace expansions of a text may have together.
pub(super) const MAX_EXPANDED_ATOMS: usize = 80_000;

/// A word with more opening braces than this isn't expanded.
const MAX_OPEN_BRACES: usize = 64;

/// The result of expanding a word.
pub(super) enum Expanded {
    /// The word itself: there is nothing to expand.
    Same,
    /// These words.
    Words(Vec<Vec<Piece>>),
    /// Too many words, or text whose meaning the expansion changes.
    Unknown,
}

/// An unquoted character, or a piece as a whole.
#[derive(Clone, Debug)]
enum Atom {
    Char(char, Span),
    Piece(Piece),
}

impl Atom {
    fn is(&self, character: char) -> bool {
        matches!(self, Self::Char(own, _) if *own == character)
    }
}

/// The expansion has too many words, or isn't followed.
struct TooManyWords;

/// Expands the braces in a word. `source` is the whole text, and `budget` is how many characters and pieces the expansions may
/// still have.
pub(super) fn expand(pieces: &[Piece], source: &str, budget: &Cell<Option<usize>>) -> Expanded {
    if has_braces_between_inner_quotes(pieces, source) || has_braces_in_old_expression(pieces, source) {
        return Expanded::Unknown;
    }
    let literals = || {
        pieces.iter().filter_map(|piece| match &piece.kind {
            PieceKind::Literal(text) => Some(text.as_str()),
            _ => None,
        })
    };
    match literals().map(|text| text.matches('{').count()).sum::<usize>() {
        0 => return Expanded::Same,
        1..=MAX_OPEN_BRACES if budget.get().is_some() => {}
        _ => return Expanded::Unknown,
    }
    let atoms = atoms(pieces);
    if first_braces(&atoms, 0).is_none() {
        return Expanded::Same;
    }
    if pieces.iter().any(|piece| matches!(piece.kind, PieceKind::Array(_))) {
        return Expanded::Same;
    }
    // `{$,}x` makes `$x`, which bash then expands. Whether `{}` opens braces depends on what is before it, also in quotes.
    let is_empty = |pair: &[Atom]| matches!(pair, [first, second] if first.is('{') && second.is('}'));
    if literals().any(|text| text.contains('$')) || atoms.windows(2).any(is_empty) {
        return Expanded::Unknown;
    }
    match words(&atoms, budget) {
        Ok(words) => {
            Expanded::Words(words.iter().map(|word| joined(word)).filter(|word| !word.is_empty()).collect())
        }
        Err(TooManyWords) => Expanded::Unknown,
    }
}

/// Whether bash may expand braces that stand in double quotes: it takes the inner quotes of `"${x:-"{a,b}"}"` for the end of the
/// outer ones.
fn has_braces_between_inner_quotes(pieces: &[Piece], source: &str) -> bool {
    let written = |piece: &Piece| source.get(piece.span.start..piece.span.end).unwrap_or_default();
    let has_inner_quotes = |piece: &Piece| match &piece.kind {
        PieceKind::Parameter(_) | PieceKind::Arithmetic(_) => written(piece).contains('"'),
        // `$( … )` is one thing for it, backticks aren't.
        PieceKind::Substitution(_) => written(piece).starts_with('`') && written(piece).contains('"'),
        _ => false,
    };
    let is_mistaken =
        |piece: &Piece| matches!(&piece.kind, PieceKind::Double(inner) if inner.iter().any(has_inner_quotes));
    pieces.iter().any(is_mistaken) && {
        let all = || pieces.iter().map(written);
        let separators = all().any(|text| text.contains(',') || text.contains(".."));
        separators && all().any(|text| text.replace("${", "").contains('{'))
    }
}

/// Whether an expression is written as `$[ … ]`, which bash doesn't skip when it looks for braces.
fn has_braces_in_old_expression(pieces: &[Piece], source: &str) -> bool {
    pieces.iter().any(|piece| match &piece.kind {
        PieceKind::Double(inner) => has_braces_in_old_expression(inner, source),
        PieceKind::Arithmetic(_) => {
            let written = source.get(piece.span.start..piece.span.end).unwrap_or_default();
            written.starts_with("$[") && written.contains('{')
        }
        _ => false,
    })
}

fn atoms(pieces: &[Piece]) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for piece in pieces {
        match &piece.kind {
            PieceKind::Literal(text) => atoms.extend(text.chars().map(|one| Atom::Char(one, piece.span))),
            _ => atoms.push(Atom::Piece(piece.clone())),
        }
    }
    atoms
}

fn joined(atoms: &[Atom]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for atom in atoms {
        match atom {
            Atom::Piece(piece) => pieces.push(piece.clone()),
            Atom::Char(character, span) => match pieces.last_mut() {
                Some(Piece { kind: PieceKind::Literal(text), .. }) => text.push(*character),
                _ => pieces.push(Piece { span: *span, kind: PieceKind::Literal(character.to_string()) }),
            },
        }
    }
    pieces
}

/// The first braces from `from` on that expand: the positions of `{` and `}`.
fn first_braces(atoms: &[Atom], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(atom) = atoms.get(at) {
        // `{}` at the start of a word isn't expanded: `find -exec … {}`.
        let empty = at == 0 && atoms.get(1).is_some_and(|next| next.is('}'));
        if atom.is('{')
            && !empty
            && let Some(close) = closing(atoms, at)
        {
            return Some((at, close));
        }
        at += 1;
    }
    None
}

/// The `}` for the `{` at `open`, if a comma or two dots are between them, outside inner braces.
fn closing(atoms: &[Atom], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut separated = false;
    let mut at = open + 1;
    while let Some(atom) = atoms.get(at) {
        if atom.is('{') {
            depth += 1;
        } else if atom.is('}') {
            if depth > 0 {
                depth -= 1;
            } else if separated {
                return Some(at);
            }
        } else if depth == 0 {
            let follows = |distance: usize, character| {
                atoms.get(at + distance).is_some_and(|next: &Atom| next.is(character))
            };
            // The brace of `..}` doesn't close a sequence.
            let is_sequence = atom.is('.') && follows(1, '.') && !follows(2, '}');
            separated |= atom.is(',') || is_sequence;
        }
        at += 1;
    }
    None
}

/// What it costs to copy these: a substitution has a tree of about as many parts as its text has characters.
fn weight(atoms: &[Atom]) -> usize {
    let one = |atom: &Atom| match atom {
        Atom::Char(..) => 1,
        Atom::Piece(piece) => piece.span.end.saturating_sub(piece.span.start).max(1),
    };
    atoms.iter().map(one).sum()
}

fn words(atoms: &[Atom], budget: &Cell<Option<usize>>) -> Result<Vec<Vec<Atom>>, TooManyWords> {
    let Some((open, close)) = first_braces(atoms, 0) else { return Ok(vec![atoms.to_vec()]) };
    let before = atoms.get(..open).unwrap_or_default();
    let inner = atoms.get(open + 1..close).unwrap_or_default();
    let after = atoms.get(close + 1..).unwrap_or_default();
    let middle = if inner.iter().any(|atom| atom.is(',')) {
        let mut middle = Vec::new();
        for part in parts(inner) {
            middle.extend(words(part, budget)?);
        }
        middle
    } else {
        match sequence(inner)? {
            Some(middle) => middle,
            None => vec![atoms.get(open..=close).unwrap_or_default().to_vec()],
        }
    };
    let tails = words(after, budget)?;
    if middle.len().saturating_mul(tails.len()) > MAX_BRACE_WORDS {
        return Err(TooManyWords);
    }
    let size = |parts: &[Vec<Atom>]| parts.iter().map(|part| weight(part)).sum::<usize>();
    let each = weight(before) * middle.len() * tails.len();
    let cost = each + size(&middle) * tails.len() + size(&tails) * middle.len();
    budget.set(budget.get().and_then(|left| left.checked_sub(cost)));
    if budget.get().is_none() {
        return Err(TooManyWords);
    }
    let mut all = Vec::with_capacity(middle.len() * tails.len());
    for part in &middle {
        for tail in &tails {
            all.push([before, part, tail].concat());
        }
    }
    Ok(all)
}

/// The parts between commas that aren't in inner braces.
fn parts(atoms: &[Atom]) -> Vec<&[Atom]> {
    let mut depth = 0_usize;
    atoms
        .split(|atom| {
            if atom.is('{') {
                depth += 1;
            } else if atom.is('}') {
                depth = depth.saturating_sub(1);
            }
            depth == 0 && atom.is(',')
        })
        .collect()
}

/// The words of a sequence: `1..9`, `a..f`, `1..9..2`. `None` if it isn't one.
fn sequence(atoms: &[Atom]) -> Result<Option<Vec<Vec<Atom>>>, TooManyWords> {
    let mut text = String::new();
    let mut place = Span::default();
    for atom in atoms {
        match atom {
            Atom::Char(character, span) => {
                text.push(*character);
                place = *span;
            }
            Atom::Piece(_) => return Err(TooManyWords),
        }
    }
    let mut fields = text.split("..");
    let (Some(first), Some(last), step, None) = (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Ok(None);
    };
    let step = match step.map(str::parse::<i64>) {
        None => None,
        Some(Ok(step)) => Some(step),
        Some(Err(_)) => return Ok(None),
    };
    let results = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => {
            let width = padding(first, last);
            steps(from, to, step)?.into_iter().map(|value| padded(value, width)).collect()
        }
        _ => match letters(first, last, step)? {
            Some(results) => results,
            None => return Ok(None),
        },
    };
    let atoms = |word: String| word.chars().map(|one| Atom::Char(one, place)).collect();
    Ok(Some(results.into_iter().map(atoms).collect()))
}

fn steps(from: i64, to: i64, step: Option<i64>) -> Result<Vec<i64>, TooManyWords> {
    let step = step.unwrap_or(1).checked_abs().ok_or(TooManyWords)?.max(1);
    let distance = from.checked_sub(to).and_then(i64::checked_abs).ok_or(TooManyWords)?;
    let count = usize::try_from(distance / step).map_err(|_| TooManyWords)?;
    if count >= MAX_BRACE_WORDS {
        return Err(TooManyWords);
    }
    let signed = if from <= to { step } else { -step };
    let mut value = from;
    let mut values = vec![from];
    for _ in 0..count {
        value += signed;
        values.push(value);
    }
    Ok(values)
}

/// The letters of a sequence. Only within upper or lower case: between the two are characters that mean something to the
/// shell.
fn letters(first: &str, last: &str, step: Option<i64>) -> Result<Option<Vec<String>>, TooManyWords> {
    let ([from], [to]) = (first.as_bytes(), last.as_bytes()) else { return Ok(None) };
    if !from.is_ascii_alphabetic() || !to.is_ascii_alphabetic() {
        return Ok(None);
    }
    if from.is_ascii_lowercase() != to.is_ascii_lowercase() {
        return Err(TooManyWords);
    }
    let values = steps(i64::from(*from), i64::from(*to), step)?;
    let letter =
        |value: i64| u8::try_from(value).map(|byte| char::from(byte).to_string()).unwrap_or_default();
    Ok(Some(values.into_iter().map(letter).collect()))
}

/// The width of the numbers, if one of them begins with a zero. Else 0.
fn padding(first: &str, last: &str) -> usize {
    let padded = |text: &str| {
        let digits = text.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    };
    if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 }
}

fn padded(value: i64, width: usize) -> String {
    format!("{value:0width$}")
}

//! What the other readers take for a text. Both have words for which their time grows much faster than the text.
//!
//! The formulas were found by measuring: with them, no text of 100 kB takes either reader more than a fraction of a second.

/// How much work `brush-parser` may have with the brackets of a text.
const MAX_BRUSH_COST: usize = 4 << 20;

/// How many signs of operators one expression may have for `rable`: it calls itself for what is right of `?`, `=` and prefixes,
/// and the stack has an end.
const MAX_EXPRESSION_SIGNS: usize = 400;

/// How deep subshells may be inside each other for `brush-parser`: when it refuses one, it tries all around it again.
const MAX_BRUSH_SUBSHELLS: usize = 8;

/// The work that `rable` has with the braces of a text, in bytes that it reads: in each word with one it looks at every
/// expansion for every character, and at all braces for each pair.
pub(super) fn of_braces(text: &str) -> usize {
    let cost = |chunk: &str| match count(chunk, b'{') {
        0 => 0,
        braces => {
            let cube = braces.saturating_mul(braces).saturating_mul(braces);
            chunk.len().saturating_mul(chunk.len()) / 256 + cube / 16
        }
    };
    chunks(text).map(cost).fold(0, usize::saturating_add)
}

/// The work that `rable` has with `((`, in bytes that it reads: it takes each for arithmetic first and reads on to the `))`
/// that ends it, or to the end of the text. More than `most` isn't counted. An expression that it can't read is too much.
pub(super) fn of_double_parens(text: &str, most: usize) -> usize {
    let bytes = text.as_bytes();
    let mut cost = 0_usize;
    for at in memchr::memmem::find_iter(bytes, b"(").filter(|at| bytes.get(at + 1) == Some(&b'(')) {
        let rest = bytes.get(at + 2..).unwrap_or_default();
        let length = until_double_paren(rest);
        let signs = rest.iter().take(length).filter(|byte| b"?=+-!~*".contains(byte)).count();
        if signs > MAX_EXPRESSION_SIGNS {
            return usize::MAX;
        }
        cost = cost.saturating_add(length);
        if cost > most {
            break;
        }
    }
    cost
}

/// How many bytes come before the `))` that no parenthesis inside was opened for.
fn until_double_paren(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut rest = bytes.iter().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' if bytes.get(at + 1) == Some(&b')') => return at,
            b'\\' => drop(rest.next()),
            _ => {}
        }
    }
    bytes.len()
}

/// Whether `brush-parser` reads a text in time: for each bracket that may begin a subscript it looks through the rest of the
/// word.
pub(super) fn suits_brush(text: &str) -> bool {
    let cost = |chunk: &str| count(chunk, b'[').saturating_mul(chunk.len());
    chunks(text).map(cost).fold(0, usize::saturating_add) <= MAX_BRUSH_COST
        && deepest_subshell(text) <= MAX_BRUSH_SUBSHELLS
}

/// How deep parentheses are inside each other that are no substitutions. Those in quotes count too.
fn deepest_subshell(text: &str) -> usize {
    let (mut open, mut depth, mut deepest) = (Vec::new(), 0, 0);
    let mut before = b' ';
    for byte in text.bytes() {
        if byte == b'(' {
            let is_subshell = !matches!(before, b'$' | b'<' | b'>');
            open.push(is_subshell);
            depth += usize::from(is_subshell);
            deepest = deepest.max(depth);
        } else if byte == b')' {
            depth -= usize::from(open.pop().unwrap_or(false));
        }
        before = byte;
    }
    deepest
}

/// Parts of a text that hold whole words.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', ';', '|', '&'])
}

fn count(chunk: &str, wanted: u8) -> usize {
    chunk.bytes().filter(|byte| *byte == wanted).count()
}

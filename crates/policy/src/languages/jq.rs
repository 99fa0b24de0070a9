//! Programs of jq: tokens that every version reads alike, and names of builtins that only compute, print and read the input.
//!
//! jq has no function that starts a program or writes a file. A program reaches files besides its input only through modules
//! (`import`, `include`, `name::f`, `modulemeta`). No two harmless tokens make a harmful one, so the proof is by tokens: each
//! must be listed here or in the tables, and strings, their interpolations and comments must end where every version ends them.

use crate::programs::words;
use std::collections::BTreeSet;

/// Whether a program reads nothing but its input and the environment.
pub(crate) fn is_plain(text: &str) -> bool {
    Reader::new(text).read(text).is_some_and(|reader| reader.open.is_empty())
}

/// Whether a text is plain so far, and can't go on with a module: modules are taken in only before everything else. What
/// follows may still end a string or name a file of `modulemeta`.
pub(crate) fn is_plain_so_far(text: &str) -> bool {
    let first = text.trim_start();
    let is_begun = match first.chars().next() {
        None | Some('#') => false,
        Some(c) if is_name_start(c) => end_of(first, is_name_part) < first.len(),
        Some(_) => true,
    };
    is_begun && Reader::new(text).read(text).is_some()
}

/// What is open until a closing sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// `(`, `[` or `{`, by the sign that closes it.
    Bracket(char),
    /// A string.
    Text,
    /// `\\(` in a string.
    Interpolation,
}

/// Signs that are tokens or parts of tokens. Backslashes, single quotes and control characters are none.
const SIGNS: &str = ".|,:;=!<>+-*/%?";

struct Reader<'t> {
    open: Vec<Open>,
    /// Functions and parameters that the program defines.
    defined: BTreeSet<&'t str>,
    /// How many interpolations are open.
    interpolations: usize,
    /// The last sign outside of strings that isn't blank.
    last: char,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self { open: Vec::new(), defined: definitions(text), interpolations: 0, last: ' ' }
    }

    /// Reads a text. `None` if a token isn't listed.
    fn read(mut self, text: &str) -> Option<Self> {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_text = self.open.last() == Some(&Open::Text);
            let length = if is_text { self.in_string(rest, first)? } else { self.token(rest, first)? };
            if !is_text && !first.is_whitespace() {
                self.last = first;
            }
            rest = rest.get(length..)?;
        }
        Some(self)
    }

    /// The length of the next part of a string: a plain character, an escape, or its end.
    fn in_string(&mut self, rest: &str, first: char) -> Option<usize> {
        match first {
            '"' => self.close(Open::Text, 1),
            '\\' => match rest.as_bytes().get(1)? {
                b'(' => self.opens(Open::Interpolation, 2),
                b'u' => rest.get(2..6)?.chars().all(|c| c.is_ascii_hexdigit()).then_some(6),
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
                _ => None,
            },
            c => Some(c.len_utf8()),
        }
    }

    /// The length of the next token.
    fn token(&mut self, rest: &str, first: char) -> Option<usize> {
        match first {
            ' ' | '\t' | '\n' => Some(1),
            '#' => self.comment(rest),
            '"' => self.opens(Open::Text, 1),
            '(' => self.opens(Open::Bracket(')'), 1),
            '[' => self.opens(Open::Bracket(']'), 1),
            '{' => self.opens(Open::Bracket('}'), 1),
            ')' if self.open.last() == Some(&Open::Interpolation) => self.close(Open::Interpolation, 1),
            ')' | ']' | '}' => self.close(Open::Bracket(first), 1),
            '0'..='9' => Some(number(rest)),
            '@' => {
                let end = 1 + end_of(rest.get(1..)?, is_name_part);
                words::JQ_FORMATS.contains(&rest.get(1..end)?).then_some(end)
            }
            // A variable: its value comes from the program, the command line or the environment.
            '$' => {
                let end = 1 + end_of(rest.get(1..)?, is_name_part);
                (end > 1 && !rest.get(end..)?.starts_with("::")).then_some(end)
            }
            // A field.
            '.' if rest.get(1..)?.starts_with(is_name_start) => {
                Some(1 + end_of(rest.get(1..)?, is_name_part))
            }
            c if is_name_start(c) => self.name(rest),
            c => SIGNS.contains(c).then_some(1),
        }
    }

    /// The length of a comment. A backslash before the end of its line continues it in some versions, a carriage return
    /// ends it in some.
    fn comment(&self, rest: &str) -> Option<usize> {
        let line = rest.split('\n').next()?;
        let is_plain = !line.contains(['\\', '\r']) && self.interpolations == 0;
        is_plain.then_some(line.len())
    }

    /// The length of a name: a key of an object, a word of the language, or a function that is listed or defined.
    fn name(&self, rest: &str) -> Option<usize> {
        let end = end_of(rest, is_name_part);
        let (name, behind) = (rest.get(..end)?, rest.get(end..)?);
        let is_key = self.open.last() == Some(&Open::Bracket('}')) && ['{', ','].contains(&self.last);
        let is_listed = words::JQ_WORDS.contains(&name) || words::JQ_BUILTINS.contains(&name);
        let is_known = is_key || is_listed || self.defined.contains(name);
        let is_module = behind.starts_with("::") || !is_key && words::JQ_MODULE_WORDS.contains(&name);
        (is_known && !is_module).then_some(end)
    }

    fn opens(&mut self, what: Open, length: usize) -> Option<usize> {
        self.open.push(what);
        self.interpolations += usize::from(what == Open::Interpolation);
        Some(length)
    }

    fn close(&mut self, what: Open, length: usize) -> Option<usize> {
        self.interpolations -= usize::from(what == Open::Interpolation);
        (self.open.pop()? == what).then_some(length)
    }
}

/// The length of a number: `1`, `1.5`, `1e-9`.
fn number(text: &str) -> usize {
    let digits = end_of(text, |c| c.is_ascii_digit() || c == '.');
    let exponent = text.get(digits..).and_then(|rest| rest.strip_prefix(['e', 'E']));
    let Some(exponent) = exponent else { return digits };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    match end_of(exponent.get(sign..).unwrap_or_default(), |c| c.is_ascii_digit()) {
        0 => digits,
        length => digits + 1 + sign + length,
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn end_of(text: &str, part: fn(char) -> bool) -> usize {
    text.find(|c| !part(c)).unwrap_or(text.len())
}

/// Names behind `def`, and names of the parameters there. The body of a function is read like everything else.
fn definitions(text: &str) -> BTreeSet<&str> {
    let heads = text.split("def ").skip(1).filter_map(|behind| behind.split(':').next());
    heads
        .flat_map(|head| head.split(['(', ';', ')']))
        .map(str::trim)
        .filter(|name| !name.is_empty() && name.chars().all(is_name_part))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{is_plain, is_plain_so_far};

    #[test]
    fn programs_that_read_their_input_are_plain() {
        for text in [
            ".",
            ".name",
            ".a[0].b[]?",
            ".[\"a b\"] // \"x\"",
            ".a |= (. + 1e-3 | floor) | del(.b, .c)",
            "[.[] | select(.n > 5 and (.s | test(\"^a\\\\d\"; \"i\")))] | length",
            "{name, v: .version, \"k\": $x, ($y): @base64, import: 1, and: 2, $z}",
            "\"\\(.a): \\(.b | map(\"<\\(.)>\") | join(\", \"))\"",
            "def f(g; $n): if $n == 0 then . else g | f(g; $n - 1) end; f(. * 2; 3)",
            "reduce .[] as [$k, $v] ({}; .[$k] += $v)",
            "to_entries[] | \"\\(.key)=\\(.value)\" | @sh",
            "env.HOME, $ENV.PATH, input_filename, $__loc__",
            "try error(\"x\") catch .",
            ".import.include, .modulemeta",
            "# a comment\n.a # another",
            "label $out | foreach .[] as $i (0; . + $i; if . > 9 then ., break $out else empty end)",
            "1as $x | 2or $x",
            ".. | .a? // empty",
        ] {
            assert!(is_plain(text), "{text}");
        }
    }

    #[test]
    fn everything_else_is_unknown() {
        for text in [
            "import \"m\" as m; .",
            "include \"m\"; .",
            "import \"m\" as $d {search: \"/\"}; $d",
            "module {}; import \"m\" as m; .",
            "# a\nimport \"m\" as m; .",
            "m::f",
            "$m::m",
            "\"m\" | modulemeta",
            "def modulemeta: 1; modulemeta",
            "{a: modulemeta}",
            "{a: \"m\" | modulemeta, b}",
            "\"\\(\"m\" | modulemeta)\"",
            "nosuch",
            "{a: nosuch}",
            "system(\"touch P\")",
            "# a \\\nimport \"m\" as m; .",
            "'a'",
            "\"a",
            "(1",
            "1)",
            "\"\\(1 # )\"\n)\"",
            "\"\\x\"",
            "@nosuch",
            ". & .",
            "\u{0}",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }

    #[test]
    fn a_beginning_is_plain_if_no_module_can_follow() {
        for text in [".", ".[", ".a == \"", "\"", "{", "map(", "[.[] | select(.n == "] {
            assert!(is_plain_so_far(text), "{text}");
        }
        for text in ["", " ", "# x", "in", "i", "import ", "modulemeta | ", "# x\n"] {
            assert!(!is_plain_so_far(text), "{text}");
        }
    }
}

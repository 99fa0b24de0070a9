//! Texts for shells that read otherwise than bash, whose grammar is the one that we read.

use shellgate_syntax::Span;

use super::{FoundCalls, Problem};
use crate::programs::{ProgramKind, ShellGrammar, shell_grammar, words};

/// Whether every shell reads a text alike.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " _./-".contains(c))
}

/// Whether `sh` certainly reads a text as bash does. It knows no braces but those of groups and of `${name}`, and no `time`.
/// Comments, lines that go on and quotes inside quotes are left out, so that quotes can be told by looking at signs.
fn is_posix(text: &str) -> bool {
    let has_command_in_quotes =
        text.contains('"') && (text.contains("$(") || text.contains('`')) && text.contains('{');
    let has_time = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "time");
    if words::BASH_ONLY_SIGNS.iter().any(|sign| text.contains(sign))
        || text.contains("\\\n")
        || has_comment(text) && text.contains(['"', '\'', '`'])
        || has_command_in_quotes
        || has_time
    {
        return false;
    }
    let mut rest = text;
    let mut before = '\n';
    let mut in_quotes = false;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        let next = rest.chars().next().unwrap_or('\n');
        match c {
            '\\' => rest = rest.get(next.len_utf8()..).unwrap_or_default(),
            '\'' if !in_quotes => {
                let Some((_, behind)) = rest.split_once('\'') else { return false };
                rest = behind;
            }
            '"' => in_quotes = !in_quotes,
            '$' if next == '{' => {
                let Some((parameter, behind)) = rest.split_once('}') else { return false };
                if !is_posix_parameter(parameter.trim_start_matches('{')) {
                    return false;
                }
                rest = behind;
            }
            '{' | '}' if !in_quotes => {
                let is_word = is_separator(before) && is_separator(next);
                // `{}` means nothing to either.
                let is_empty = c == '{' && is_separator(before) && next == '}' || before == '{';
                if !(is_word || is_empty) {
                    return false;
                }
            }
            // A descriptor has one digit: `12<a` is the word `12` and a redirect.
            '0'..='9' if before.is_ascii_digit() && matches!(next, '<' | '>') => return false,
            _ => {}
        }
        before = c;
    }
    true
}

fn has_comment(text: &str) -> bool {
    let is_comment = |(at, _): (usize, &str)| {
        text.get(..at).is_some_and(|before| before.chars().next_back().is_none_or(is_separator))
    };
    text.match_indices('#').any(is_comment)
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}

/// Whether the text in `${ }` is a name, with an operator and a plain word behind it or not.
fn is_posix_parameter(text: &str) -> bool {
    let text = text.strip_prefix('#').unwrap_or(text);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let special = usize::from(text.starts_with(['@', '*', '?', '$', '#']));
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end.max(special));
    let operators = [":-", ":=", ":?", ":+", "-", "=", "?", "+", "%%", "%", "##", "#"];
    let word = operators.iter().find_map(|operator| rest.strip_prefix(operator)).unwrap_or(rest);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _./*?%:@+,=-".contains(c);
    !name.is_empty()
        && !name.starts_with('!')
        && word.chars().all(is_plain)
        && (rest.is_empty() || word != rest)
}

impl FoundCalls {
    /// Adds a hazard if the call at `index` has a shell read `text` that may read it otherwise than bash. A builtin of
    /// bash reads it alike, and shares its variables with the text around it.
    pub(super) fn check_shell(&mut self, text: &str, index: usize, span: Span) {
        let call = self.calls.get(index);
        if call.is_some_and(|call| call.meaning.kind == Some(ProgramKind::Builtin)) {
            self.shares_variables = true;
            return;
        }
        let program = call.and_then(|call| call.program()).unwrap_or_default();
        let message = match shell_grammar(program) {
            Some(ShellGrammar::Bash) => return,
            Some(ShellGrammar::Korn | ShellGrammar::Other) if !is_plain(text) => {
                "a text for a shell other than bash isn't read with certainty"
            }
            _ if !is_posix(text) => "`sh` may read this text otherwise than bash does",
            _ => return,
        };
        self.hazards.push(Problem::new(span, message));
    }
}

#[cfg(test)]
mod tests {
    use super::is_posix;

    #[test]
    fn what_sh_reads_otherwise_is_recognised() {
        for text in [
            "echo hi",
            "{ ls; }",
            "f() { ls; }; f",
            "for x in a b; do echo \"$x\" '{a,b}' \"{a,b}\"; done",
            "find . -exec echo {} \\;",
            "echo ${x} ${x:-y} ${#x} ${x%.*} ${1##*/}",
            "awk '{print $1}' a",
        ] {
            assert!(is_posix(text), "{text}");
        }
        for text in [
            "env {A=1,ls} touch P",
            "env -u {x}</dev/null touch P",
            "env -u 12</dev/null touch P",
            "echo \"${x:-'}\" ; touch P ; echo \"'}\"",
            "cat <<'a\nb'\na\nb\ntouch P",
            "echo ${!x}",
            "echo ${x//a/b}",
            "echo ${x:1:2}",
            "echo ${x@P}",
            "a{b,c}",
            "{a,b}",
            "x+=1",
            "echo $'a'",
            "echo $[1]",
            "echo \"$(env -u {a,ls} touch P)\"",
            "ls # \"\nenv -u {a,ls} touch P #\"",
            "[\\\n[ a > P ]]",
            "time -o P ls",
        ] {
            assert!(!is_posix(text), "{text}");
        }
    }
}

//! Words that look like shell syntax where no shell reads them.

use crate::{Code, ErrorObject};

/// Operators of bash, of which none may stand in the name of a program.
const OPERATORS: &[&str] = &["&&", "||", "|", ";", "&", ">", "<", "$(", "`", "\n"];

/// Looks whether `command` is one program and nothing else.
pub(super) fn check_program(command: &str, parameters: &[String]) -> Result<(), ErrorObject> {
    if let Some(operator) = OPERATORS.iter().find(|operator| command.contains(**operator)) {
        let message = format!(
            "`command` holds `{}`; it is one program, and no shell reads it",
            operator.escape_debug()
        );
        return Err(ErrorObject::new(Code::ShellSyntax, message)
            .token(*operator)
            .hint("make one call for each program, with its arguments in `parameters`"));
    }
    if !command.contains(char::is_whitespace) || command.trim().is_empty() {
        return Ok(());
    }
    let hint = match corrected(command, parameters) {
        Some(call) => format!("call it as {call}"),
        None => "name the program alone, and its arguments in `parameters`, one each".to_owned(),
    };
    let error = ErrorObject::invalid("`command` is one program; arguments go in `parameters`");
    Err(error.token(command).hint(hint))
}

/// The call that was meant, if that can be said and would pass.
fn corrected(command: &str, parameters: &[String]) -> Option<serde_json::Value> {
    let words = words(command)?;
    let (program, arguments) = words.split_first()?;
    let all: Vec<&String> = arguments.iter().chain(parameters).collect();
    let passes = !program.contains(['=', ' ']) && all.iter().all(|word| check_parameter(word).is_ok());
    passes.then(|| serde_json::json!({"command": program, "parameters": all}))
}

/// The words of a plain command line: quotes and backslashes are read, nothing else. `None` when a quote isn't closed.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Looks whether bash would read `parameter` as the start of something other than a word. Arguments are never read by a
/// shell, so such a parameter was meant to do what it can't.
pub(super) fn check_parameter(parameter: &str) -> Result<(), ErrorObject> {
    let substitution = ["$(", "`"].into_iter().find(|token| parameter.contains(token));
    if let Some(token) = substitution.or_else(|| begins_with_operator(parameter).then_some(parameter)) {
        let message = format!("the parameter `{parameter}` is shell syntax, and no shell reads it");
        return Err(ErrorObject::new(Code::ShellSyntax, message)
            .token(token)
            .hint("leave it out, and make one call for each program; output is in the answer anyway"));
    }
    Ok(())
}

/// `&&`, `||`, `|`, `;`, `&`, and redirections with what may stand before them: `2>`, `{fd}>`.
fn begins_with_operator(parameter: &str) -> bool {
    let unnumbered = parameter.trim_start_matches(|c: char| c.is_ascii_digit());
    let unnamed = parameter.strip_prefix('{').and_then(|rest| {
        let (name, rest) = rest.split_once('}')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then_some(rest)
    });
    parameter.starts_with(['&', '|', ';'])
        || unnumbered.starts_with(['<', '>'])
        || unnamed.is_some_and(|rest| rest.starts_with(['<', '>']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_refused_and_words_are_not() {
        let refused = [
            "&&", "||", "|", "|&", ";", "&", ">", ">>f", ">f", "2>f", "2>&1", "&>f", "<f", "<<E", "$(id)",
            "a$(id)", "`id`", "{fd}>f", "12<f", "<(id)", ">(id)", ";;", "&x",
        ];
        for parameter in refused {
            let error = check_parameter(parameter).unwrap_err();
            assert_eq!(error.code, Code::ShellSyntax, "{parameter}");
        }
        let allowed = [
            "it's",
            "a(b)",
            "$HOME",
            "*",
            "#x",
            "a|b",
            "?a=1&b=2",
            "fix; done",
            "a\nb",
            "",
            "-x",
            "2",
            "22",
            "a>b",
            "(x|y)",
            "{a,b}",
            "{}",
            "--flag=>x",
            "!x",
            "~/x",
            "${HOME}",
            "$((1+1))x",
        ];
        for parameter in allowed {
            let seen = check_parameter(parameter).map_err(|error| error.message);
            assert_eq!(seen.is_ok(), !parameter.contains("$("), "{parameter}: {seen:?}");
        }
    }

    #[test]
    fn a_command_line_is_corrected() {
        let error = check_program("ls -la", &["x".to_owned()]).unwrap_err();
        assert_eq!(error.code, Code::InvalidInput);
        assert_eq!(error.hint.unwrap(), r#"call it as {"command":"ls","parameters":["-la","x"]}"#);
        let error = check_program(r#"git commit -m "a b" it\'s"#, &[]).unwrap_err();
        let call = r#"{"command":"git","parameters":["commit","-m","a b","it's"]}"#;
        assert_eq!(error.hint.unwrap(), format!("call it as {call}"));
        for unclear in ["FOO=1 ls", "echo 'x", "ls 2"] {
            let hint = check_program(unclear, &["&&".to_owned()]).unwrap_err().hint.unwrap();
            assert!(hint.starts_with("name the program alone"), "{hint}");
        }
        for command in ["ls && rm x", "a|b", "a;b", "a>b", "a&", "$(id)", "`id`", "a\nb"] {
            assert_eq!(check_program(command, &[]).unwrap_err().code, Code::ShellSyntax, "{command}");
        }
        assert!(check_program("/usr/bin/ls", &[]).is_ok());
    }
}

//! Shell syntax in calls of programs, where no shell reads it.

use crate::{Code, ErrorObject};

/// Operators of bash. The name of a program contains none of them.
const SHELL_OPERATORS: &[&str] = &["&&", "||", "|", ";", "&", ">", "<", "$(", "`", "\n"];

/// Checks that `command` is the name of one program and nothing else.
pub(super) fn check_program(command: &str, parameters: &[String]) -> Result<(), ErrorObject> {
    if let Some(operator) = SHELL_OPERATORS.iter().find(|operator| command.contains(**operator)) {
        let message = format!(
            "`command` contains `{}`, but it must be one program: no shell reads it",
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
        None => "name the program alone, and put its arguments into `parameters`, one string each".to_owned(),
    };
    let error = ErrorObject::invalid("`command` is one program; its arguments go into `parameters`");
    Err(error.token(command).hint(hint))
}

/// The call that was probably meant. `None`: it is not clear, or would be refused.
fn corrected(command: &str, parameters: &[String]) -> Option<serde_json::Value> {
    let words = words(command)?;
    let (program, arguments) = words.split_first()?;
    let all: Vec<&String> = arguments.iter().chain(parameters).collect();
    let passes = !program.contains(['=', ' ']) && all.iter().all(|word| check_parameter(word).is_ok());
    passes.then(|| serde_json::json!({"command": program, "parameters": all}))
}

/// Splits a plain command line into words. Only quotes and backslashes are interpreted. `None`: a quote isn't closed.
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

/// Refuses a parameter that bash would read as an operator or a substitution. No shell reads parameters, so it would not
/// do what was meant.
pub(super) fn check_parameter(parameter: &str) -> Result<(), ErrorObject> {
    let substitution = ["$(", "`"].into_iter().find(|token| parameter.contains(token));
    if let Some(token) = substitution.or_else(|| begins_with_operator(parameter).then_some(parameter)) {
        let message = format!("the parameter `{parameter}` is shell syntax, and no shell reads it");
        return Err(ErrorObject::new(Code::ShellSyntax, message)
            .token(token)
            .hint("leave it out, and make one call for each program; the answer contains the output"));
    }
    Ok(())
}

/// Whether a word begins with `&&`, `||`, `|`, `;`, `&` or a redirection such as `>`, `2>` or `{fd}>`.
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
        assert_eq!(
            error.hint.unwrap().to_string(),
            r#"call it as {"command":"ls","parameters":["-la","x"]}"#
        );
        let error = check_program(r#"git commit -m "a b" it\'s"#, &[]).unwrap_err();
        let call = r#"{"command":"git","parameters":["commit","-m","a b","it's"]}"#;
        assert_eq!(error.hint.unwrap().to_string(), format!("call it as {call}"));
        for unclear in ["FOO=1 ls", "echo 'x", "ls 2"] {
            let hint = check_program(unclear, &["&&".to_owned()]).unwrap_err().hint.unwrap();
            assert!(hint.to_string().starts_with("name the program alone"), "{hint}");
        }
        for command in ["ls && rm x", "a|b", "a;b", "a>b", "a&", "$(id)", "`id`", "a\nb"] {
            assert_eq!(check_program(command, &[]).unwrap_err().code, Code::ShellSyntax, "{command}");
        }
        assert!(check_program("/usr/bin/ls", &[]).is_ok());
    }
}

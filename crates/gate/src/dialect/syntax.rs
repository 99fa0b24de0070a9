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
    let words: Vec<&str> = command.split_whitespace().collect();
    let trimmed = command.trim();
    if words.len() > 1 || (trimmed != command && !trimmed.is_empty()) {
        let (program, arguments) =
            words.split_first().map_or(("", [].as_slice()), |(first, rest)| (*first, rest));
        let all: Vec<&str> = arguments.iter().copied().chain(parameters.iter().map(String::as_str)).collect();
        let corrected = serde_json::json!({"command": program, "parameters": all});
        return Err(ErrorObject::invalid("`command` is one program; arguments go in `parameters`")
            .token(command)
            .hint(format!("call it as {corrected}")));
    }
    Ok(())
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
        for command in ["ls && rm x", "a|b", "a;b", "a>b", "a&", "$(id)", "`id`", "a\nb"] {
            assert_eq!(check_program(command, &[]).unwrap_err().code, Code::ShellSyntax, "{command}");
        }
        assert!(check_program("/usr/bin/ls", &[]).is_ok());
    }
}

//! Findings as short lines, for data files.

use shellgate_syntax::{
    Assigned, Assignment, Descriptor, Findings, Input, Invocation, Redirect, RedirectOperator,
    RedirectTarget, Value, Why,
};

/// One line for each thing that was found.
pub(crate) fn lines(findings: &Findings) -> Vec<String> {
    let mut lines: Vec<String> = findings.invocations.iter().map(invocation).collect();
    let functions =
        findings.functions.iter().map(|one| format!("function {} {:?}", one.name, one.constructs));
    lines.extend(functions);
    let arithmetic = findings.arithmetic.iter();
    lines.extend(arithmetic.map(|one| {
        format!("arithmetic {}{}", one.names.join(","), if one.expands { " expands" } else { "" })
    }));
    lines.extend(findings.hazards.iter().map(|one| format!("hazard {:?}", one.kind)));
    lines.extend(findings.doubts.iter().map(|one| format!("doubt {}", one.message)));
    lines
}

fn invocation(one: &Invocation) -> String {
    let mut parts = Vec::new();
    if !one.constructs.is_empty() {
        let constructs: Vec<String> = one.constructs.iter().map(|place| format!("{place:?}")).collect();
        parts.push(format!("[{}]", constructs.join(" ")));
    }
    match &one.input {
        Input::Inherited => {}
        Input::Pipe(stages) => parts.push(format!("(from {stages:?})")),
        Input::Redirect(from) => parts.push(format!("(from {})", redirect(from))),
        Input::Other => parts.push("(from elsewhere)".into()),
    }
    parts.extend(one.assignments.iter().map(assignment));
    parts.extend(one.words.iter().map(|word| value(&word.value)));
    parts.extend(one.redirects.iter().map(redirect));
    parts.join(" ")
}

fn assignment(one: &Assignment) -> String {
    let subscript = one.subscript.as_ref().map(|text| format!("[{}]", value(text))).unwrap_or_default();
    let sign = if one.append { "+=" } else { "=" };
    let all = |values: &[Value]| values.iter().map(value).collect::<Vec<_>>().join(" ");
    let assigned = match &one.value {
        Assigned::Scalar(text) => value(text),
        Assigned::Array(values) => format!("({})", all(values)),
        Assigned::ByShell(values) => format!("shell({})", all(values)),
    };
    format!("{}{subscript}{sign}{assigned}", one.name)
}

fn redirect(one: &Redirect) -> String {
    let descriptor = match &one.descriptor {
        Descriptor::Default => String::new(),
        Descriptor::Number(number) => number.to_string(),
        Descriptor::Variable(name) => format!("{{{name}}}"),
    };
    let sign = match one.operator {
        RedirectOperator::Read => "<",
        RedirectOperator::Write => ">",
        RedirectOperator::Append => ">>",
        RedirectOperator::Clobber => ">|",
        RedirectOperator::ReadWrite => "<>",
        RedirectOperator::DuplicateIn => "<&",
        RedirectOperator::DuplicateOut => ">&",
        RedirectOperator::WriteBoth => "&>",
        RedirectOperator::AppendBoth => "&>>",
        RedirectOperator::HereDocument => "<<",
        RedirectOperator::HereString => "<<<",
    };
    let (RedirectTarget::Word(word) | RedirectTarget::Body(word)) = &one.target;
    format!("{descriptor}{sign}{}", value(&word.value))
}

/// A known value in quotes if it needs them, an unknown one as `lead<why>`, with `…` if it splits.
fn value(value: &Value) -> String {
    match value {
        Value::Known(text) => {
            let plain = |c: char| c.is_alphanumeric() || "-_=+.,:@%^~#/{}".contains(c);
            if !text.is_empty() && text.chars().all(plain) { text.clone() } else { format!("{text:?}") }
        }
        Value::Unknown(unknown) => {
            let why = match &unknown.why {
                Why::Parameter(name) => format!("${name}"),
                Why::Substitution => "commands".into(),
                Why::Process => "process".into(),
                Why::Arithmetic => "number".into(),
                Why::Glob => "glob".into(),
                Why::Tilde { user, rest } => format!("~{user} {rest:?}"),
                Why::Brace => "braces".into(),
                Why::Array => "array".into(),
            };
            format!("{}<{why}>{}", unknown.lead, if unknown.splits { "…" } else { "" })
        }
    }
}

//! What the sandbox refused, in words for people and models, with the settings that would allow it.
//!
//! All calls of a command run in one sandbox, and a grant counts only if every call has it. So the settings have a rule for
//! each call of the command that reaches files or sockets by itself.

use std::sync::Arc;

use serde::Serialize;
use shellgate_exec::{Denials, RefusalRule, RefusedProgram};
use shellgate_journal::{PastExecution, RecordedDenial};
use shellgate_policy::programs::base_name;
use shellgate_policy::{ReasonCode, Span, Verdict, is_builtin, suggest_prefix};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use crate::admit::judge::{Decision, recorded_parts};
use crate::record;

/// How many targets a line for people names.
const MAX_NAMED_TARGETS: usize = 3;

/// A call whose words together are longer gets no rule.
const MAX_PREFIX_BYTES: usize = 400;

/// Settings that let debuggers run.
const DEBUG_GRANT: &str = "# rules about programs then hold when a command is judged, not for every program that it starts\n[sandbox]\ndebug = true\n";

/// One refusal of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are documented in docs/results.md, where their readers look")]
pub struct Denial {
    pub operation: String,
    pub target: String,
    pub rule: String,
    pub grant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
}

/// What is known about a confined command: the mode of its sandbox, and its calls.
#[derive(Clone, Debug)]
pub(crate) struct SandboxContext {
    mode: String,
    root: String,
    calls: Calls,
}

#[derive(Clone, Debug)]
enum Calls {
    Judged(Arc<Verdict>),
    /// From the journal, which has no calls: they are found in the text again.
    Recorded(Box<shellgate_journal::RecordedRequest>),
}

/// A call that needs a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    prefix: Vec<String>,
    decision: Decision,
}

impl SandboxContext {
    /// For a request that was judged in this process.
    pub(crate) fn judged(mode: &str, root: &str, verdict: Verdict) -> Self {
        Self { mode: mode.to_owned(), root: root.to_owned(), calls: Calls::Judged(Arc::new(verdict)) }
    }

    /// The root of the command.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// For an execution in the journal. `None`: it is not known to have been confined.
    pub(crate) fn recorded(execution: &PastExecution) -> Option<Self> {
        let mode = record::sandbox_mode(execution.started.as_ref()?)?;
        let asked = execution.asked.clone()?;
        let root = asked.root.clone();
        Some(Self { mode: mode.to_owned(), root, calls: Calls::Recorded(Box::new(asked)) })
    }

    /// The refusals as an answer has them.
    pub(crate) fn explain(&self, denials: &Denials) -> Vec<Denial> {
        let programs = denials.programs.iter().map(refused_program);
        if denials.list.is_empty() {
            return programs.collect();
        }
        let calls = self.calls();
        let explain = |denial: &shellgate_exec::Denial| {
            let (operation, rule) = match denial.rule {
                RefusalRule::ReadOnly => ("write", format!("sandbox.{}", self.mode)),
                RefusalRule::Protected => ("write", "sandbox.protected".to_owned()),
                RefusalRule::ForeignSocket => ("connect", "sandbox.sockets".to_owned()),
                RefusalRule::Debugger => ("use", "sandbox.debug".to_owned()),
                RefusalRule::NoNetwork => ("connect", format!("sandbox.{}", self.mode)),
                RefusalRule::NoProcess => ("signal", format!("sandbox.{}", self.mode)),
            };
            Denial {
                operation: operation.to_owned(),
                target: denial.path.clone(),
                rule,
                grant: denial.grant.as_deref().and_then(|path| grant(denial.rule, path, &calls)),
                argv: None,
            }
        };
        programs.chain(denials.list.iter().map(explain)).collect()
    }

    /// The calls that need a rule. Empty: at least one of them can't be named by a rule.
    fn calls(&self) -> Vec<Call> {
        match &self.calls {
            Calls::Judged(verdict) => {
                let parts = verdict.parts().iter().map(|part| (&part.argv[..], &*part.text, part.span));
                let reasons = verdict.reasons().iter().filter(|reason| reason.decision != Decision::Allow);
                let asking = reasons.map(|reason| (reason.code.name(), reason.span)).collect::<Vec<_>>();
                calls(parts, &asking)
            }
            Calls::Recorded(request) => {
                let parts = recorded_parts(request);
                let parts = parts.iter().map(|part| (&part.argv[..], &*part.text, part.span));
                let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                let asking = request.verdict.reasons.iter().map(|reason| {
                    let (start, end) = reason.span.unwrap_or_default();
                    (reason.code.as_str(), Span { start: place(start), end: place(end) })
                });
                calls(parts, &asking.collect::<Vec<_>>())
            }
        }
    }
}

/// A program that the guard refused.
fn refused_program(refused: &RefusedProgram) -> Denial {
    Denial {
        operation: "run".to_owned(),
        target: refused.program.clone(),
        rule: refused.rule.clone(),
        grant: program_grant(refused),
        argv: Some(refused.argv.clone()),
    }
}

/// Settings under which the program runs. A rule of a list that denies has to be removed from there, and this put in its
/// place: nothing allows what such a rule denies.
fn program_grant(refused: &RefusedProgram) -> Option<String> {
    let name = refused.argv.first().map(|name| base_name(name).to_owned())?;
    let rule = |words: &[String], decision: Decision| {
        let mut rule = Table::new();
        rule.insert("prefix", value(words.iter().collect::<Array>()));
        rule.insert("decision", value(decision.name()));
        rule
    };
    let (comment, table) = match refused.words.as_slice() {
        [] if refused.rule.starts_with("core:") => (None, rule(&[name], Decision::Allow)),
        [] => return None,
        words => {
            let call: Vec<String> = [name].into_iter().chain(refused.argv.iter().skip(1).cloned()).collect();
            let mut table = rule(words, Decision::Deny);
            table.insert("except", value(Array::from_iter([call.join(" ")])));
            (Some(format!("# in place of `{}`\n", refused.rule)), table)
        }
    };
    let mut policy = Table::new();
    policy.set_implicit(true);
    policy.insert("rule", Item::ArrayOfTables(ArrayOfTables::from_iter([table])));
    let mut document = DocumentMut::new();
    document.insert("policy", Item::Table(policy));
    Some(format!("{}{document}", comment.unwrap_or_default()))
}

/// The calls among `parts` that need a rule. `asking`: the reasons for which a person was asked.
fn calls<'a>(
    parts: impl Iterator<Item = (&'a [Option<String>], &'a str, Span)>,
    asking: &[(&str, Span)],
) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for (argv, text, span) in parts {
        // A builtin reaches files by redirections alone.
        if is_builtin(argv) && !text.contains(['<', '>']) {
            continue;
        }
        let Some(prefix) = suggest_prefix(argv).or_else(|| whole(argv)) else { return Vec::new() };
        // Why the program is asked about. Files that it writes are asked about whatever its rule says.
        let effects = [ReasonCode::Write, ReasonCode::Outside].map(ReasonCode::name);
        let asks = asking.iter().any(|(code, place)| {
            span.start <= place.start && place.end <= span.end && !effects.contains(code)
        });
        let call = Call { prefix, decision: if asks { Decision::Ask } else { Decision::Allow } };
        match calls.iter_mut().find(|known| known.prefix == call.prefix) {
            Some(known) => known.decision = known.decision.max(call.decision),
            None => calls.push(call),
        }
    }
    calls
}

/// All words of a call, if they are known.
fn whole(argv: &[Option<String>]) -> Option<Vec<String>> {
    let words: Vec<String> = argv.iter().cloned().collect::<Option<_>>()?;
    let length: usize = words.iter().map(String::len).sum();
    (!words.is_empty() && !words.iter().any(String::is_empty) && length <= MAX_PREFIX_BYTES).then_some(words)
}

/// Settings that allow what was refused. `None`: no settings do.
fn grant(rule: RefusalRule, path: &str, calls: &[Call]) -> Option<String> {
    if rule == RefusalRule::Debugger {
        return Some(DEBUG_GRANT.to_owned());
    }
    // No settings name abstract sockets. The others are told of trials alone, which no settings widen.
    if path.starts_with('@') || matches!(rule, RefusalRule::NoNetwork | RefusalRule::NoProcess) {
        return None;
    }
    let kind = if rule == RefusalRule::ForeignSocket { "sockets" } else { "write" };
    let paths = || Array::from_iter([path]);
    let mut document = DocumentMut::new();
    if calls.is_empty() {
        if rule != RefusalRule::ReadOnly {
            return None;
        }
        let mut sandbox = Table::new();
        sandbox.insert("writable", value(paths()));
        document.insert("sandbox", Item::Table(sandbox));
        return Some(document.to_string());
    }
    let rules = calls.iter().map(|call| {
        let mut rule = Table::new();
        rule.insert("prefix", value(call.prefix.iter().collect::<Array>()));
        rule.insert("decision", value(call.decision.name()));
        rule.insert("grants", value(InlineTable::from_iter([(kind, paths())])));
        rule
    });
    let mut policy = Table::new();
    policy.set_implicit(true);
    policy.insert("rule", Item::ArrayOfTables(rules.collect::<ArrayOfTables>()));
    document.insert("policy", Item::Table(policy));
    Some(document.to_string())
}

/// What was refused, on one line. `None`: nothing.
pub(crate) fn targets(denials: &[Denial], omitted: u64) -> Option<String> {
    let named: Vec<String> = denials
        .iter()
        .take(MAX_NAMED_TARGETS)
        .map(|denial| format!("{} {}", denial.operation, shellgate_text::foreign(&denial.target)))
        .collect();
    if named.is_empty() {
        return None;
    }
    let more = (denials.len() - named.len()) as u64 + omitted;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}", named.join(", ")))
}

/// The rules by which the refusals that [`targets`] names were refused, each once.
pub(crate) fn rules(denials: &[Denial]) -> Vec<&str> {
    let mut rules: Vec<&str> = Vec::new();
    for denial in denials.iter().take(MAX_NAMED_TARGETS) {
        if !rules.contains(&&*denial.rule) {
            rules.push(&denial.rule);
        }
    }
    rules
}

/// The settings that allow the refusals which [`targets`] names.
pub(crate) fn grants(denials: &[Denial]) -> Vec<&str> {
    let mut grants: Vec<&str> = Vec::new();
    for grant in denials.iter().take(MAX_NAMED_TARGETS).filter_map(|denial| denial.grant.as_deref()) {
        if !grants.contains(&grant) {
            grants.push(grant);
        }
    }
    grants
}

impl From<&RecordedDenial> for Denial {
    fn from(recorded: &RecordedDenial) -> Self {
        let RecordedDenial { operation, target, rule, grant, argv } = recorded.clone();
        Self { operation, target, rule, grant, argv }
    }
}

impl From<&Denial> for RecordedDenial {
    fn from(denial: &Denial) -> Self {
        let Denial { operation, target, rule, grant, argv } = denial.clone();
        Self { operation, target, rule, grant, argv }
    }
}

#[cfg(test)]
mod tests {
    use shellgate_policy::{CommandContext, Machine, Rules};
    use shellgate_settings::{Grants, Prefix, Settings, Sources};

    use super::*;

    fn denied(rule: RefusalRule, grant: &str) -> Denials {
        let denial = shellgate_exec::Denial { rule, path: grant.to_owned(), grant: Some(grant.to_owned()) };
        Denials { list: vec![denial], ..Denials::default() }
    }

    fn context(command: &str) -> SandboxContext {
        let machine = Machine::new("/r".as_ref(), "/r".as_ref(), None, "/bin".into());
        let verdict =
            shellgate_policy::judge(command, &CommandContext::default(), &Rules::default(), &machine);
        SandboxContext::judged("workspace", "/r", verdict)
    }

    fn grant_for(command: &str, rule: RefusalRule, path: &str) -> Option<String> {
        context(command).explain(&denied(rule, path)).remove(0).grant
    }

    /// The settings with these lines in the user's file.
    fn settings(text: &str) -> Settings {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        Settings::load(&Sources { user: Some(file), ..Sources::default() }).unwrap()
    }

    #[test]
    fn a_grant_is_settings_with_exactly_what_was_refused() {
        let text = grant_for("touch /etc/hosts", RefusalRule::ReadOnly, "/etc/hosts").unwrap();
        insta::assert_snapshot!(text, @r#"
        [[policy.rule]]
        prefix = ["touch"]
        decision = "ask"
        grants = { write = ["/etc/hosts"] }
        "#);
        let rules = settings(&text).policy.rules;
        let [rule] = rules.as_slice() else { panic!("{rules:?}") };
        assert_eq!(rule.prefix, Prefix::Words(vec!["touch".to_owned()]));
        assert_eq!(rule.grants, Grants { write: vec!["/etc/hosts".to_owned()], ..Grants::default() });
        let text = grant_for("docker ps", RefusalRule::ForeignSocket, "/run/docker.sock").unwrap();
        let rule = settings(&text).policy.rules.remove(0);
        assert_eq!(rule.prefix, Prefix::Words(vec!["docker".to_owned(), "ps".to_owned()]));
        let sockets = vec!["/run/docker.sock".to_owned()];
        assert_eq!(rule.grants, Grants { sockets, ..Grants::default() });
    }

    #[test]
    fn odd_paths_and_words_stay_inside_their_quotes() {
        for odd in ["/a \"b\"", "/a\n[policy]", "/a\\", "/ä\t'", "/a'''\"\"\""] {
            let text = grant_for("touch x", RefusalRule::ReadOnly, odd).unwrap();
            assert_eq!(settings(&text).policy.rules[0].grants.write, [odd], "{text}");
        }
        let text = grant_for("python3 -c 'print(\"x\")'", RefusalRule::ReadOnly, "/a").unwrap();
        let words = ["python3", "-c", "print(\"x\")"].map(str::to_owned).to_vec();
        assert_eq!(settings(&text).policy.rules[0].prefix, Prefix::Words(words));
    }

    #[test]
    fn every_call_that_reaches_files_gets_a_rule() {
        let text =
            grant_for("cd x && echo a && touch b; git log | sort", RefusalRule::ReadOnly, "/o").unwrap();
        insta::assert_snapshot!(text, @r#"
        [[policy.rule]]
        prefix = ["touch"]
        decision = "ask"
        grants = { write = ["/o"] }

        [[policy.rule]]
        prefix = ["git", "log"]
        decision = "ask"
        grants = { write = ["/o"] }

        [[policy.rule]]
        prefix = ["sort"]
        decision = "ask"
        grants = { write = ["/o"] }
        "#);
        // This builtin needs no rule to run. What it writes to is asked about whatever its rule says.
        insta::assert_snapshot!(grant_for(": > /o", RefusalRule::ReadOnly, "/o").unwrap(), @r#"
        [[policy.rule]]
        prefix = [":"]
        decision = "allow"
        grants = { write = ["/o"] }
        "#);
    }

    #[test]
    fn a_command_that_no_rule_can_name_gets_a_setting_for_all() {
        for command in ["$x y", "touch \"$(cat list)\" && $x", "> /o", ""] {
            let text = grant_for(command, RefusalRule::ReadOnly, "/o").unwrap();
            assert_eq!(text, "[sandbox]\nwritable = [\"/o\"]\n", "{command}");
            assert_eq!(settings(&text).sandbox.writable[0].value, "/o");
            assert_eq!(grant_for(command, RefusalRule::ForeignSocket, "/o"), None, "{command}");
        }
        assert_eq!(grant_for("touch x", RefusalRule::ForeignSocket, "@abstract"), None);
    }

    #[test]
    fn a_recorded_request_has_the_same_grant() {
        let asked = |text: &str, verdict: &Verdict| {
            let request = crate::Request {
                action: crate::request::Action::Shell(text.to_owned()),
                ..crate::Request::default()
            };
            record::asked(&request, Some(verdict), "/r".as_ref(), ".")
        };
        for command in ["touch /etc/x", "echo a > /o", "cd x && git log | sort", "$x"] {
            let judged = context(command);
            let Calls::Judged(verdict) = &judged.calls else { panic!("it was judged") };
            let calls = Calls::Recorded(Box::new(asked(command, verdict)));
            let recorded = SandboxContext { calls, ..judged.clone() };
            let denials = denied(RefusalRule::ReadOnly, "/o");
            assert_eq!(recorded.explain(&denials), judged.explain(&denials), "{command}");
        }
    }

    #[test]
    fn a_line_names_three_targets() {
        let denial = |number: u32| Denial {
            operation: "write".to_owned(),
            target: format!("/a\n{number}"),
            rule: "sandbox.workspace".to_owned(),
            grant: Some(format!("grant {}", number / 2)),
            argv: None,
        };
        let denials: Vec<Denial> = (0..5).map(denial).collect();
        assert_eq!(targets(&[], 0), None);
        assert_eq!(targets(&denials[..1], 0).unwrap(), "write \"/a‹LF›0\"");
        assert_eq!(
            targets(&denials, 7).unwrap(),
            r#"write "/a‹LF›0", write "/a‹LF›1", write "/a‹LF›2" and 9 more"#
        );
        assert_eq!(grants(&denials), ["grant 0", "grant 1"]);
    }
}

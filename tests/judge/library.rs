//! The library: the embedding program provides the approver.

use std::sync::{Arc, Mutex};

use shellgate::approval::{Answer, ApprovalChannel, Approver, Choice, Question, QueueWait};
use shellgate::judge::Decision;
use shellgate::request::Action;
use shellgate::settings::{Flags, PresetChoice};
use shellgate::{Code, Dialect, Gate, Request, State};

use super::has_run;
use crate::support::{Place, shellgate as keeper};

/// An approver that always gives the same answer, and remembers the questions.
#[derive(Debug)]
struct Oracle {
    answer: Answer,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Approver for Oracle {
    fn channel(&self) -> ApprovalChannel {
        ApprovalChannel::Terminal
    }

    fn ask(&self, question: &Question<'_>, _: &QueueWait) -> Answer {
        let reasons: Vec<&str> =
            question.verdict.reasons().iter().map(|reason| reason.message.as_str()).collect();
        let asked =
            format!("{} in {}: {}", question.request.action.shown(), question.directory, reasons.join(", "));
        self.asked.lock().unwrap().push(asked);
        self.answer.clone()
    }
}

fn gate(place: &Place, flags: Flags, answer: Option<Answer>) -> (Gate, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let mut builder = Gate::builder().root(place.root()).state_folder(place.state()).keeper_program(keeper());
    if let Some(answer) = answer {
        builder = builder.approver(Oracle { answer, asked: Arc::clone(&asked) });
    }
    // The settings of the user who runs the tests may allow everything.
    let approve = Some(shellgate::settings::ApprovalMode::Ask);
    let flags = Flags { approve, preset: Some(PresetChoice::None), ..flags };
    (builder.flags(flags).build().unwrap(), asked)
}

fn touch() -> Request {
    Request { action: Action::Shell("touch ran".to_owned()), ..Request::default() }
}

fn flags(core: &[&str], exclude: &[&str]) -> Flags {
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    Flags { core: words(core), exclude: words(exclude), ..Flags::default() }
}

#[test]
fn the_approver_decides() {
    let place = Place::new(None);
    let yes = Answer::Yes(Choice::Once);
    let (gate, asked) = self::gate(&place, Flags::default(), Some(yes));
    let report = gate.run(touch());
    assert_eq!((report.status, has_run(&place)), (State::Completed, true));
    let verdict = report.verdict.unwrap();
    assert_eq!(verdict.decision, Decision::Ask);
    assert!(verdict.approved_by.is_some_and(|by| by.ends_with(" at the terminal")));
    assert_eq!(*asked.lock().unwrap(), ["touch ran in .: no rule covers `touch`"]);

    for (answer, code) in [
        (Some(Answer::No(None)), Code::DeniedByUser),
        (Some(Answer::Unavailable), Code::ApprovalUnavailable),
        (None, Code::ApprovalUnavailable),
    ] {
        let (gate, _) = self::gate(&place, Flags::default(), answer.clone());
        let report = gate.run(touch());
        assert_eq!(report.error.as_ref().map(|error| error.code), Some(code), "{answer:?}");
        assert_eq!((report.status, report.pid, has_run(&place)), (State::Failed, None, false), "{answer:?}");
    }
}

#[test]
fn the_approver_is_not_asked_about_allowed_or_denied_commands() {
    let place = Place::new(None);
    for (flags, code) in [
        (flags(&["touch"], &[]), None),
        (flags(&[], &["touch"]), Some(Code::DeniedByPolicy)),
        (flags(&["git"], &[]), Some(Code::DeniedByPolicy)),
    ] {
        let yes = Answer::Yes(Choice::Once);
        let (gate, asked) = gate(&place, flags, Some(yes));
        let report = gate.run(touch());
        assert_eq!(report.error.as_ref().map(|error| error.code), code);
        assert_eq!(has_run(&place), code.is_none());
        assert!(asked.lock().unwrap().is_empty());
        let answer = gate.call(Dialect::SHELLGATE, r#"{"command": "touch ran"}"#);
        assert_eq!((answer.contains("denied_by_policy"), has_run(&place)), (code.is_some(), code.is_none()));
    }
}

#[test]
fn judging_alone_runs_and_keeps_nothing() {
    let place = Place::new(None);
    let judge = |flags| Gate::builder().root(place.root()).flags(flags).judge().unwrap();
    let decided = |flags: Flags| {
        let flags = Flags { preset: Some(PresetChoice::None), ..flags };
        judge(flags).judge(&touch()).unwrap().decision()
    };
    assert_eq!(decided(flags(&["touch"], &[])), Decision::Allow);
    assert_eq!(decided(flags(&["git"], &[])), Decision::Deny);
    assert_eq!(decided(flags(&["touch"], &["touch"])), Decision::Deny);
    assert_eq!(decided(Flags::default()), Decision::Ask);
    let unreadable = Request { action: Action::Shell(" ".to_owned()), ..Request::default() };
    assert_eq!(judge(Flags::default()).judge(&unreadable).unwrap_err().code, Code::InvalidInput);
    assert!(!has_run(&place) && std::fs::read_dir(place.state()).unwrap().next().is_none());
    let (gate, _) = gate(&place, flags(&["touch"], &[]), None);
    assert_eq!(gate.judge(&touch()).unwrap().decision(), Decision::Allow);
}

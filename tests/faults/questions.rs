//! Faults in the one who asks, and in the one who answers from another terminal.

use std::process::{Output, Stdio};

use super::trace::{begin, bounded, hangs, traced};
use super::{Verdict, made, right_or_honest, try_all};
use crate::support::{Place, wait_until};

/// The command line of the one who asks.
const ASKING: [&str; 5] = ["run", "--approve", "ask", "--ask", "queue"];

/// The numbers of the questions that wait.
pub(super) fn waiting(place: &Place) -> Vec<String> {
    let list = place.output(["approvals", "list", "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_slice(&list).unwrap_or_default();
    list.as_array().into_iter().flatten().map(|question| question["id"].to_string()).collect()
}

/// The verdict on the one who asked.
fn asker_came(place: &Place, output: &Output) -> Result<Verdict, String> {
    let right = output.status.code() == Some(0) && made(place);
    if output.status.success() && !right {
        return Err(format!("it is said to have run: {output:?}"));
    }
    right_or_honest(right, output)
}

#[test]
fn faults_in_the_one_who_asks() {
    try_all("question answered elsewhere", "front end that asks", |place, strace| {
        let words: Vec<&str> = ASKING.into_iter().chain(["touch made"]).collect();
        let mut command = traced(place, strace, &words);
        let mut asker = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let ended = std::cell::Cell::new(false);
        let asker_ended = std::cell::RefCell::new(&mut asker);
        wait_until("it asks or has ended", || {
            ended.set(asker_ended.borrow_mut().try_wait().unwrap().is_some());
            ended.get() || !waiting(place).is_empty()
        });
        for number in waiting(place) {
            bounded(place, &["approvals", "approve", &number]);
        }
        let output = asker.wait_with_output().unwrap();
        if hangs(&output) && !strace.concat().contains("KILL") {
            return Err("it hangs".to_owned());
        }
        asker_came(place, &output)
    });
}

#[test]
fn faults_in_the_one_who_answers() {
    try_all("question answered elsewhere", "front end that answers", |place, strace| {
        let words: Vec<&str> = ASKING.into_iter().chain(["touch made"]).collect();
        let asker = begin(place, &words);
        wait_until("it asks", || !waiting(place).is_empty());
        let number = waiting(place).remove(0);
        let output = traced(place, strace, &["approvals", "approve", &number]).output().unwrap();
        // The first try may have counted.
        let again = (!output.status.success()).then(|| bounded(place, &["approvals", "approve", &number]));
        let asked = asker.wait_with_output().unwrap();
        if hangs(&output) && !strace.concat().contains("KILL") {
            return Err("it hangs".to_owned());
        }
        if again.as_ref().is_some_and(|again| !matches!(again.status.code(), Some(0 | 4 | 6))) {
            return Err(format!("it can't be answered any more: {again:?}"));
        }
        match asker_came(place, &asked)? {
            Verdict::Success => right_or_honest(output.status.success(), &output),
            Verdict::HonestError => Err(format!("the asker got no yes: {asked:?}, answered {output:?}")),
        }
    });
}

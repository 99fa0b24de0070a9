//! Faults in the standby process while it ends the jobs of a killed keeper.

use super::trace::{attach, bounded, detach, hangs};
use super::{Verdict, id_of, stdout, try_all};
use crate::support::{kill, processes_with, wait_until};

#[test]
fn faults_while_it_ends_the_jobs_of_a_killed_keeper() {
    try_all("the standby ends jobs", |place, strace| {
        let mark = crate::support::mark();
        let command = format!("echo printed; (setsid sleep {mark} &); sleep {mark}; true");
        let call = serde_json::json!({"command": command, "background": true}).to_string();
        let id = id_of(&place.output(["call", &call])).unwrap();
        wait_until("it runs", || processes_with(&mark).len() >= 2);
        wait_until("the standby waits", || place.holders("shellgate-stby").len() == 1);
        let strace = attach(place, place.holders("shellgate-stby")[0], strace);
        kill(place.keepers()[0]);
        let waited = bounded(place, &["wait", &id, "--json"]);
        detach(strace);
        if hangs(&waited) {
            return Err("it hangs".to_owned());
        }
        let said = stdout(&waited);
        if !said.contains("keeper_lost") || waited.status.success() {
            return Err(format!("the loss is not told: {waited:?}"));
        }
        wait_until("no process of the job is left", || processes_with(&mark).is_empty());
        match said.contains(r#""stdout":"printed\n""#) {
            true => Ok(Verdict::Success),
            false => Err(format!("output that was stored is not told: {waited:?}")),
        }
    });
}

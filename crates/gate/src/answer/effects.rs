//! What a command did, as an answer has it.

use serde::Serialize;
use shellgate_exec::Effects;
use shellgate_journal::{RecordedEffects, RecordedProgram};
use shellgate_policy::programs::base_name;

/// A recorded command line isn't longer.
const MAX_COMMAND_CHARACTERS: usize = 200;

/// What a command did. The fields are documented in docs/results.md, where their readers look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObservedEffects {
    pub programs: Vec<String>,
    pub writes: Vec<String>,
    pub deletes: Vec<String>,
    pub connects: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What was observed, for the record. Paths in the root are relative to it.
pub(crate) fn recorded(effects: &Effects, root: &str) -> RecordedEffects {
    let inside = |path: &String| match path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
        Some(relative) if !relative.is_empty() => relative.to_owned(),
        _ => path.clone(),
    };
    let programs = effects.programs.iter().map(|started| RecordedProgram {
        command: started.argv.join(" ").chars().take(MAX_COMMAND_CHARACTERS).collect(),
        program: started.program.clone(),
        pid: started.pid,
        parent: started.parent,
    });
    RecordedEffects {
        programs: programs.collect(),
        writes: effects.writes.iter().map(inside).collect(),
        deletes: effects.deletes.iter().map(inside).collect(),
        connects: effects.connects.clone(),
        omitted: effects.more_programs + effects.lost,
    }
}

impl From<&RecordedEffects> for ObservedEffects {
    fn from(recorded: &RecordedEffects) -> Self {
        let mut programs: Vec<String> = Vec::new();
        for program in &recorded.programs {
            let called = program.command.split(' ').next().filter(|name| !name.is_empty());
            let name = base_name(called.unwrap_or(&program.program));
            if !programs.iter().any(|known| known == name) {
                programs.push(name.to_owned());
            }
        }
        let RecordedEffects { writes, deletes, connects, omitted, .. } = recorded.clone();
        Self { programs, writes, deletes, connects, omitted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_the_root_are_relative_and_programs_named_once() {
        let started = |program: &str, argv: &str, pid, parent| shellgate_exec::StartedProgram {
            program: program.to_owned(),
            argv: argv.split(' ').map(str::to_owned).collect(),
            pid,
            parent,
        };
        let effects = Effects {
            programs: vec![
                started("/bin/bash", "bash -c make", 10, 1),
                started("/bin/make", "make", 10, 1),
                started("/bin/cc", "cc -c a.c", 11, 10),
                started("/bin/cc1", "cc1 a.c", 12, 11),
                started("/bin/rm", "rm a.o", 13, 10),
            ],
            writes: vec!["/r/a.o".to_owned(), "/tmp/x".to_owned(), "/r".to_owned()],
            deletes: vec!["/r/…".to_owned()],
            connects: vec!["127.0.0.1:80".to_owned()],
            more_programs: 2,
            lost: 3,
        };
        let recorded = recorded(&effects, "/r");
        assert_eq!((recorded.deletes.as_slice(), recorded.omitted), (&["…".to_owned()][..], 5));
        let observed = ObservedEffects::from(&recorded);
        assert_eq!(observed.programs, ["bash", "make", "cc", "cc1", "rm"]);
        assert_eq!(observed.writes, ["a.o", "/tmp/x", "/r"]);
    }
}

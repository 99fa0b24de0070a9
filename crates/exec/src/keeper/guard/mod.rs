//! The guard: the rules about programs, applied to every program that a process of a command starts.
//!
//! The keeper traces guarded commands ([`shellgate_sandbox::trace`]). Each stop is answered here, at once: everything that is
//! traced waits for the keeper.
//!
//! - Before an `exec`, what it names is looked up as the process would find it. A program that is forbidden is refused with
//!   `EACCES`, as a file that may not be executed is.
//! - After it, and before the first instruction, the file that was really loaded is compared. It decides. A process that
//!   swapped the path in between is killed.
//!
//! The loader, interpreters and files with many applets are read by their words ([`views`]). What the guard can't see is a
//! program that does another's work by its own system calls, and a changed copy: the sandbox is the boundary, the guard is
//! policy and record.

mod files;
mod place;
mod rules;
mod views;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use rustix::process::Pid;
use shellgate_sandbox::spawn::{SpawnError, Step};
use shellgate_sandbox::trace::{self, ExecCall, Stop, StopKind, Tracer};
use tracing::{debug, info, warn};

use self::place::{Place, text};
use self::rules::{Forbidden, PreparedRules, Reach};
use self::views::{View, views, views_of_call};
use super::event_loop::Keeper;
use super::kept_watch::KeptWatch;
use super::tree::RunKey;
use crate::{EncodedGuardRules, RefusedProgram, StartedProgram, proc};

/// How many words of a call are compared. The judge's tables read no longer ones.
const MAX_WORDS: usize = 1400;

/// How many words of a refused call are told, and how long they are.
const MAX_TOLD_WORDS: usize = 16;
const MAX_TOLD_CHARACTERS: usize = 200;

/// How many sets of rules are kept.
const MAX_RULES: usize = 16;

/// Everything that is traced.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// Why nothing can be traced, once that was tried.
    missing: Option<Option<String>>,
    threads: HashMap<u32, Traced>,
    prepared: Vec<(EncodedGuardRules, Rc<PreparedRules>)>,
    /// Programs that were refused and not told to their executions yet.
    refused: Vec<(RunKey, RefusedProgram)>,
    /// The same of programs that were started.
    started: Vec<(RunKey, StartedProgram)>,
    watch: KeptWatch,
}

/// A thread that is traced.
#[derive(Clone, Debug)]
struct Traced {
    run: RunKey,
    rules: Rc<PreparedRules>,
    reach: Reach,
    is_suspended: bool,
    /// What the launcher was told to start, until it is started.
    first: Option<Rc<FirstProgram>>,
}

/// The program that a command begins with. What is known of it needn't be read from `/proc`, which takes as long as all else
/// that the guard does at a start.
#[derive(Debug)]
pub(super) struct FirstProgram {
    /// Its file.
    pub(super) path: PathBuf,
    pub(super) words: Vec<String>,
}

/// Traces a command while it is started.
pub(super) struct StartTracer<'a> {
    guard: &'a mut Guard,
    run: RunKey,
    rules: Rc<PreparedRules>,
    first: Rc<FirstProgram>,
}

impl Tracer for StartTracer<'_> {
    fn attached(&mut self, process: Pid) {
        let traced = Traced {
            run: self.run,
            rules: Rc::clone(&self.rules),
            reach: Reach::Bound,
            is_suspended: false,
            first: Some(Rc::clone(&self.first)),
        };
        self.guard.threads.insert(number(process), traced);
    }

    fn stopped(&mut self, stop: Stop) {
        self.guard.answer(stop);
    }
}

impl Guard {
    /// Why nothing can be traced here. It is tried once.
    pub(super) fn missing(&mut self) -> Option<&str> {
        let tried = || trace::probe().err().map(|error| crate::outcome::plain(&error));
        self.missing.get_or_insert_with(tried).as_deref()
    }

    /// Who traces a command that is to be started with these rules.
    pub(super) fn tracer(
        &mut self,
        run: RunKey,
        encoded: &EncodedGuardRules,
        first: FirstProgram,
    ) -> Result<StartTracer<'_>, SpawnError> {
        let known = self.prepared.iter().position(|(other, _)| other == encoded);
        let known =
            known.map(|at| self.prepared.remove(at).1).filter(|rules| rules.is_current(self.watch.get()));
        let rules = match known {
            Some(rules) => rules,
            None => {
                let unreadable =
                    |error| SpawnError { step: Step::Trace, source: std::io::Error::other(error) };
                Rc::new(PreparedRules::new(encoded.decode().map_err(unreadable)?))
            }
        };
        if self.prepared.len() >= MAX_RULES {
            self.prepared.remove(0);
        }
        self.prepared.push((encoded.clone(), Rc::clone(&rules)));
        Ok(StartTracer { guard: self, run, rules, first: Rc::new(first) })
    }

    /// Answers a stop.
    pub(super) fn answer(&mut self, stop: Stop) {
        let thread = number(stop.thread);
        match stop.kind {
            StopKind::Started(child) => {
                if let Some(traced) = self.traced(thread) {
                    self.threads.entry(number(child)).or_insert(traced);
                }
                stop.resume();
            }
            StopKind::ExecCall => {
                self.before_program(thread, stop);
                stop.resume();
            }
            StopKind::Program { former } => {
                if let Some(traced) = former
                    .map(number)
                    .filter(|former| *former != thread)
                    .and_then(|former| self.threads.remove(&former))
                {
                    self.threads.insert(thread, traced);
                }
                match self.may_run(thread) {
                    true => stop.resume(),
                    false => stop.kill(),
                }
            }
            StopKind::Suspended => {
                if let Some(traced) = self.threads.get_mut(&thread) {
                    traced.is_suspended = true;
                }
                stop.stay();
            }
            StopKind::Signal(_) => stop.resume(),
            StopKind::Notice => {
                if self.traced(thread).is_some()
                    && let Some(traced) = self.threads.get_mut(&thread)
                {
                    traced.is_suspended = false;
                }
                stop.resume();
            }
        }
    }

    /// What is known of a thread. A new one may be told of before its parent: then it is what its parent is.
    fn traced(&mut self, thread: u32) -> Option<Traced> {
        if let Some(known) = self.threads.get(&thread) {
            return Some(known.clone());
        }
        let folder = proc::of(thread);
        let process = folder.thread_group().filter(|process| *process != thread);
        let parent = || folder.stat().map(|stat| stat.parent);
        let traced = process.or_else(parent).and_then(|from| self.threads.get(&from)).cloned();
        // Its parent has ended: it is one of the execution that its tag names, and bound.
        let by_tag = || {
            let tag = folder.lock_limit()?;
            let tagged = self.threads.iter().find(|(other, _)| proc::of(**other).lock_limit() == Some(tag));
            tagged.map(|(_, traced)| Traced { reach: Reach::Bound, first: None, ..traced.clone() })
        };
        let traced =
            traced.map(|traced| Traced { is_suspended: false, first: None, ..traced }).or_else(by_tag)?;
        self.threads.insert(thread, traced.clone());
        Some(traced)
    }

    /// Refuses a call that is certainly forbidden. What can't be found out here is found out when the program is loaded.
    fn before_program(&mut self, thread: u32, stop: Stop) {
        let Some(traced) = self.traced(thread).filter(|traced| !traced.rules.is_empty()) else { return };
        let place = Place(thread);
        let Ok(call) = ExecCall::read(stop) else { return };
        let Some(file) = place.find(call.folder, &call.path).filter(|file| file.metadata.is_file()) else {
            return;
        };
        let Ok((words, is_cut)) = call.words(MAX_WORDS) else { return };
        let words: Vec<String> = words.iter().map(|word| text(word)).collect();
        let views = views_of_call(&traced.rules, place, (&file, &text(&call.path)), &words);
        if let Err(forbidden) = traced.rules.decide(&views, traced.reach, is_cut)
            && call.refuse().is_ok()
        {
            self.refuse(traced.run, file.path.to_string_lossy().into_owned(), &words, forbidden);
        }
    }

    /// Whether the program that a process has become may run.
    fn may_run(&mut self, process: u32) -> bool {
        let Some(traced) = self.traced(process) else {
            warn!(process, "killed: nothing is known of it");
            return false;
        };
        let place = Place(process);
        let program = place.program();
        let first = self.threads.get_mut(&process).and_then(|traced| traced.first.take());
        // A script is another program, with more words.
        let first = first.filter(|first| program.as_ref().is_some_and(|program| program.path == first.path));
        let (mut words, mut is_cut) = match &first {
            Some(first) => (first.words.clone(), false),
            None => place.words(),
        };
        is_cut |= words.len() > MAX_WORDS;
        words.truncate(MAX_WORDS);
        let parent = || proc::of(process).stat().map_or(0, |stat| stat.parent);
        let parent = if first.is_some() { std::process::id() } else { parent() };
        if traced.rules.is_empty() {
            let shown = program.map(|program| program.path.to_string_lossy().into_owned());
            self.note_started(traced.run, shown.unwrap_or_default(), (process, parent), &words);
            return true;
        }
        let decided = match program {
            Some(program) => {
                let views: Vec<View> = views(&traced.rules, place, &program, &words);
                let shown = program.path.to_string_lossy().into_owned();
                match traced.rules.decide(&views, traced.reach, is_cut) {
                    Ok(reach) => Ok((reach, shown)),
                    Err(forbidden) => Err((shown, forbidden)),
                }
            }
            // Its mode forbids reading the file (0711), so the guard can't compare it.
            None => {
                let rule = "guard: the program can't be read".to_owned();
                let shown = words.first().cloned().unwrap_or_default();
                Err((shown, Forbidden { rule, words: Vec::new() }))
            }
        };
        match decided {
            Ok((reach, program)) => {
                self.note_started(traced.run, program, (process, parent), &words);
                if let Some(traced) = self.threads.get_mut(&process) {
                    traced.reach = reach;
                }
                true
            }
            Err((program, forbidden)) => {
                info!(process, rule = forbidden.rule, "killed before its first instruction");
                self.refuse(traced.run, program, &words, forbidden);
                false
            }
        }
    }

    fn refuse(&mut self, run: RunKey, program: String, words: &[String], forbidden: Forbidden) {
        debug!(run, program, rule = forbidden.rule, "refused a program");
        let argv = told(words);
        let Forbidden { rule, words } = forbidden;
        self.refused.push((run, RefusedProgram { program, argv, rule, words }));
    }

    fn note_started(&mut self, run: RunKey, program: String, (pid, parent): (u32, u32), words: &[String]) {
        self.started.push((run, StartedProgram { program, argv: told(words), pid, parent }));
    }

    /// Forgets a thread that has ended.
    pub(super) fn forget(&mut self, thread: u32) {
        self.threads.remove(&thread);
    }

    /// Leaves those processes in `stopped` that are suspended, or aren't traced. A traced process also stops for the guard.
    pub(super) fn keep_suspended(&self, stopped: &mut HashSet<u32>) {
        stopped.retain(|process| self.threads.get(process).is_none_or(|traced| traced.is_suspended));
    }
}

impl Keeper {
    /// Gives an execution the programs that it was refused.
    pub(super) fn drain_refused_programs(&mut self) {
        for (run, refused) in std::mem::take(&mut self.guard.refused) {
            if let Some(denials) = self.runs.get_mut(&run).and_then(|run| run.denials.as_mut()) {
                denials.add_program(refused);
            }
        }
        for (run, program) in std::mem::take(&mut self.guard.started) {
            if let Some(effects) = self.runs.get_mut(&run).and_then(|run| run.effects.as_mut()) {
                effects.add_program(program);
            }
        }
    }
}

/// The first words, not too long.
pub(super) fn told(words: &[String]) -> Vec<String> {
    let short = |word: &String| word.chars().take(MAX_TOLD_CHARACTERS).collect();
    words.iter().take(MAX_TOLD_WORDS).map(short).collect()
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

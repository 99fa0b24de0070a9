//! What a command did beside what the judge foretold.
//!
//! Each observed effect is foretold by name, foretold without a name (the judge said that files are written, or that code
//! runs that the command doesn't show), or not foretold. The judge's targets are spelled as in the command, so a relative
//! name is taken from the command's folder, and from any folder if the command changes it.

use serde::Serialize;
use shellgate_journal::{
    ForetoldCall, ForetoldEffect, PastExecution, RecordedEffects, RecordedForecast, RecordedProgram,
};
use shellgate_policy::programs::{base_name, is_helper, is_own_file};
use shellgate_policy::{CallEffect, EffectName, is_builtin};

use super::observed_path::ObservedPath;
use crate::views::{effect_phrases, effects_text};

/// Commands of the shell that change the folder of what comes after them.
const FOLDER_CHANGERS: [&str; 3] = ["cd", "pushd", "popd"];

/// How an observed effect relates to what the judge foretold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Foretold {
    /// The judge named it.
    Named,
    /// The judge said that there would be such an effect, and couldn't say on what.
    Unnamed,
    /// The judge didn't foresee it.
    No,
}

/// An observed effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedEffect {
    /// `run`, or the judge's word: `write`, `delete`, `network`.
    pub effect: &'static str,
    /// The program's words, the file or the address.
    pub target: String,
    /// Whether the judge foretold it.
    pub foretold: Foretold,
    /// What the judge said, in words.
    pub by: Option<String>,
    /// Of a program: how many programs stand above it.
    #[serde(skip)]
    pub depth: usize,
}

/// Observed effects beside the foretold ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// What was observed.
    pub observed: Vec<ComparedEffect>,
    /// What was foretold by name and not observed, in words.
    pub unobserved: Vec<String>,
}

/// Which effect of which call covers something.
type Cover<'a> = (Foretold, Option<&'a ForetoldEffect>);

impl Comparison {
    /// Of an execution in the journal. `None`: nothing was observed, or an older version recorded the start.
    pub(crate) fn of(execution: &PastExecution) -> Option<Self> {
        let observed = execution.ended.as_ref()?.effects.as_deref()?;
        let forecast = execution.started.as_ref()?.foretold.as_deref()?;
        let asked = execution.asked.as_ref()?;
        let is_shell = asked.argv.is_none();
        let (root, directory) = (&asked.root, &asked.directory);
        Some(Comparer { forecast, observed, root, directory }.compare(is_shell))
    }

    /// Of effects that nothing was foretold about.
    pub(crate) fn unjudged(observed: &RecordedEffects) -> Self {
        let forecast = &RecordedForecast::default();
        Comparer { forecast, observed, root: "/", directory: "." }.compare(true)
    }
}

struct Comparer<'a> {
    forecast: &'a RecordedForecast,
    observed: &'a RecordedEffects,
    root: &'a str,
    directory: &'a str,
}

impl<'a> Comparer<'a> {
    fn compare(&self, is_shell: bool) -> Comparison {
        let mut used: Vec<*const ForetoldEffect> = Vec::new();
        let mut observed = self.programs(is_shell);
        for (effect, targets) in [
            (EffectName::Write, &self.observed.writes),
            (EffectName::Delete, &self.observed.deletes),
            (EffectName::Network, &self.observed.connects),
        ] {
            for target in targets {
                let (foretold, by) = match effect {
                    EffectName::Network => self.connection(target),
                    _ => self.file(effect, target),
                };
                used.extend(by.map(std::ptr::from_ref));
                let keeper = || self.keeper_of(effect, target);
                let (foretold, by) = match (foretold, by.map(phrase)) {
                    (Foretold::No, _) => keeper().map_or((foretold, None), |by| (Foretold::Named, Some(by))),
                    unchanged => unchanged,
                };
                let (effect, target) = (effect.name(), target.clone());
                observed.push(ComparedEffect { effect, target, foretold, by, depth: 0 });
            }
        }
        let unobserved = if self.observed.omitted > 0 { Vec::new() } else { self.unobserved(&used) };
        Comparison { observed, unobserved }
    }

    fn effects(&self) -> impl Iterator<Item = &'a ForetoldEffect> + use<'a> {
        self.forecast.calls.iter().flat_map(|call| &call.effects)
    }

    /// The program that keeps a file for itself, in words: git's index, a compiler's temporary files.
    fn keeper_of(&self, kind: EffectName, path: &str) -> Option<String> {
        let mut programs = self.forecast.calls.iter().map(|call| &call.program);
        let keeper = programs.find(|program| kind != EffectName::Network && is_own_file(program, path))?;
        Some(format!("runs `{keeper}`, which keeps such files"))
    }

    /// The first effect by which anything may happen.
    fn anything(&self) -> Cover<'a> {
        match self.effects().find(|effect| allows_anything(effect)) {
            Some(effect) => (Foretold::Unnamed, Some(effect)),
            None if self.forecast.omitted > 0 => (Foretold::Unnamed, None),
            None => (Foretold::No, None),
        }
    }

    fn programs(&self, is_shell: bool) -> Vec<ComparedEffect> {
        let programs = &self.observed.programs;
        let above = tree(programs);
        let compared = programs.iter().enumerate().map(|(at, program)| {
            let (foretold, by) = self.program(at, &above, is_shell);
            let shown = if program.command.is_empty() { &program.program } else { &program.command };
            let depth = ancestors(at, &above).count();
            ComparedEffect { effect: "run", target: shown.clone(), foretold, by, depth }
        });
        compared.collect()
    }

    fn program(&self, at: usize, above: &[Option<usize>], is_shell: bool) -> (Foretold, Option<String>) {
        let programs = &self.observed.programs;
        if at == 0 && is_shell {
            return (Foretold::Named, Some("the shell".to_owned()));
        }
        let calls = &self.forecast.calls;
        let Some(program) = programs.get(at) else { return (Foretold::No, None) };
        if let Some(call) = calls.iter().find(|call| is_called(program, call)) {
            return (Foretold::Named, Some(format!("runs `{}`", call.program)));
        }
        for parent in ancestors(at, above).filter_map(|at| programs.get(at)) {
            for call in calls.iter().filter(|call| is_called(parent, call)) {
                if names(program).into_iter().any(|name| is_helper(&call.program, name)) {
                    return (Foretold::Named, Some(format!("runs `{}`, which starts it", call.program)));
                }
                if let Some(effect) = call.effects.iter().find(|effect| allows_anything(effect)) {
                    return (Foretold::Unnamed, Some(phrase(effect)));
                }
            }
        }
        let unknown = calls.iter().find(|call| call.program.is_empty());
        match unknown.and_then(|call| call.effects.first()) {
            Some(effect) => (Foretold::Unnamed, Some(phrase(effect))),
            None if self.forecast.omitted > 0 => (Foretold::Unnamed, None),
            None => (Foretold::No, None),
        }
    }

    fn file(&self, kind: EffectName, path: &str) -> Cover<'a> {
        // The judge says that `mv` writes both of its files: the name of the first is taken away.
        let kinds: &[EffectName] = match kind {
            EffectName::Delete => &[EffectName::Delete, EffectName::Write],
            _ => &[EffectName::Write],
        };
        let is_one = |effect: &ForetoldEffect| kinds.iter().any(|kind| kind.name() == effect.effect);
        for kind in kinds {
            let is_named =
                |effect: &&ForetoldEffect| effect.effect == kind.name() && self.names(effect, path);
            if let Some(effect) = self.effects().find(is_named) {
                return (Foretold::Named, Some(effect));
            }
        }
        // A file that is made and gone again stands for the one that it becomes, or is beside it: `sed -i`.
        let is_in = |list: &[String]| list.iter().any(|other| is_summarised(other, path));
        let is_temporary = is_in(&self.observed.writes) && is_in(&self.observed.deletes);
        if is_temporary {
            let writes = |effect: &&ForetoldEffect| effect.effect == EffectName::Write.name();
            if let Some(effect) = self.effects().filter(writes).find(|effect| self.is_beside(effect, path)) {
                return (Foretold::Named, Some(effect));
            }
        }
        // That files are written says nothing of removed ones, unless it can't be known which are written.
        let unnamed = |effect: &&ForetoldEffect| {
            let is_own = effect.effect == kind.name() || is_temporary;
            is_one(effect) && (!effect.known || is_own && effect.target.is_none())
        };
        match self.effects().find(unnamed) {
            Some(effect) => (Foretold::Unnamed, Some(effect)),
            None => self.anything(),
        }
    }

    fn connection(&self, address: &str) -> Cover<'a> {
        let reaches = |effect: &&ForetoldEffect| {
            [EffectName::Network, EffectName::Publish].iter().any(|kind| kind.name() == effect.effect)
        };
        let is_host = |effect: &&ForetoldEffect| {
            effect.target.as_deref().is_some_and(|host| may_be_address_of(host, address))
        };
        if let Some(effect) = self.effects().filter(reaches).find(is_host) {
            return (Foretold::Named, Some(effect));
        }
        match self.effects().filter(reaches).find(|effect| effect.target.is_none() || !effect.known) {
            Some(effect) => (Foretold::Unnamed, Some(effect)),
            None => self.anything(),
        }
    }

    /// The paths that a target of the judge may stand for, with the text behind which anything may follow.
    fn spelled(&self, effect: &ForetoldEffect) -> Option<ObservedPath> {
        let moves = self.forecast.calls.iter().any(|call| FOLDER_CHANGERS.contains(&call.program.as_str()));
        Some(ObservedPath::spelled(effect.target.as_deref()?, self.root, self.directory, moves))
    }

    /// Whether an effect names this path, a folder that it is in, or what is in it.
    fn names(&self, effect: &ForetoldEffect, path: &str) -> bool {
        self.spelled(effect).is_some_and(|spelled| spelled.covers(path))
    }

    fn is_beside(&self, effect: &ForetoldEffect, path: &str) -> bool {
        self.spelled(effect).is_some_and(|spelled| spelled.is_beside(path))
    }

    /// What was foretold by name and didn't happen, in words.
    fn unobserved(&self, used: &[*const ForetoldEffect]) -> Vec<String> {
        let started = |call: &&ForetoldCall| {
            self.observed.programs.iter().any(|program| is_called(program, call))
                || call.program.is_empty()
                || is_builtin(&[Some(call.program.clone())])
        };
        let observable = [EffectName::Write, EffectName::Delete, EffectName::Network].map(EffectName::name);
        let mut phrases: Vec<String> = Vec::new();
        for call in self.forecast.calls.iter().filter(|call| !started(call)) {
            phrases.push(format!("runs `{}`", call.program));
        }
        let is_missing = |effect: &&ForetoldEffect| {
            let is_named = effect.known && effect.target.is_some();
            is_named && observable.contains(&&*effect.effect) && !used.contains(&std::ptr::from_ref(*effect))
        };
        let missing: Vec<CallEffect> = self.effects().filter(is_missing).filter_map(call_effect).collect();
        phrases.extend(effect_phrases(&missing));
        phrases
    }
}

/// Whether an entry of a list of observed paths is this path, or a folder that stands for what is in it.
fn is_summarised(entry: &str, path: &str) -> bool {
    match entry.strip_suffix('…') {
        Some(folder) => path.starts_with(folder),
        None => entry == path,
    }
}

/// Whether a call with this effect may do anything: code that the command doesn't show, an unknown program.
fn allows_anything(effect: &ForetoldEffect) -> bool {
    [EffectName::Code, EffectName::Unknown].iter().any(|kind| kind.name() == effect.effect)
}

/// The effect in the judge's type.
pub(crate) fn call_effect(effect: &ForetoldEffect) -> Option<CallEffect> {
    let ForetoldEffect { effect, target, known, sends } = effect.clone();
    Some(CallEffect { effect: EffectName::from_name(&effect)?, target, known, sends, held: false })
}

fn phrase(effect: &ForetoldEffect) -> String {
    call_effect(effect).and_then(|effect| effects_text([&effect])).unwrap_or_default()
}

/// The names of an observed program: as it was called, and of its file.
fn names(program: &RecordedProgram) -> [&str; 2] {
    [base_name(program.command.split(' ').next().unwrap_or_default()), base_name(&program.program)]
}

fn is_called(program: &RecordedProgram, call: &ForetoldCall) -> bool {
    !call.program.is_empty() && names(program).contains(&&*call.program)
}

/// For each program the one that it was started by. A process that becomes another program stands below its own earlier one.
fn tree(programs: &[RecordedProgram]) -> Vec<Option<usize>> {
    let above = programs.iter().enumerate().map(|(at, program)| {
        let earlier = programs.get(..at).unwrap_or_default();
        let same = earlier.iter().rposition(|other| other.pid == program.pid);
        same.or_else(|| earlier.iter().rposition(|other| other.pid == program.parent))
    });
    above.collect()
}

/// The programs above one, the nearest first.
fn ancestors(at: usize, above: &[Option<usize>]) -> impl Iterator<Item = usize> {
    let next = move |at: &usize| above.get(*at).copied().flatten();
    std::iter::successors(next(&at), next)
}

/// Whether a host as the judge names it may have this address. Names aren't looked up: any address may be theirs.
fn may_be_address_of(host: &str, address: &str) -> bool {
    let Some((ip, _)) = address.rsplit_once(':') else { return false };
    let ip = ip.trim_matches(['[', ']']);
    let is_loopback = ip.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    match host.parse::<std::net::IpAddr>() {
        Ok(host) => ip == host.to_string(),
        Err(_) => host != "localhost" || is_loopback,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(text: &str) -> ForetoldEffect {
        let (text, known) = text.strip_suffix('?').map_or((text, true), |text| (text, false));
        let (name, target) =
            text.split_once(' ').map_or((text, None), |(name, target)| (name, Some(target.to_owned())));
        ForetoldEffect { effect: name.to_owned(), target, known, sends: false }
    }

    fn call(program: &str, effects: &[&str]) -> ForetoldCall {
        ForetoldCall {
            program: program.to_owned(),
            effects: effects.iter().map(|text| effect(text)).collect(),
        }
    }

    fn started(command: &str, pid: u32, parent: u32) -> RecordedProgram {
        let name = command.split(' ').next().unwrap();
        RecordedProgram { command: command.to_owned(), program: format!("/usr/bin/{name}"), pid, parent }
    }

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn compare(calls: Vec<ForetoldCall>, observed: &RecordedEffects) -> String {
        let forecast = RecordedForecast { calls, omitted: 0 };
        let comparer = Comparer { forecast: &forecast, observed, root: "/r", directory: "." };
        let Comparison { observed, unobserved } = comparer.compare(true);
        let row = |row: ComparedEffect| {
            let (blanks, by) = ("  ".repeat(row.depth), row.by.unwrap_or_else(|| "-".to_owned()));
            format!("{:7} {} {blanks}{}: {by}", format!("{:?}", row.foretold), row.effect, row.target)
        };
        let missing = unobserved.into_iter().map(|text| format!("missing: {text}"));
        observed.into_iter().map(row).chain(missing).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_the_judge_named_what_it_could_not_name_and_what_it_missed() {
        let observed = RecordedEffects {
            programs: vec![
                started("bash -c x", 10, 1),
                started("make all", 11, 10),
                started("cc -c a.c", 12, 11),
                started("rm -f out", 13, 10),
                started("odd", 14, 10),
            ],
            writes: list(&["a.o"]),
            deletes: list(&["out"]),
            connects: list(&["10.0.0.7:443"]),
            omitted: 0,
        };
        let calls = vec![call("make", &["code"]), call("rm", &["delete out", "delete other"])];
        insta::assert_snapshot!(compare(calls, &observed), @r"
        Named   run bash -c x: the shell
        Named   run   make all: runs `make`
        Unnamed run     cc -c a.c: runs code that the command doesn't show
        Named   run   rm -f out: runs `rm`
        No      run   odd: -
        Unnamed write a.o: runs code that the command doesn't show
        Named   delete out: deletes `out`
        Unnamed network 10.0.0.7:443: runs code that the command doesn't show
        missing: deletes `other`
        ");
    }

    #[test]
    fn without_code_everything_has_to_be_named() {
        let observed = RecordedEffects {
            programs: vec![started("bash -c x", 10, 1), started("sed -i s f", 11, 10)],
            writes: list(&["f", "sedXX", "sub/g", "/tmp/x"]),
            deletes: list(&["sedXX", "g"]),
            connects: list(&["127.0.0.1:80", "10.0.0.7:443"]),
            omitted: 0,
        };
        let calls = vec![call("sed", &["write f"]), call("curl", &["network localhost"])];
        insta::assert_snapshot!(compare(calls, &observed), @r"
        Named   run bash -c x: the shell
        Named   run   sed -i s f: runs `sed`
        Named   write f: writes `f`
        Named   write sedXX: writes `f`
        No      write sub/g: -
        No      write /tmp/x: -
        Named   delete sedXX: writes `f`
        No      delete g: -
        Named   network 127.0.0.1:80: fetches from `localhost`
        No      network 10.0.0.7:443: -
        missing: runs `curl`
        ");
    }

    #[test]
    fn files_that_a_program_keeps_for_itself_are_foretold_with_it() {
        let observed = RecordedEffects {
            writes: list(&[".git/index.lock", ".git/index", ".git/hooks/x"]),
            deletes: list(&[".git/index.lock"]),
            ..RecordedEffects::default()
        };
        insta::assert_snapshot!(compare(vec![call("git", &["read"])], &observed), @r"
        Named   write .git/index.lock: runs `git`, which keeps such files
        Named   write .git/index: runs `git`, which keeps such files
        No      write .git/hooks/x: -
        Named   delete .git/index.lock: runs `git`, which keeps such files
        missing: runs `git`
        ");
    }

    #[test]
    fn a_call_that_writes_without_saying_where_covers_writing_alone() {
        let observed = RecordedEffects {
            writes: list(&[".git/index", ".git/index.lock"]),
            deletes: list(&[".git/index.lock", "src/lost"]),
            ..RecordedEffects::default()
        };
        insta::assert_snapshot!(compare(vec![call("git", &["write"])], &observed), @r"
        Unnamed write .git/index: writes files
        Unnamed write .git/index.lock: writes files
        Unnamed delete .git/index.lock: writes files
        No      delete src/lost: -
        missing: runs `git`
        ");
    }
}

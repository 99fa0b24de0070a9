//! What a command did, bounded: a build that writes ten thousand files is told in a few lines.

use serde::{Deserialize, Serialize};
use shellgate_sandbox::{Effect, EffectKind};

/// How many programs of one execution are kept.
const MAX_PROGRAMS: usize = 64;

/// How many paths of each list are kept. Beyond that, folders stand for the files in them.
const MAX_PATHS: usize = 64;

/// How many addresses are kept.
const MAX_ADDRESSES: usize = 32;

/// What stands for all that is in a folder.
const ALL_INSIDE: &str = "…";

/// What the processes of an execution did, each once, as far as it fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// The programs that they started, in their order.
    pub programs: Vec<StartedProgram>,
    /// Files and folders that they made, or opened for writing. `FOLDER/…` stands for several in a folder.
    pub writes: Vec<String>,
    /// Files and folders that they removed, or took the name from.
    pub deletes: Vec<String>,
    /// Addresses that they connected to, as `HOST:PORT`.
    pub connects: Vec<String>,
    /// How many more programs they started.
    pub more_programs: u64,
    /// How many effects were not seen, because there were too many at once, and how many more addresses there were.
    pub lost: u64,
}

/// A program that a process started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedProgram {
    /// Its file.
    pub program: String,
    /// Its argument list, as far as it is short.
    pub argv: Vec<String>,
    /// The process.
    pub pid: u32,
    /// The process that this one was started by.
    pub parent: u32,
}

impl Effects {
    /// Adds an effect.
    pub(crate) fn add(&mut self, effect: &Effect) {
        let target = effect.target.to_string_lossy();
        match effect.kind {
            EffectKind::Write => add_path(&mut self.writes, &target),
            EffectKind::Delete => add_path(&mut self.deletes, &target),
            EffectKind::Connect if self.connects.iter().any(|known| *known == target) => {}
            EffectKind::Connect if self.connects.len() < MAX_ADDRESSES => {
                self.connects.push(target.into_owned())
            }
            EffectKind::Connect => self.lost += 1,
            EffectKind::Lost => self.lost += u64::from(effect.process.0),
            EffectKind::Program => {
                let mut words = target.split('\0').map(str::to_owned);
                let program = words.next().unwrap_or_default();
                let (pid, parent) = effect.process;
                self.add_program(StartedProgram { program, argv: words.collect(), pid, parent });
            }
        }
    }

    /// Adds a program.
    pub(crate) fn add_program(&mut self, program: StartedProgram) {
        match self.programs.len() < MAX_PROGRAMS {
            true => self.programs.push(program),
            false => self.more_programs += 1,
        }
    }
}

/// Adds a path, unless it is there or a folder stands for it. If the list gets too long, the folder with the most paths in it
/// stands for them; if each has one, the deepest paths become folders.
fn add_path(paths: &mut Vec<String>, path: &str) {
    let is_known = |known: &String| match known.strip_suffix(ALL_INSIDE) {
        Some(folder) => path.starts_with(folder),
        None => known == path,
    };
    if paths.iter().any(is_known) {
        return;
    }
    paths.push(path.to_owned());
    while paths.len() > MAX_PATHS {
        let folders: Vec<String> = paths.iter().map(|path| folder_of(path)).collect();
        let count = |folder: &String| folders.iter().filter(|other| *other == folder).count();
        let fullest = folders.iter().max_by_key(|folder| (count(folder), folder.len())).cloned();
        match fullest.filter(|folder| count(folder) > 1) {
            Some(folder) => put_together(paths, |path| folder_of(path) == folder),
            None => {
                let deepest = paths.iter().map(|path| depth(path)).max().unwrap_or(0);
                put_together(paths, |path| depth(path) == deepest);
            }
        }
    }
}

/// Lets the folders of some paths stand for them, and for all others in these folders.
fn put_together(paths: &mut Vec<String>, is_one: impl Fn(&str) -> bool) {
    let mut shorter: Vec<String> = Vec::new();
    for path in paths.drain(..) {
        let path = if is_one(&path) { folder_of(&path) } else { path };
        if !shorter.contains(&path) {
            shorter.push(path);
        }
    }
    let folders: Vec<String> =
        shorter.iter().filter_map(|path| path.strip_suffix(ALL_INSIDE)).map(str::to_owned).collect();
    shorter.retain(|path| {
        let inside = |folder: &String| {
            path.len() > folder.len() + ALL_INSIDE.len() && path.starts_with(folder.as_str())
        };
        !folders.iter().any(inside)
    });
    *paths = shorter;
}

fn depth(path: &str) -> usize {
    path.matches('/').count() + usize::from(!path.ends_with(ALL_INSIDE))
}

/// The folder of a path, standing for all that is in it.
fn folder_of(path: &str) -> String {
    let path = path.strip_suffix(ALL_INSIDE).map_or(path, |folder| folder.trim_end_matches('/'));
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{folder}/{ALL_INSIDE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(kind: EffectKind, target: &str) -> Effect {
        Effect { kind, target: target.into(), process: (7, 5), tag: 1 }
    }

    #[test]
    fn ten_thousand_files_are_a_few_lines() {
        let mut effects = Effects::default();
        for number in 0..10_000 {
            effects.add(&effect(EffectKind::Write, &format!("/r/target/debug/{}/{number}.o", number % 300)));
            effects.add(&effect(EffectKind::Write, "/r/Cargo.lock"));
        }
        assert!(effects.writes.len() <= MAX_PATHS);
        assert_eq!(effects.writes, ["/r/target/debug/…", "/r/Cargo.lock"]);
    }

    #[test]
    fn few_are_told_as_they_are_and_once() {
        let mut effects = Effects::default();
        for _ in 0..3 {
            effects.add(&effect(EffectKind::Write, "/r/a"));
            effects.add(&effect(EffectKind::Delete, "/r/b"));
            effects.add(&effect(EffectKind::Connect, "10.0.0.1:80"));
        }
        effects.add(&effect(EffectKind::Program, "/bin/cat\0cat\0x"));
        effects.add(&effect(EffectKind::Lost, ""));
        assert_eq!(
            (&effects.writes[..], &effects.deletes[..]),
            (&["/r/a".to_owned()][..], &["/r/b".to_owned()][..])
        );
        assert_eq!((effects.connects.len(), effects.lost), (1, 7));
        let argv = vec!["cat".to_owned(), "x".to_owned()];
        assert_eq!(
            effects.programs,
            [StartedProgram { program: "/bin/cat".to_owned(), argv, pid: 7, parent: 5 }]
        );
    }

    #[test]
    fn many_files_in_one_place_leave_others_their_names() {
        let mut effects = Effects::default();
        effects.add(&effect(EffectKind::Write, "/home/me/deep/down/project/out"));
        (0..500).for_each(|number| effects.add(&effect(EffectKind::Write, &format!("/tmp/sort{number}"))));
        assert_eq!(effects.writes, ["/home/me/deep/down/project/out", "/tmp/…"]);
    }

    #[test]
    fn files_everywhere_are_bounded_too() {
        let mut effects = Effects::default();
        (0..5000).for_each(|number| effects.add(&effect(EffectKind::Write, &format!("/{number}/file"))));
        assert!(effects.writes.len() <= MAX_PATHS, "{:?}", effects.writes);
    }
}

//! What agents really run, with nothing configured but a preset: what is free and what asks.
//!
//! Every line has the kind of the command, what it must be foretold to do, and the verdict by each preset. `tolerate` names
//! presets that may ask about a line that they should allow, because the judge can't tell yet; nothing makes up for a line that
//! is allowed and should ask. Counts are printed; run with `--no-capture` to see them.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use shellgate_policy::{CommandContext, Decision, Machine, Preset, Rules, Verdict, judge};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    command: String,
    /// For the counts: `read`, `fetch`, `work`, `publish`, `send`, `machine`, `outside`, `secret`, `unknown`.
    kind: String,
    /// Effects that must be foretold: `publish`, `delete:build`.
    effects: Vec<String>,
    cautious: String,
    balanced: String,
    open: String,
    #[serde(default)]
    tolerate: Vec<String>,
}

impl Line {
    fn should(&self, preset: Preset) -> &str {
        match preset {
            Preset::Cautious => &self.cautious,
            Preset::Balanced => &self.balanced,
            Preset::Open => &self.open,
        }
    }
}

/// A project below a home folder, with what typical projects have.
struct Project {
    _folder: tempfile::TempDir,
    home: PathBuf,
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("home");
        let root = home.join("project");
        let script = include_str!("vectors/presets-fixture.sh");
        let made = Command::new("bash").args(["-c", script, "presets-fixture"]).arg(&root).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        Self { _folder: folder, home, root }
    }

    fn verdict(&self, preset: Preset, text: &str) -> Verdict {
        let rules = Rules { preset: Some(preset), confined: true, ..Rules::default() };
        let path = std::env::var_os("PATH").unwrap();
        let machine = Machine::new(&self.root, &self.root, Some(self.home.clone()), path);
        judge(text, &CommandContext::default(), &rules, &machine)
    }
}

/// Whether a verdict has an effect as a line writes it: `publish`, or `delete:build` with what it does it to.
fn foretells(verdict: &Verdict, wanted: &str) -> bool {
    let (name, target) = wanted.split_once(':').map_or((wanted, None), |(name, target)| (name, Some(target)));
    verdict.parts().iter().flat_map(|part| &part.effects).any(|effect| {
        let is_target = |wanted| effect.target.as_deref().is_some_and(|own| Path::new(own).ends_with(wanted));
        effect.effect.name() == name && target.is_none_or(is_target)
    })
}

fn shown(verdict: &Verdict) -> String {
    let reasons: Vec<&str> = verdict.reasons().iter().map(|reason| reason.message.as_str()).collect();
    let effects = verdict.parts().iter().flat_map(|part| &part.effects).map(|effect| {
        let sends = if effect.sends { " sends" } else { "" };
        format!("{}{sends} {}", effect.effect, effect.target.as_deref().unwrap_or("-"))
    });
    format!("{reasons:?} {:?}", effects.collect::<Vec<_>>())
}

#[derive(Default)]
struct Count {
    lines: usize,
    exactly: usize,
    tolerated: usize,
    asks_needlessly: usize,
    allows_wrongly: usize,
}

#[test]
fn presets_free_what_is_harmless_and_ask_about_the_rest() {
    let project = Project::new();
    let mut counts: BTreeMap<(&str, String), Count> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in include_str!("vectors/presets.jsonl").lines() {
        let line: Line = serde_json::from_str(line).unwrap();
        for preset in Preset::ALL.iter().copied() {
            let verdict = project.verdict(preset, &line.command);
            let count = counts.entry((preset.name(), line.kind.clone())).or_default();
            count.lines += 1;
            let (said, should) = (verdict.decision().name(), line.should(preset));
            let is_tolerated = line.tolerate.iter().any(|name| name == preset.name());
            let list = match (said, should) {
                _ if said == should => {
                    count.exactly += 1;
                    None
                }
                ("ask", "allow") if is_tolerated => {
                    count.tolerated += 1;
                    None
                }
                (_, "allow") => {
                    count.asks_needlessly += 1;
                    Some("needless")
                }
                _ => {
                    count.allows_wrongly += 1;
                    Some("WRONG")
                }
            };
            if let Some(list) = list {
                wrong.push(format!(
                    "{list} {} {} {:?} {said} {}",
                    preset,
                    line.kind,
                    line.command,
                    shown(&verdict)
                ));
            }
            if is_tolerated && said == should {
                wrong.push(format!("no longer needed: tolerate {preset} of {:?}", line.command));
            }
        }
        let verdict = project.verdict(Preset::Balanced, &line.command);
        for effect in line.effects.iter().filter(|effect| !foretells(&verdict, effect)) {
            wrong.push(format!("effect {effect} {} {:?} {}", line.kind, line.command, shown(&verdict)));
        }
    }
    println!(
        "{:9} {:8} {:>5} {:>7} {:>9} {:>8} {:>5}",
        "preset", "kind", "lines", "exactly", "tolerated", "needless", "wrong"
    );
    for ((preset, kind), count) in &counts {
        println!(
            "{preset:9} {kind:8} {:5} {:7} {:9} {:8} {:5}",
            count.lines, count.exactly, count.tolerated, count.asks_needlessly, count.allows_wrongly
        );
    }
    for line in &wrong {
        eprintln!("{line}");
    }
    assert_eq!(wrong.len(), 0);
}

#[test]
fn deleting_everything_is_no_work_inside_the_root() {
    let project = Project::new();
    for text in [
        "rm -rf *",
        "rm -rf ./*",
        "rm -rf src/../*",
        "rm -rf .*",
        "rm -rf \"$DIR\"",
        "find . -delete",
        "find / -name x -delete",
    ] {
        assert_eq!(project.verdict(Preset::Balanced, text).decision(), Decision::Ask, "{text}");
    }
    for text in ["rm -f *.log", "rm -rf build/*", "find . -name '*.pyc' -delete"] {
        assert_eq!(project.verdict(Preset::Balanced, text).decision(), Decision::Allow, "{text}");
    }
}

#[test]
fn links_that_a_pattern_may_name_lead_outside() {
    let project = Project::new();
    let text = "cp README.md docs/*";
    std::fs::write(project.root.join("docs/a"), "").unwrap();
    assert_eq!(project.verdict(Preset::Balanced, text).decision(), Decision::Allow);
    std::os::unix::fs::symlink("/etc", project.root.join("docs/b")).unwrap();
    assert_eq!(project.verdict(Preset::Balanced, text).decision(), Decision::Ask);
}

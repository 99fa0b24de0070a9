//! What calls are foretold to do, one table: a call, and all its effects.

use shellgate_policy::{CallEffect, CommandContext, Machine, Rules, judge};

/// An effect as the table writes it: `delete build`, `network sends example.com`, `unknown?` if it isn't known.
fn shown(effect: &CallEffect) -> String {
    let sends = if effect.sends { " sends" } else { "" };
    let held = if effect.held { " held" } else { "" };
    let target = effect.target.as_deref().map_or_else(String::new, |target| format!(" {target}"));
    let known = if effect.known { "" } else { "?" };
    format!("{}{sends}{held}{target}{known}", effect.effect)
}

#[test]
fn calls_have_the_effects_that_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("home/project");
    std::fs::create_dir_all(root.join("scripts")).unwrap();
    let home = root.parent().unwrap().to_owned();
    let machine = Machine::new(&root, &root, Some(home), std::env::var_os("PATH").unwrap());
    let mut wrong = Vec::new();
    for line in include_str!("vectors/effects.txt").lines() {
        let Some((call, wanted)) = line.split_once(" => ").filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let verdict = judge(call, &CommandContext::default(), &Rules::default(), &machine);
        let effects: Vec<String> = verdict.parts().iter().flat_map(|part| &part.effects).map(shown).collect();
        let effects = if effects.is_empty() { vec!["nothing".to_owned()] } else { effects };
        if effects.join("; ") != wanted {
            wrong.push(format!("{call} => {}", effects.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "these are:\n{}", wrong.join("\n"));
}

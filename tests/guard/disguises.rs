//! A forbidden program under other names.

use super::{for_each_user, refused, run_script};

/// Each tries to remove `victim` by another way, and prints whether it is still there.
const SCRIPT: &str = include_str!("disguises.py");

/// What is no forbidden program: it does the work by its own system calls, or does something else.
const NOT_RM: [&str; 2] = ["own_calls", "other_program"];

#[test]
fn a_forbidden_program_does_not_run_under_any_name() {
    for_each_user(|place| {
        for mode in ["workspace"] {
            let flags = ["--sandbox", mode, "--exclude", "rm"];
            let answer = run_script(place, &flags, SCRIPT);
            assert_eq!(answer["exit_code"], 0, "{answer}");
            let lines: Vec<Vec<&str>> =
                answer["stdout"].as_str().unwrap().lines().map(|line| line.split(' ').collect()).collect();
            assert!(lines.len() >= 20, "{answer}");
            for line in &lines {
                let survives = line[0] != "own_calls";
                assert_eq!(line[1] == "True", survives, "{mode}: {line:?}: {answer}");
            }
            let told = refused(&answer);
            assert!(told.len() >= lines.len() - NOT_RM.len() - 2, "{told:?}");
            assert!(told.iter().all(|(_, rule)| rule.starts_with("exclude: rm")), "{told:?}");
        }
        // The same without the rule: every one of them removes the file.
        let control = run_script(place, &["--sandbox", "workspace"], SCRIPT);
        for line in control["stdout"].as_str().unwrap().lines() {
            let [name, exists, _] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            assert_eq!(exists == "True", name == "other_program", "{line}: {control}");
        }
        assert_eq!(control["denials"], serde_json::json!([]), "{control}");
    });
}

#[test]
fn a_prefix_is_compared_with_the_words_that_the_kernel_has() {
    const TRIES: &str = r#"
import subprocess
for argv in (["git", "push"], ["git", "-C", ".", "--no-pager", "push", "origin"], ["git", "--version"], ["git", "status"]):
    try: print(subprocess.run(argv, capture_output=True).returncode != 13)
    except PermissionError: print("refused")
"#;
    for_each_user(|place| {
        let answer = run_script(place, &["--sandbox", "workspace", "--exclude", "git push"], TRIES);
        assert_eq!(answer["stdout"], "refused\nrefused\nTrue\nTrue\n", "{answer}");
        let told: Vec<String> = refused(&answer).into_iter().map(|(argv, _)| argv).collect();
        assert_eq!(told, ["git push", "git -C . --no-pager push origin"], "{answer}");
    });
}

/// The grant of a refused program is settings under which it runs.
#[test]
fn the_grant_works() {
    for_each_user(|place| {
        let remove = "import subprocess; subprocess.run(['rm', 'victim'])";
        place.write("victim", "x");
        let answer = run_script(place, &["--sandbox", "workspace", "--exclude", "rm"], remove);
        assert!(place.root().join("victim").exists());
        let grant = answer["denials"][0]["grant"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let file = place.root().with_file_name("granted.toml");
        std::fs::write(&file, grant).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let flags = ["--sandbox", "workspace", "--config", file.to_str().unwrap()];
        place.write("other", "x");
        let answer = run_script(place, &flags, "import subprocess; subprocess.run(['rm', 'other'])");
        assert!(place.root().join("other").exists(), "the rule still denies the rest: {answer}");
        let answer = run_script(place, &flags, remove);
        assert!(!place.root().join("victim").exists(), "{answer}");
    });
}

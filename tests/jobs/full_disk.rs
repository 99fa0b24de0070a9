//! Jobs whose end can't be recorded, because the disk of the state folder is full.

use crate::support::{Place, for_each_user, shellgate};

/// Runs a script with the state folder on a small disk of its own. In it, `sg` is shellgate and `fill` fills the disk.
fn on_a_small_disk(place: &Place, script: &str) -> String {
    on_a_disk_of("600k", place, script)
}

fn on_a_disk_of(size: &str, place: &Place, script: &str) -> String {
    let script = format!(
        "mount -t tmpfs -o size={size},mode=700 none \"$SHELLGATE_HOME\" || exit 99
sg() {{ {} \"$@\"; }}
fill() {{ cat /dev/zero > \"$SHELLGATE_HOME/fill\"; }}
{script}",
        shellgate().display()
    );
    let mut command = place.program("unshare");
    command.args(["--user", "--map-root-user", "--mount", "bash", "-c", &script]);
    let output = command.output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_exit_code_of_a_job_is_told_on_a_full_disk() {
    for_each_user(|place| {
        for (last, code) in [("exit 7", "7"), ("kill -9 $$", "137"), ("true", "0")] {
            let script = format!(
                "id=$(sg run --background 'until [ -e go ]; do sleep 0.01; done; {last}' 2>&1)
id=${{id#*job }} id=${{id%%:*}}
fill; (sleep 0.3; touch go) & sg wait \"$id\"; echo \"code $?\""
            );
            let said = on_a_small_disk(place, &script);
            assert!(said.contains(&format!("code {code}\n")), "{last}: {said}");
            std::fs::remove_file(place.root().join("go")).unwrap();
        }
    });
}

/// The space that is set aside for ends is not taken from the record.
#[test]
fn commands_run_on_a_disk_that_is_almost_full() {
    for_each_user(|place| {
        for size in ["300k", "400k", "500k"] {
            let script = "for n in 1 2 3; do sg run 'echo out'; echo \"code $?\"; done";
            let said = on_a_disk_of(size, place, script);
            assert_eq!(said, "out\ncode 0\n".repeat(3), "{size}");
        }
    });
}

/// The job has ended before `wait`, and its end can't be recorded: `wait` says the end all the same, and doesn't wait for space.
#[test]
fn an_end_that_can_t_be_recorded_is_told() {
    for_each_user(|place| {
        let script = "id=$(sg run --background 'until [ -e go ]; do sleep 0.01; done; echo out; exit 7' 2>&1)
id=${id#*job } id=${id%%:*}
fill; touch go; until [ -e \"$SHELLGATE_HOME/ends/$id\" ]; do sleep 0.01; done
timeout 20 bash -c \"$(declare -f sg); sg wait $id --json\"; echo \"code $?\"";
        let said = on_a_small_disk(place, script);
        assert!(said.contains("code 7\n") && said.contains(r#""exit_code":7"#), "{said}");
        std::fs::remove_file(place.root().join("go")).unwrap();
    });
}

#[test]
fn a_result_is_kept_when_its_own_output_fills_the_disk() {
    for_each_user(|place| {
        for (background, code) in [("", "7"), ("--background", "0")] {
            let script = format!(
                "sg run {background} 'sleep 0.7; head -c 5000000 /dev/zero; exit 7' > out; echo \"code $?\"
while sg jobs --json | grep -q '\"running\"'; do sleep 0.05; done
ls -A \"$SHELLGATE_HOME/ends\"
rm \"$SHELLGATE_HOME\"/spool/*
sg history --json"
            );
            let said = on_a_small_disk(place, &script);
            assert!(said.contains(&format!("code {code}\n")), "{said}");
            assert!(said.contains(r#""exit_code":7"#) && said.contains(r#""status":"failed""#), "{said}");
            let is_unfinished = |line: &str| line.starts_with('.') && !line.starts_with(".job-");
            assert_eq!(said.lines().find(|line| is_unfinished(line) && *line != ".reserve"), None, "{said}");
        }
    });
}

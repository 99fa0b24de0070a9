//! A keeper that has no descriptors left.

use crate::support::{for_each_user, shellgate};

#[test]
fn a_keeper_without_descriptors_still_tells_and_stops_its_jobs() {
    for_each_user(|place| {
        // The keeper inherits the hard limit of its callers. Jobs are started until one is refused.
        let script = r#"
sg=$1
ulimit -n 64
"$sg" run --background 'sleep 1000' 2>&1
count=1
while "$sg" run --background 'sleep 1000' 2> said; do count=$((count + 1)); done
cat said
echo "started $count"
"$sg" jobs > listed; echo "code $?"
echo "listed $(grep -c 'sleep 1000' listed)"
"$sg" stop --all; echo "code $?"
"#;
        let mut command = place.program("bash");
        let output = command.args(["-c", script, "bash"]).arg(shellgate()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let number = |name: &str| -> u32 {
            let line = said.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{name}: {output:?}"))
                .trim_end_matches(" executions")
                .parse()
                .unwrap()
        };
        let started = number("started ");
        assert!(started > 2, "{output:?}");
        assert_eq!((number("listed "), number("stopped ")), (started, started), "{output:?}");
        assert!(said.contains("descriptor") || said.contains("Too many open files"), "{output:?}");
        assert_eq!(said.matches("code 0").count(), 2, "{output:?}");
        place.assert_nothing_is_left();
    });
}

//! Attacks by sockets, on servers outside that the test starts itself.

use std::io::BufRead as _;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::{
    assert_attacks_fail, assert_done, assert_stopped, command, for_each_user, install, results, run, write,
};
use crate::support::{Place, mark};

/// Servers outside the sandbox, of the place's user.
struct Servers {
    child: Child,
    /// Where they are.
    plan: Value,
}

impl Servers {
    fn start(place: &Place) -> Self {
        let outside = write(place, "outside/file", "").parent().unwrap().to_owned();
        let script = write(place, "server.py", include_str!("server.py"));
        let mut server = place.program("python3");
        server.arg(script).args([&outside, &place.root()]).arg(format!("shellgate-test-{}", mark()));
        let mut child = server.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, plan: serde_json::from_str(&line).unwrap() }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_network_that_is_denied_reaches_nothing_outside() {
    for_each_user(|place| {
        let servers = Servers::start(place);
        install(place, include_str!("network.py"), servers.plan.clone());
        for flags in [
            &["--sandbox", "workspace", "--network", "deny"][..],
            &["--sandbox", "read-only"],
            &["--sandbox", "strict"],
        ] {
            let answer = place.call_with(flags, &json!({"command": command("attack")}));
            assert_stopped(&results(&answer), &format!("{flags:?}"));
        }
        assert_done(&results(&run(place, "workspace", &command("control"))), "with a network");
    });
}

#[test]
fn unusual_kinds_of_sockets_cannot_be_made() {
    for_each_user(|place| {
        let modes = ["workspace", "read-only", "strict"];
        assert_attacks_fail(place, include_str!("families.py"), &modes, json!({}));
    });
}

#[test]
fn unix_sockets_outside_cannot_be_reached() {
    for_each_user(|place| {
        let servers = Servers::start(place);
        let modes = ["workspace", "read-only", "strict"];
        assert_attacks_fail(place, include_str!("sockets.py"), &modes, servers.plan.clone());
    });
}

//! `landlock`: how far signals and abstract sockets reach.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, test_kill_process};
use shellgate_sandbox::fork::run_in_child;
use shellgate_sandbox::walls::landlock::{PathRules, Ruleset, Scope, Scopes};

use crate::users::as_each_user;
use crate::{Test, in_child};

pub(crate) const TESTS: &[Test] = &[
    ("signals_stay_in_the_domain_if_asked", signals_stay_in_the_domain_if_asked),
    (
        "abstract_sockets_of_others_are_out_of_reach_if_asked",
        abstract_sockets_of_others_are_out_of_reach_if_asked,
    ),
];

fn confine(abstract_sockets: Scope, signals: Scope) {
    let rules = PathRules { writable: vec!["/tmp".into()], readable: None };
    Ruleset::prepare(&rules, Scopes { abstract_sockets, signals }).unwrap().apply().unwrap();
}

fn signals_stay_in_the_domain_if_asked() {
    as_each_user(|_| {
        let outside = getpid();
        for (signals, reaches) in [(Scope::Everything, true), (Scope::Domain, false)] {
            in_child(|| {
                test_kill_process(outside).unwrap();
                confine(Scope::Domain, signals);
                assert_eq!(test_kill_process(outside).is_ok(), reaches, "{signals:?}");
                // Commands of one launcher: two children of this process.
                let mut sleeper = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
                let pid = Pid::from_child(&sleeper);
                assert_eq!(
                    run_in_child(|| i32::from(kill_process(pid, Signal::KILL).is_err())).unwrap(),
                    Some(0)
                );
                assert_eq!(sleeper.wait().unwrap().code(), None, "it was killed");
            });
        }
        assert!(rustix::process::wait(WaitOptions::NOHANG).is_err(), "no child is left");
    });
}

fn abstract_sockets_of_others_are_out_of_reach_if_asked() {
    as_each_user(|_| {
        let name = format!("shellgate-walls-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name).unwrap();
        let _listener = UnixListener::bind_addr(&address).unwrap();
        for (scope, reaches) in [(Scope::Everything, true), (Scope::Domain, false)] {
            in_child(|| {
                UnixStream::connect_addr(&address).unwrap();
                confine(scope, Scope::Domain);
                assert_eq!(UnixStream::connect_addr(&address).is_ok(), reaches, "{scope:?}");
                let own = SocketAddr::from_abstract_name(format!("own-{}", std::process::id())).unwrap();
                let _own = UnixListener::bind_addr(&own).unwrap();
                UnixStream::connect_addr(&own).unwrap();
            });
        }
    });
}

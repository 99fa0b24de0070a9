//! `ssh` with a key that a rule grants, to a real server.

use std::net::TcpListener;
use std::process::Command;

use crate::support::{Place, for_all, is_root, programs, shellgate};

#[test]
fn a_granted_key_opens_a_server() {
    assert!(is_root(), "a server and namespaces are made for each user");
    for user in [0, 12345] {
        let place = Place::new(None);
        let folder = place.root().parent().unwrap().join("ssh");
        // The next free port. It is free again when the listener is gone.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = place.write("ssh.sh", include_str!("ssh.sh"));
        let output = Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "timeout", "60", "bash"])
            .arg(script)
            .arg(user.to_string())
            .args([folder, for_all(&shellgate())])
            .arg(port.to_string())
            .env_clear()
            .env("PATH", programs())
            .output()
            .unwrap();
        let (printed, said) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(printed, "denied failed\ngranted cloned\nkey unreadable\n", "{user}: {said}");
    }
}

//! `wait`: for the end, a line, a port or silence, with a timeout.

use serde_json::json;

use super::{json_of, listed, run, start, start_with};
use crate::support::{for_each_user, wait_until, wait_until_idle};

#[test]
fn a_line_is_waited_for_and_found_when_it_came_before() {
    for_each_user(|place| {
        place.write("go", "");
        let id = start(
            place,
            "echo warming up; while [ -e go ]; do sleep 0.02; done; echo ready on 80 >&2; exec sleep 600",
        );
        assert_eq!(run(place, &["wait", &id, "--pattern", "warm.*"]), ("warming up\n".to_owned(), Some(0)));
        let waiting = place.start(["wait", &id, "--pattern", "ready"]);
        std::fs::remove_file(place.root().join("go")).unwrap();
        let output = waiting.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ready on 80\n", "on either stream");
        let answer = json_of(place, &["wait", &id, "--pattern", "ready", "--json"]);
        assert_eq!(
            (answer["reason"].as_str(), answer["stream"].as_str(), answer["status"].as_str()),
            (Some("matched"), Some("stderr"), Some("running"))
        );
        assert_eq!(run(place, &["wait", &id, "--timeout", "100ms"]).1, Some(124), "it goes on");
        assert_eq!(
            run(place, &["wait", &id, "--pattern", "never", "--silence", "200ms"]),
            (String::new(), Some(0))
        );
        assert_eq!(run(place, &["stop", &id]).1, Some(0));
        assert_eq!(run(place, &["wait", &id, "--pattern", "never"]).1, Some(130), "its end counts always");
        assert_eq!(
            run(place, &["wait", &id, "--pattern", "ready"]).1,
            Some(0),
            "what it printed is still found"
        );
        place.assert_nothing_is_left();
    });
}

/// A line of a terminal ends in a carriage return and a newline.
#[test]
fn the_end_of_a_line_is_found_in_a_terminal_too() {
    for_each_user(|place| {
        let command = "echo is ready; exec sleep 600";
        let id = start_with(place, &json!({"command": command, "background": true, "pty": true}));
        assert_eq!(run(place, &["wait", &id, "--pattern", "ready$", "--timeout", "20s"]).1, Some(0));
        assert_eq!(run(place, &["logs", &id, "--grep", "ready$"]).0.trim_end(), "is ready");
        run(place, &["stop", &id]);
        place.assert_nothing_is_left();
    });
}

#[test]
fn output_beyond_the_capture_limit_is_matched_and_reported_as_missing() {
    for_each_user(|place| {
        let config = place.write("small.toml", "[limits]\ncapture_bytes = 1000\n");
        let command = "seq 1000; while [ ! -e go ]; do sleep 0.01; done; echo is ready; exec sleep 600";
        let arguments = json!({"command": command, "background": true}).to_string();
        let started = json_of(place, &["call", "--config", config.to_str().unwrap(), &arguments]);
        let id = started["id"].as_str().unwrap();
        let waiting = place.start(["wait", id, "--pattern", "is ready", "--timeout", "60s"]);
        wait_until_idle(waiting.id());
        std::fs::write(place.root().join("go"), "").unwrap();
        assert_eq!(waiting.wait_with_output().unwrap().status.code(), Some(0));
        let logs = place.output(["logs", id]);
        assert_eq!(logs.stdout.len(), 1000);
        assert!(String::from_utf8_lossy(&logs.stderr).contains("2902 more bytes"), "{logs:?}");
        assert_eq!(json_of(place, &["logs", id, "--json"])["stdout_truncated"], true);
        // The end of the output is kept, while the job runs and afterwards.
        for status in ["running", "canceled"] {
            let report = json_of(place, &["wait", id, "--json", "--timeout", "1ms"]);
            assert_eq!(report["status"], status, "{report}");
            assert!(report["stdout"].as_str().unwrap().ends_with("1000\nis ready\n"), "{report}");
            assert_eq!(listed(place, id).unwrap()["last_line"], "is ready");
            assert_eq!(run(place, &["logs", id, "-n", "2"]).0, "1000\nis ready\n");
            let found = run(place, &["wait", id, "--pattern", "^is re"]);
            assert_eq!(found.0, "is ready\n", "also when it came before");
            run(place, &["stop", id]);
        }
        place.assert_nothing_is_left();
        // `history forget` removes the kept end too.
        assert_eq!(run(place, &["history", "forget", id]).1, Some(0));
        let left = std::fs::read_dir(place.state().join("spool")).unwrap().count();
        assert_eq!(left, 0);
    });
}

#[test]
fn a_question_without_a_newline_is_a_line_too() {
    for_each_user(|place| {
        let id = start(place, "printf 'Password: '; exec sleep 600");
        assert_eq!(
            run(place, &["wait", &id, "--pattern", "Password: $"]),
            ("Password: \n".to_owned(), Some(0))
        );
        run(place, &["stop", &id]);
    });
}

#[test]
fn a_port_is_waited_for_as_soon_as_the_job_listens() {
    let server = "import socket, time, os\nwhile os.path.exists('go'): time.sleep(0.01)\ns = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); time.sleep(600)";
    for_each_user(|place| {
        place.write("go", "");
        place.write("server.py", server);
        let id = start(place, "(python3 server.py &) ; exec sleep 600");
        assert_eq!(run(place, &["wait", &id, "--port", "--timeout", "200ms"]).1, Some(124), "not yet");
        let waiting = place.start(["wait", &id, "--port"]);
        std::fs::remove_file(place.root().join("go")).unwrap();
        let output = waiting.wait_with_output().unwrap();
        wait_until("the server has printed its port", || !run(place, &["logs", &id]).0.is_empty());
        let port = run(place, &["logs", &id]).0;
        assert_eq!(String::from_utf8_lossy(&output.stdout), port, "the port of a grandchild is found");
        assert_eq!(run(place, &["wait", &id, "--port", port.trim()]).1, Some(0));
        assert_eq!(
            run(place, &["wait", &id, "--port", "1", "--timeout", "100ms"]).1,
            Some(124),
            "no process listens on this port"
        );
        let job = super::listed(place, &id).unwrap();
        assert_eq!(job["ports"][0].to_string(), port.trim());
        run(place, &["stop", &id]);
        place.assert_nothing_is_left();
    });
}

/// The server of a real program.
#[test]
fn a_server_is_started_used_and_stopped() {
    for_each_user(|place| {
        place.write("hello.txt", "hello from the job\n");
        let id = start(place, "exec python3 -u -m http.server --bind 127.0.0.1 0");
        let (port, code) = run(place, &["wait", &id, "--port", "--timeout", "30s"]);
        assert_eq!(code, Some(0));
        let url = format!("http://127.0.0.1:{}/hello.txt", port.trim());
        let fetch =
            format!("import urllib.request; print(urllib.request.urlopen('{url}').read().decode(), end='')");
        let output = place.program("python3").args(["-c", &fetch]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "hello from the job\n");
        assert_eq!(run(place, &["wait", &id, "--pattern", "GET /hello.txt"]).1, Some(0));
        assert_eq!(run(place, &["stop", &id]).1, Some(0));
        assert!(std::net::TcpStream::connect(("127.0.0.1", port.trim().parse().unwrap())).is_err());
        place.assert_nothing_is_left();
    });
}

/// `wait` and the keeper of a silent job sleep: nothing wakes them before the job ends.
#[test]
fn waiting_and_holding_burn_no_cpu() {
    for_each_user(|place| {
        let id = start(place, "exec 1>&- 2>&-; exec sleep 600");
        let mut waiting = place.start(["wait", &id]);
        wait_until_idle(waiting.id());
        let keepers = place.keepers();
        assert_eq!(keepers.len(), 1);
        wait_until_idle(u32::try_from(keepers[0]).unwrap());
        assert!(waiting.try_wait().unwrap().is_none(), "it still waits");
        run(place, &["stop", &id]);
        assert_eq!(waiting.wait().unwrap().code(), Some(130));
    });
}

#[test]
fn a_forgotten_job_is_told_as_forgotten() {
    for_each_user(|place| {
        let id = start(place, "exit 7");
        assert_eq!(run(place, &["wait", &id]).1, Some(7));
        assert_eq!(run(place, &["history", "forget", &id]).1, Some(0));
        for word in ["wait", "logs"] {
            let output = place.output([word, &id]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains("was forgotten"), "{word}: {said}");
        }
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_job_without_its_output_files_still_has_its_end() {
    for_each_user(|place| {
        let id = start(place, "echo printed; exit 7");
        assert_eq!(run(place, &["wait", &id]).1, Some(7));
        let files = std::fs::read_dir(place.state().join("spool")).unwrap().flatten();
        files.for_each(|file| std::fs::remove_file(file.path()).unwrap());
        let answer = json_of(place, &["wait", &id, "--json"]);
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("failed"), &json!(7)), "{answer}");
        assert_eq!(
            (&answer["stdout_bytes"], &answer["stdout_truncated"]),
            (&json!(8), &json!(true)),
            "{answer}"
        );
        assert!(answer["stdout"].as_str().unwrap().contains("its output is not kept any more"), "{answer}");
        place.assert_nothing_is_left();
    });
}

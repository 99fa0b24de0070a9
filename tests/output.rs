//! The output of commands: all of it is kept, cleaned for display, and not held in memory.

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};
use shellgate::{Event, Follow, Request, State, Stream, request::Action};

use crate::support::{Place, for_each_user, wait_until, wait_until_full};

fn text<'a>(answer: &'a Value, key: &str) -> &'a str {
    answer[key].as_str().unwrap()
}

#[test]
fn the_file_keeps_the_bytes_and_the_answer_is_clean() {
    for_each_user(|place| {
        let cases: [(&str, &[u8], &str); 7] = [
            (r"printf 'a\0b\n'", b"a\0b\n", "ab\n"),
            (r"printf 'caf\xe9\n'", b"caf\xe9\n", "caf\u{fffd}\n"),
            (r"printf '\e[31mred\e[0m\n'", b"\x1b[31mred\x1b[0m\n", "red\n"),
            (r"printf 'a\r\nb\r\n'", b"a\r\nb\r\n", "a\nb\n"),
            (r"printf '10%%\r20%%\r100%%\ndone\n'", b"10%\r20%\r100%\ndone\n", "100%\ndone\n"),
            (r"printf 'no newline'", b"no newline", "no newline"),
            (r"printf 'x\xe2\x82\xacy'", "x€y".as_bytes(), "x€y"),
        ];
        for (command, bytes, shown) in cases {
            let answer = place.call(&json!({"command": command}));
            assert_eq!(text(&answer, "stdout"), shown, "{command}");
            assert_eq!(answer["stdout_bytes"], json!(bytes.len()), "{command}");
            assert_eq!(std::fs::read(text(&answer, "stdout_file")).unwrap(), bytes, "{command}");
            assert_eq!(answer["stdout_truncated"], json!(false), "{command}");
        }
        let bar = "for i in $(seq 500); do printf '\\r%3d%% [%s]' $((i/5)) \"$(printf '#%.0s' $(seq $((i/10+1))))\"; done; echo";
        let answer = place.call(&json!({"command": bar}));
        assert_eq!(text(&answer, "stdout").lines().count(), 1, "a progress bar is its last state");
        assert!(text(&answer, "stdout").starts_with("100% [####"));
    });
}

#[test]
fn binary_is_described() {
    for_each_user(|place| {
        let answer = place.call(&json!({"command": "head -c 100000 /bin/bash"}));
        let shown = text(&answer, "stdout");
        let bytes = std::fs::read(text(&answer, "stdout_file")).unwrap();
        assert_eq!(bytes, std::fs::read("/bin/bash").unwrap()[..100_000]);
        let sum = std::process::Command::new("sha256sum").arg(text(&answer, "stdout_file")).output().unwrap();
        let sum = String::from_utf8(sum.stdout).unwrap();
        for part in ["binary", "100000 bytes", sum.split(' ').next().unwrap(), text(&answer, "stdout_file")] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        assert!(shown.lines().count() == 1 && shown.len() < 400, "{shown}");
    });
}

#[test]
fn long_output_is_cut_in_the_middle_and_says_where_the_rest_is() {
    for_each_user(|place| {
        let answer = place.call(&json!({"command": "seq 100000"}));
        let shown = text(&answer, "stdout");
        assert_eq!((&answer["stdout_truncated"], &answer["stdout_bytes"]), (&json!(true), &json!(588_895)));
        assert!(shown.starts_with("1\n2\n3\n") && shown.ends_with("99999\n100000\n"));
        let file = text(&answer, "stdout_file");
        let marker = shown.lines().find(|line| line.contains("left out")).unwrap();
        assert!(marker.contains(file), "{marker}");
        assert!(shown.chars().count() < 31_000);
        let full = place.call(&json!({"command": "seq 100000", "detail": "full"}));
        let wanted: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
        assert_eq!(text(&full, "stdout"), wanted);
        assert_eq!(std::fs::read_to_string(file).unwrap(), wanted);
    });
}

#[test]
fn beyond_the_capture_limit_the_head_is_on_disk_and_the_tail_is_remembered() {
    for_each_user(|place| {
        let config = place.write("limits.toml", "[limits]\ncapture_bytes = 1000000\n");
        let flags = ["--config", config.to_str().unwrap()];
        let answer = place.call_with(&flags, &json!({"command": "seq 2000000; echo end"}));
        assert_eq!(
            (&answer["status"], &answer["stdout_bytes"]),
            (&json!("completed"), &json!(14_888_896 + 4))
        );
        assert_eq!(std::fs::metadata(text(&answer, "stdout_file")).unwrap().len(), 1_000_000);
        let shown = text(&answer, "stdout");
        assert!(shown.starts_with("1\n2\n") && shown.ends_with("1999999\n2000000\nend\n"), "{}", shown.len());
        let marker = shown.lines().find(|line| line.contains("left out")).unwrap();
        assert!(marker.contains("1000000") && marker.contains("capture limit"), "{marker}");
        // The live output has every byte.
        let output = place.output(["run", flags[0], flags[1], "seq 2000000"]);
        let wanted: String = (1..=2_000_000).map(|number| format!("{number}\n")).collect();
        assert!(output.stdout == wanted.as_bytes(), "run passes every byte on");
    });
}

#[test]
fn no_byte_is_missing_whatever_the_size() {
    for_each_user(|place| {
        for size in [1, 4095, 4096, 65_535, 65_536, 65_537, 131_072, 1 << 20, (1 << 20) + 1, 3_000_001] {
            let command =
                format!("head -c {size} /dev/zero | tr '\\0' x; head -c {size} /dev/zero | tr '\\0' y >&2");
            let answer = place.call(&json!({"command": command}));
            for (key, byte) in [("stdout", b'x'), ("stderr", b'y')] {
                assert_eq!(answer[format!("{key}_bytes")], json!(size));
                let kept = std::fs::read(text(&answer, &format!("{key}_file"))).unwrap();
                assert!(kept.len() == size && kept.iter().all(|seen| *seen == byte), "{key} of {size}");
            }
        }
    });
}

#[test]
fn a_command_that_prints_much_costs_no_memory() {
    let place = Place::new(None);
    let little = peak_kb(&place, 1_000);
    let much = peak_kb(&place, 3_000_000_000);
    assert!(
        little > 0 && much < little + (8 << 10),
        "{little} kB at the peak, and {much} kB for much output"
    );
    place.assert_nothing_is_left();
}

/// The most memory that a call and its keeper take, while its command prints so many bytes.
fn peak_kb(place: &Place, bytes: u64) -> u64 {
    let config = place.write("limits.toml", "[limits]\ncapture_bytes = 50000000\n");
    let command = format!("head -c {bytes} /dev/zero | tr '\\0' 'x'; sleep 0.2");
    let command = json!({ "command": command }).to_string();
    let mut child = place.start(["call", "--config", config.to_str().unwrap(), &command]);
    // For as long as they live.
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        for pid in place.keepers().into_iter().chain([u64::from(child.id())]) {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
            most = most.max(peak.trim().trim_end_matches(" kB").parse().unwrap_or(0));
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let answer: Value = serde_json::from_reader(child.stdout.take().unwrap()).unwrap();
    assert_eq!((&answer["status"], &answer["stdout_bytes"]), (&json!("completed"), &json!(bytes)));
    most
}

#[test]
fn events_come_in_order_with_offsets_and_whole_characters() {
    for_each_user(|place| {
        // The two bytes of é in two writes, with an event awaited between them.
        let text = r"printf 'a\xc3'; until [ -e go ]; do sleep 0.02; done; printf '\xa9b'; echo err >&2";
        let mut child = place.start(["call", "--events", &json!({"command": text}).to_string()]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut events: Vec<Value> = Vec::new();
        for line in lines.by_ref() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let first = event["type"] == "tool-stream" && event["text"] == "a";
            events.push(event);
            if first {
                std::fs::write(place.root().join("go"), "").unwrap();
            }
        }
        assert!(child.wait().unwrap().success());
        let shape = |event: &Value| match event["type"].as_str().unwrap() {
            "state" => text_of(event, "status"),
            "tool-stream" => {
                format!("{}@{}:{}", text_of(event, "stream"), event["offset"], text_of(event, "text"))
            }
            other => other.to_owned(),
        };
        let mut shapes: Vec<String> = events.iter().map(shape).collect();
        assert_eq!(shapes.drain(..4).collect::<Vec<_>>(), ["queued", "starting", "running", "stdout@0:a"]);
        assert_eq!(shapes.drain(shapes.len() - 2..).collect::<Vec<_>>(), ["completed", "result"]);
        shapes.sort_unstable();
        assert_eq!(shapes, ["stderr@0:err\n", "stdout@1:éb"]);
        assert_eq!(events.last().unwrap()["json"]["stdout"], json!("aéb"));
        let ids: Vec<&Value> = events.iter().filter_map(|event| event.get("id")).collect();
        assert!(ids.windows(2).all(|pair| pair[0] == pair[1]));
    });
}

fn text_of(event: &Value, key: &str) -> String {
    event[key].as_str().unwrap().to_owned()
}

#[test]
fn streams_are_interleaved_as_they_are_read() {
    let place = Place::new(None);
    let gate = place.gate();
    // Each line is printed after the previous one was seen, so the order is fixed.
    let script = "for i in 1 2 3 4 5 6; do if ((i%2)); then echo $i; else echo $i >&2; fi; until [ -e seen$i ]; do sleep 0.01; done; done";
    let request = Request { action: Action::Shell(script.to_owned()), ..Request::default() };
    let mut execution = gate.submit(request, Follow::Closely).unwrap();
    let mut seen = Vec::new();
    loop {
        match execution.next().unwrap() {
            Event::Output { stream, offset, bytes } => {
                let text = String::from_utf8(bytes).unwrap();
                std::fs::write(place.root().join(format!("seen{}", text.trim())), "").unwrap();
                seen.push((stream, offset, text));
            }
            Event::Ended(report) => break assert_eq!(report.status, State::Completed),
            Event::State(_) => {}
        }
    }
    let wanted: Vec<_> = (1..=6)
        .map(|number| {
            let stream = if number % 2 == 1 { Stream::Stdout } else { Stream::Stderr };
            (stream, (number - 1) / 2 * 2, format!("{number}\n"))
        })
        .collect();
    assert_eq!(seen, wanted);
}

#[test]
fn a_reader_that_stands_still_gets_everything_later() {
    for_each_user(|place| {
        let config = place.write("limits.toml", "[limits]\ncapture_bytes = 100000\n");
        let mut child =
            place.start(["run", "--config", config.to_str().unwrap(), "seq 1000000; echo done >&2"]);
        // The test reads nothing until the command blocks on the full pipe, far beyond the capture limit.
        let mut out = BufReader::new(child.stdout.take().unwrap());
        wait_until_full(out.get_ref());
        let mut all = Vec::new();
        std::io::Read::read_to_end(&mut out, &mut all).unwrap();
        let wanted: String = (1..=1_000_000).map(|number| format!("{number}\n")).collect();
        assert!(all == wanted.as_bytes());
        assert!(child.wait().unwrap().success());
    });
}

#[test]
fn a_full_disk_stops_no_command_and_is_told() {
    for_each_user(|place| {
        // In a new mount namespace an ordinary user can mount, and the mount goes away with the namespace.
        let on_a_full_disk = |flags: &[&str], last: &str| {
            let mount = r#"mount -t tmpfs -o size=256k,mode=700 none "$SHELLGATE_HOME" && exec "$@""#;
            let mut command = place.program("unshare");
            command.args(["--user", "--map-root-user", "--mount", "bash", "-c", mount, "bash"]);
            command.arg(crate::support::shellgate()).args(flags).arg(last).output().unwrap()
        };
        let call = json!({"command": "seq 200000; echo finished; echo ran > proof"}).to_string();
        let output = on_a_full_disk(&["call"], &call);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&answer["status"], &answer["stdout_bytes"]),
            (&json!("completed"), &json!(1_288_895 + 9))
        );
        assert!(place.root().join("proof").exists(), "the command went on");
        let shown = text(&answer, "stdout");
        assert!(shown.starts_with("1\n2\n") && shown.ends_with("200000\nfinished\n"));
        let marker = shown.lines().find(|line| line.contains("left out")).unwrap();
        assert!(marker.contains("No space left on device"), "{marker}");
        let output = on_a_full_disk(&["run"], "seq 200000");
        let wanted: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
        assert!(output.stdout == wanted.as_bytes(), "live output is complete");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("stdout was not stored completely: No space left on device"), "{said}");
    });
}

#[test]
fn the_oldest_finished_output_goes_when_there_is_too_much() {
    for_each_user(|place| {
        let config = place.write("keep.toml", "[journal]\nkeep_mb = 3\n");
        let flags = ["--config", config.to_str().unwrap()];
        let files: Vec<String> = (0..6)
            .map(|_| {
                let answer = place.call_with(&flags, &json!({"command": "head -c 1000000 /dev/zero"}));
                text(&answer, "stdout_file").to_owned()
            })
            .collect();
        let kept = || files.iter().map(|file| std::path::Path::new(file).exists()).collect::<Vec<_>>();
        wait_until("the oldest three are gone", || kept() == [false, false, false, true, true, true]);
    });
}

//! Reads every shell script under the folders it is given and says how many were read with certainty.
//!
//! `cargo run --release -p shellgate-syntax --example scripts -- /usr /etc ~/.cargo/registry`
//!
//! Only scripts that `bash -n` accepts count: files whose first line names `sh` or `bash`.

#![expect(clippy::print_stdout, reason = "it is a program that prints")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn main() {
    let mut scripts = Vec::new();
    for root in std::env::args().skip(1) {
        collect(Path::new(&root), &mut scripts);
    }
    scripts.sort();
    let mut certain = 0;
    let mut total = 0;
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut slowest = (std::time::Duration::ZERO, PathBuf::new(), 0);
    for path in &scripts {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        if text.len() > 131_071 || text.contains('\0') || !accepted(path) {
            continue;
        }
        total += 1;
        let start = std::time::Instant::now();
        let result = shellgate_syntax::read(&text);
        if start.elapsed() > slowest.0 {
            slowest = (start.elapsed(), path.clone(), text.len());
        }
        let reason = match result {
            Ok(findings) => match findings.doubts.first() {
                None => {
                    certain += 1;
                    continue;
                }
                Some(doubt) => (line(&text, doubt.span.start), format!("doubt: {}", doubt.message)),
            },
            Err(shellgate_syntax::Unreadable::Syntax { span, message }) => (line(&text, span.start), message),
            Err(error) => (0, error.to_string()),
        };
        println!("{}:{}: {}", path.display(), reason.0, reason.1);
        *reasons.entry(reason.1.chars().take(60).collect()).or_default() += 1;
    }
    println!("{certain} of {total} scripts were read with certainty");
    println!("slowest: {:?} for {} ({} bytes)", slowest.0, slowest.1.display(), slowest.2);
    for (reason, count) in reasons {
        println!("{count:6} {reason}");
    }
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn collect(folder: &Path, scripts: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            collect(&entry.path(), scripts);
        } else if kind.is_file() && is_script(&entry.path()) {
            scripts.push(entry.path());
        }
    }
}

fn is_script(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; 64];
    let Ok(mut file) = std::fs::File::open(path) else { return false };
    let Ok(length) = file.read(&mut start) else { return false };
    let start = String::from_utf8_lossy(start.get(..length).unwrap_or_default()).into_owned();
    let first = start.lines().next().unwrap_or_default();
    first.starts_with("#!") && first.split(['/', ' ', '!']).any(|part| matches!(part, "sh" | "bash"))
}

fn accepted(path: &Path) -> bool {
    Command::new("bash")
        .arg("-n")
        .arg(path)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

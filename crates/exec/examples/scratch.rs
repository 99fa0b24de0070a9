#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout)]
use shellgate_exec::*;
use std::ffi::CString;
use std::time::{Duration, Instant};
fn spec(text: &str, follow: Follow) -> Spec {
    let c = |s: &str| CString::new(s).unwrap();
    Spec { id: ExecId::generate(), program: c("/bin/bash"), argv: vec![c("bash"), c("-c"), c(text)],
        env: std::env::vars().map(|(k, v)| c(&format!("{k}={v}"))).collect(), directory: c("/tmp"), umask: 0o22,
        mode: Mode::Foreground, timeout: Some(Duration::from_secs(60)), idle_timeout: None, capture_bytes: 256 << 20,
        max_running: 1024, follow }
}
fn main() {
    let args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|a| a == KEEPER_ARGUMENT) { std::process::exit(keeper_main(&args[2..])); }
    let text = args.get(1).map_or("true", |a| a.to_str().unwrap());
    let n: usize = args.get(2).map_or(1, |a| a.to_str().unwrap().parse().unwrap());
    let state = StateFolder::open(std::path::Path::new("/tmp/sgstate")).unwrap();
    let starter = if std::env::var("FORK").is_ok() { Starter::Fork } else { Starter::Exec(std::env::current_exe().unwrap()) };
    let session = Session::new(state, "x".into(), starter, 1 << 30);
    let t = Instant::now();
    let _hold = session.hold().unwrap();
    println!("hold {:?}", t.elapsed());
    if n == 1 {
        let mut e = session.start(spec(text, Follow::Closely), None).unwrap();
        loop { match e.next().unwrap() { Event::Ended(o) => { println!("{:?} {o:?}", t.elapsed()); break }
            Event::Output{stream, offset, bytes} => println!("{:?} {stream:?} {offset} {} {:?}", t.elapsed(), bytes.len(), String::from_utf8_lossy(&bytes[..bytes.len().min(60)])), ev => println!("{:?} {ev:?}", t.elapsed()) } }
        return;
    }
    let mut times = vec![]; let mut floor = vec![];
    for _ in 0..n {
        let t = Instant::now();
        let mut e = session.start(spec(text, Follow::Quietly), None).unwrap();
        let o = e.wait().unwrap(); drop(e);
        times.push(t.elapsed()); assert_eq!(o.state, State::Completed);
        let t = Instant::now();
        let out = std::process::Command::new("/bin/bash").arg("-c").arg(text).stdin(std::process::Stdio::null()).output().unwrap();
        floor.push(t.elapsed()); assert!(out.status.success());
    }
    times.sort(); floor.sort();
    println!("ours {:?} floor {:?} ratio {:.3}", times[n/2], floor[n/2], times[n/2].as_secs_f64()/floor[n/2].as_secs_f64());
}

//! The soak: mixed load of 20 callers while processes are killed, suspended and given failing system calls.
//!
//! `cargo run --release -p shellgate-benches -- soak --minutes 60 [--seed N] [--out DIR]`, after
//! `cargo build --release -p shellgate-cli`. It needs `strace` and the right to trace processes.
//!
//! Callers ([`callers`]) check every answer: it is right, or it tells an error. [`chaos`] disturbs only processes of the
//! soak's own copy of the binary. [`sampler`] measures every ten seconds; [`plot`] draws what it measured. [`ending`] checks
//! what must hold afterwards, and [`trend`] compares the beginning with the end. The exit code is 1 if anything was wrong.

#![expect(clippy::indexing_slicing, reason = "JSON is read by names; what isn't there is `null`")]

mod callers;
mod calls;
mod chaos;
mod dice;
mod disturbances;
mod ending;
mod faults;
mod http;
mod judging;
mod marks;
mod options;
mod place;
mod plot;
mod processes;
mod record;
mod sampler;
mod statistics;
mod stdio;
mod tally;
mod trend;
mod watchdog;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dice::Dice;
use options::Options;
use place::Place;

/// Callers at the same time.
const CALLERS: usize = 20;
/// Threads that disturb processes.
const CHAOS_THREADS: usize = 2;
/// The shortest run in which growth counts as wrong.
const TREND_MINUTES: f64 = 20.0;
/// How long the callers may take to end after the load is over. Each of their processes is killed after less.
const CALLERS_TIMEOUT: Duration = Duration::from_secs(150);

/// What all threads share.
struct Soak {
    place: Place,
    tally: tally::Tally,
    marks: marks::Marks,
    record: record::Record,
    disturbances: disturbances::Disturbances,
    watchdog: watchdog::Watchdog,
    sites: http::Sites,
    began: Instant,
    /// Set when nothing is to be disturbed any more.
    is_calm: AtomicBool,
    /// Set when no new call is to be made.
    is_over: AtomicBool,
    /// Set when no thread is to work any more.
    is_done: AtomicBool,
}

/// Runs the soak. The exit code is 1 if anything was wrong, 2 if it can't run.
pub(crate) fn run(binary: &std::path::Path, words: impl Iterator<Item = String>) -> ExitCode {
    match Options::read(words).and_then(|options| soak(binary, &options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            println!("soak: {why}");
            ExitCode::from(2)
        }
    }
}

/// Runs the load, then the checks. Returns whether all is well.
fn soak(binary: &std::path::Path, options: &Options) -> Result<bool, String> {
    faults::find_strace()?;
    std::fs::create_dir_all(&options.out).map_err(|error| format!("{}: {error}", options.out.display()))?;
    let place = Place::new(binary)?;
    println!("seed {}, {} minutes, state in {}", options.seed, options.minutes, place.folder().display());
    let soak = Soak {
        sites: http::Sites::start(&place)?,
        place,
        tally: tally::Tally::default(),
        marks: marks::Marks::default(),
        record: record::Record::default(),
        disturbances: disturbances::Disturbances::new(),
        watchdog: watchdog::Watchdog::default(),
        began: Instant::now(),
        is_calm: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        is_done: AtomicBool::new(false),
    };
    let samples = load(&soak, options);
    ending::check(&soak);
    sampler::write(&options.out.join("soak.csv"), &samples)?;
    plot::draw(&options.out.join("soak.svg"), &samples)?;
    println!("\n{}", soak.tally);
    let (table, grows) = trend::compare(&samples, options.warm_up());
    println!("{table}");
    // A short run shows only how memory and files come to their usual size.
    for quantity in grows.iter().filter(|_| options.minutes >= TREND_MINUTES) {
        soak.tally.wrong("trend", format!("{quantity} grows"));
    }
    let wrong = soak.tally.wrongs();
    println!("wrong: {}", wrong.len());
    for (nth, line) in wrong.iter().enumerate() {
        println!("{:>4}. {line}", nth + 1);
    }
    if wrong.is_empty() {
        soak.place.remove();
    } else {
        println!("kept: {}", soak.place.folder().display());
    }
    Ok(wrong.is_empty())
}

/// Runs callers, chaos and the sampler for the given time. Returns when the callers have ended.
fn load(soak: &Soak, options: &Options) -> Vec<sampler::Sample> {
    std::thread::scope(|scope| {
        scope.spawn(|| soak.watchdog.watch(&soak.is_done));
        scope.spawn(|| soak.sites.supervise(soak));
        let record = scope.spawn(|| soak.record.follow(soak));
        let sampler = scope.spawn(|| sampler::sample(soak));
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| scope.spawn(move || callers::call_on(soak, number, options.dice(number))))
            .collect();
        let chaos: Vec<_> = (0..CHAOS_THREADS)
            .map(|number| scope.spawn(move || chaos::disturb_on(soak, options.dice(100 + number))))
            .collect();
        while soak.began.elapsed() < options.duration() {
            std::thread::sleep(Duration::from_millis(200));
        }
        // The last samples and calls are undisturbed.
        soak.is_calm.store(true, Ordering::Relaxed);
        chaos.into_iter().for_each(|thread| drop(thread.join()));
        std::thread::sleep(Duration::from_secs(2));
        soak.is_over.store(true, Ordering::Relaxed);
        let until = Instant::now() + CALLERS_TIMEOUT;
        for (number, caller) in callers.into_iter().enumerate() {
            while !caller.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
            match caller.is_finished() {
                true if caller.join().is_err() => {
                    soak.tally.wrong("harness", format!("caller {number} panicked"))
                }
                true => (),
                // Its process was killed long ago, so another process holds its output. The scope would wait for ever.
                false => {
                    println!("wrong: hang: caller {number} has no answer");
                    std::process::exit(1);
                }
            }
        }
        drop(record.join());
        soak.is_done.store(true, Ordering::Relaxed);
        sampler.join().unwrap_or_default()
    })
}

impl Soak {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }

    fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }
}

/// Locks, also when another thread panicked meanwhile.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

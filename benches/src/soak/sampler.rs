//! Measures the soak's processes, files and latencies, every ten seconds.

use std::path::Path;
use std::time::{Duration, Instant};

use super::Soak;
use super::processes;
use super::statistics::{median, percentile};

/// Time between two samples.
const INTERVAL: Duration = Duration::from_secs(10);
/// Looks at the processes in this time. A sample has their median.
const LOOKS: u32 = 5;

/// What was measured in one interval. Latencies are in milliseconds; 0 without a call.
#[derive(Clone, Default)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    pub(super) right: f64,
    pub(super) honest: f64,
    pub(super) wrong: f64,
    pub(super) memory_kb: f64,
    pub(super) largest_kb: f64,
    pub(super) steady_kb: f64,
    pub(super) descriptors: f64,
    pub(super) most_descriptors: f64,
    pub(super) steady_descriptors: f64,
    pub(super) processes: f64,
    pub(super) lasting: f64,
    pub(super) files: f64,
    pub(super) file_bytes: f64,
    pub(super) journal_bytes: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) max_calm_ms: f64,
    pub(super) max_ms: f64,
    pub(super) floor_ms: f64,
    pub(super) cpu_percent: f64,
}

/// Columns of the table, in order.
type Column = (&'static str, fn(&Sample) -> f64);
const COLUMNS: &[Column] = &[
    ("seconds", |sample| sample.seconds),
    ("calls_right", |sample| sample.right),
    ("calls_honest_error", |sample| sample.honest),
    ("calls_wrong", |sample| sample.wrong),
    ("memory_kb", |sample| sample.memory_kb),
    ("memory_largest_kb", |sample| sample.largest_kb),
    ("memory_steady_kb", |sample| sample.steady_kb),
    ("descriptors", |sample| sample.descriptors),
    ("descriptors_most", |sample| sample.most_descriptors),
    ("descriptors_steady", |sample| sample.steady_descriptors),
    ("processes", |sample| sample.processes),
    ("processes_lasting", |sample| sample.lasting),
    ("files", |sample| sample.files),
    ("file_bytes", |sample| sample.file_bytes),
    ("journal_bytes", |sample| sample.journal_bytes),
    ("latency_p50_ms", |sample| sample.p50_ms),
    ("latency_p99_ms", |sample| sample.p99_ms),
    ("latency_max_calm_ms", |sample| sample.max_calm_ms),
    ("latency_max_ms", |sample| sample.max_ms),
    ("floor_p50_ms", |sample| sample.floor_ms),
    ("cpu_percent", |sample| sample.cpu_percent),
];

/// Measures until the load is over.
pub(super) fn sample(soak: &Soak) -> Vec<Sample> {
    let (mut samples, mut cpu) = (Vec::new(), CpuTimes::now());
    let mut next = Instant::now();
    loop {
        let (mut looks, mut floor) = (Vec::new(), Vec::new());
        for _ in 0..LOOKS {
            next += INTERVAL / LOOKS;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            looks.push(look(soak));
            let start = Instant::now();
            crate::floor::spawn("true");
            floor.push(millis(start.elapsed()));
        }
        // In the last interval the callers ended.
        if soak.is_over() {
            return samples;
        }
        let now = CpuTimes::now();
        let mut sample = measure(soak, &looks);
        sample.floor_ms = median(&floor).unwrap_or_default();
        sample.cpu_percent = now.percent_since(&cpu);
        cpu = now;
        println!(
            "{:>5.0} s: {:>3} calls, {:>2} honest errors, {} wrong; {:.1} MB in {} processes, p50 {:.0} ms, \
             p99 {:.0} ms, bare bash {:.1} ms, CPU {:.0} %",
            sample.seconds,
            sample.right + sample.honest + sample.wrong,
            sample.honest,
            sample.wrong,
            sample.memory_kb / 1024.0,
            sample.lasting,
            sample.p50_ms,
            sample.p99_ms,
            sample.floor_ms,
            sample.cpu_percent
        );
        samples.push(sample);
    }
}

/// One look at the processes.
fn look(soak: &Soak) -> Sample {
    let all = processes::all(&soak.place);
    let mut sample = Sample { processes: all.len() as f64, ..Sample::default() };
    for process in all.iter().filter(|process| process.is_lasting()) {
        let memory = processes::memory_kb(process.pid) as f64;
        let descriptors = processes::descriptors(process.pid) as f64;
        sample.lasting += 1.0;
        sample.memory_kb += memory;
        sample.largest_kb = sample.largest_kb.max(memory);
        sample.descriptors += descriptors;
        sample.most_descriptors = sample.most_descriptors.max(descriptors);
        if process.is_steady {
            sample.steady_kb += memory;
            sample.steady_descriptors += descriptors;
        }
    }
    sample
}

/// The medians of the looks, and all that is measured once.
fn measure(soak: &Soak, looks: &[Sample]) -> Sample {
    let middle =
        |get: fn(&Sample) -> f64| median(&looks.iter().map(get).collect::<Vec<_>>()).unwrap_or_default();
    let window = soak.tally.take_window();
    let calm: Vec<f64> = window.calm.iter().copied().map(millis).collect();
    let disturbed: Vec<f64> = window.disturbed.iter().copied().map(millis).collect();
    let max_calm_ms = percentile(&calm, 100).unwrap_or_default();
    let (files, bytes, journal_bytes) = files(&soak.place.state());
    Sample {
        seconds: soak.began.elapsed().as_secs_f64(),
        right: window.counts.right as f64,
        honest: window.counts.honest as f64,
        wrong: window.counts.wrong as f64,
        memory_kb: middle(|look| look.memory_kb),
        largest_kb: middle(|look| look.largest_kb),
        steady_kb: middle(|look| look.steady_kb),
        descriptors: middle(|look| look.descriptors),
        most_descriptors: middle(|look| look.most_descriptors),
        steady_descriptors: middle(|look| look.steady_descriptors),
        processes: middle(|look| look.processes),
        lasting: middle(|look| look.lasting),
        files: files as f64,
        file_bytes: bytes as f64,
        journal_bytes: journal_bytes as f64,
        p50_ms: median(&calm).unwrap_or_default(),
        p99_ms: percentile(&calm, 99).unwrap_or_default(),
        max_calm_ms,
        max_ms: percentile(&disturbed, 100).unwrap_or_default().max(max_calm_ms),
        ..Sample::default()
    }
}

/// Files below a folder and their bytes; the bytes of the journal apart.
fn files(folder: &Path) -> (u64, u64, u64) {
    let (mut files, mut bytes, mut journal) = (0, 0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
                continue;
            }
            files += 1;
            let is_journal = entry.file_name().to_string_lossy().starts_with("journal.db");
            *if is_journal { &mut journal } else { &mut bytes } += metadata.len();
        }
    }
    (files, bytes, journal)
}

/// Writes the table.
pub(super) fn write(file: &Path, samples: &[Sample]) -> Result<(), String> {
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let mut text = line(COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect());
    for sample in samples {
        text += &line(COLUMNS.iter().map(|(_, get)| format!("{:.1}", get(sample))).collect());
    }
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Processor time of the whole machine.
struct CpuTimes {
    busy: f64,
    all: f64,
}

impl CpuTimes {
    fn now() -> Self {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let times: Vec<f64> =
            line.split_whitespace().skip(1).take(8).filter_map(|time| time.parse().ok()).collect();
        let idle: f64 = times.iter().skip(3).take(2).sum();
        let all: f64 = times.iter().sum();
        Self { busy: all - idle, all }
    }

    fn percent_since(&self, before: &Self) -> f64 {
        (self.busy - before.busy) * 100.0 / (self.all - before.all).max(1.0)
    }
}

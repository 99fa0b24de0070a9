//! Looks for texts that cost the judge more than they may: time and memory of a whole judgement, for texts of up to 100 kB.
//!
//! `cargo run --release --manifest-path fuzz/cost/Cargo.toml -- SECONDS [SEED]` needs no nightly compiler. It
//! makes texts of fragments, repeats and nests them, and prints each text that takes more than 0.3 s or 60 MB, with the
//! fragments that it is made of. The exit status is 1 if there was one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use shellgate_policy::{CommandContext, Entry, Machine, Prefix, Redirects, Rules, judge};

/// A text may take no longer.
const MAX_TIME: Duration = Duration::from_millis(300);

/// The unit of times in `/proc`.
const TICK: Duration = Duration::from_millis(10);

/// A text that takes longer is printed before it ends.
const WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// A text may take no more memory.
const MAX_MEMORY_BYTES: usize = 60 << 20;

/// No text is longer.
const MAX_TEXT_BYTES: usize = 100_000;

/// Counts the bytes that are in use, and how many were at most.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator with the same arguments; only numbers are kept beside.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Pieces of texts: what is repeated.
const FRAGMENTS: &[&str] = &[
    "echo a\n",
    "echo {1..250}",
    "$x",
    " $x",
    "\"$x\"",
    "${x:-y}",
    "{a,b}",
    "{1..9}",
    "*",
    " *",
    " a",
    " -a",
    "; ",
    "| cat ",
    "&& ",
    "|| ",
    "& ",
    "\n",
    "a=1 ",
    "a=b; ",
    "a+=x; ",
    "x=$x$x; ",
    "f() { ls; }\n",
    "f; ",
    "cd a; ",
    "cd ..\n",
    "cd a && ",
    "> a ",
    "< a ",
    "2>&1 ",
    ">> out\n",
    "<<< x ",
    "cat <<E\nx\nE\n",
    "cat <<'E'\n$(ls)\nE\n",
    "$(ls)",
    "`ls`",
    "<(ls)",
    "$((1+a))",
    "$((a))",
    "((a++)); ",
    "let a=b; ",
    "a[1]=2; ",
    "${a[b]}",
    "[[ a -eq b ]]; ",
    "[ a = b ]; ",
    "[ $a $b ]; ",
    "case a in b) ls;; esac; ",
    "if a; then b; fi; ",
    "for i in a b; do ls; done; ",
    "while a; do b; done; ",
    "'",
    "\"",
    "\\",
    "\\\n",
    "#",
    "# x\n",
    "git status; ",
    "git -C a status; ",
    "git log ",
    "find . -exec ls {} \\; ",
    "-exec ls {} + ",
    "xargs ",
    "env A=1 ",
    "env -S 'a b' ",
    "timeout 5 ",
    "nice ",
    "sudo ",
    "bash -c 'ls'; ",
    "bash -c \"bash -c 'ls'\"; ",
    "eval 'a=1'; ",
    "eval ",
    "sh <<< ls; ",
    "trap 'ls' EXIT; ",
    "sed s/a/b/ ",
    "-e s/a/b/ ",
    "sed -e 's/a/b/;",
    "awk '{print $1}' ",
    "awk '",
    "{x=1}",
    "if(a)b;",
    "/a/",
    "tar cf a b; ",
    "cp a b; ",
    "mv a b; ",
    "ln -s a b; ",
    "tee a; ",
    "mkdir -p a/b; ",
    "rm x; ",
    "declare -i x; ",
    "export a=b; ",
    "read a; ",
    "unset a; ",
    "printf -v a b; ",
    "alias a=b; ",
    "set -e; ",
    "shopt -s nullglob; ",
    "exec 3<a; ",
    "python3 -c x; ",
    "make a; ",
    "curl -d a b; ",
    "ssh h ls; ",
    "docker run a b; ",
    "jq .a; ",
    "[a",
    "a]",
    "{",
    "}",
    "(",
    ")",
    "((",
    "))",
    "[[",
    "]]",
    "$(",
    "${",
    "}",
    "$((",
    "é",
    "\u{202e}",
    "~",
    "~/a ",
    "~/",
    "/etc/passwd",
    "/etc/xx ",
    "\r",
    "x=\r",
    "------------------------------",
    "\"${a:-$'x'}\" ",
    "< a > /dev/stdin ",
    "5<&6 ",
    "|a)",
    "((ls|a)|a)\n",
    "../",
    "a/",
    "/",
    ".",
    "=",
    "a=",
    "--a=",
    "-",
    "%",
    "@",
    "!",
    "x1=x2; ",
    "@(a|b)",
    "a|b|",
    "<<E\n",
    "coproc a; ",
    "function f { ls; }; ",
    "time ",
    "! ",
    "select i in a; do b; done; ",
    "x?y:",
    "x=",
    "++ ",
    "**2",
    ",x",
    "&&x",
    "<<1",
    "~~",
    "-name x -o ",
    "\\( ",
    "-c a.b=c ",
    "-C a ",
    "git config a.b c; ",
    "git add a; git status; ",
    "a0 ",
    "printf '%s\\n' ls ",
    "/usr/*/*/* ",
    "a=a1; alias a=b; ",
    "xargs -I a ",
    "exec 3>a; ",
    "local a=b; ",
    "${a/b/c}",
    "[[ a =~ (b) ]]; ",
    "&> a ",
    "env -C a ",
    "docker exec a b; ",
    "npm run a; ",
    "kubectl get a; ",
];

/// Texts that once cost too much: a beginning, what is repeated up to the limit, and an end.
const KNOWN: &[(&str, &str, &str)] = &[
    ("find . ", "-name x -o ", "-print"),
    ("find . ", "-exec ls {} \\; ", ""),
    ("find . ", "! ", "-print"),
    ("find . ", "-not ", "-print"),
    ("find . ", "\\( ", "-print"),
    ("find . -name '", "[a", "' -delete"),
    ("git ", "-c a.b=c ", "status"),
    ("git ", "-C sub ", "status"),
    ("", "git add sub;git status;", ""),
    ("", "git config a.b c;", "git status"),
    ("", "env A=1 ", "ls"),
    ("", "xargs ", "ls"),
    ("printf '%s\\n' ", "ls ", "| sh"),
    ("bash -c \"", "docker run a b; ", "\""),
    ("sed ", "-e s/a/b/ ", ""),
    ("cp ", "a ", "d"),
    ("echo {1..250}", "$x", ""),
    ("echo $((", "x?y:", "1))"),
    ("((", "x=", "1))"),
    ("ls ", "x>b ", ""),
    ("for x in a b c d e f g h i j k l m n o p q r; do ", "rm -r $x; ", "done"),
    ("", "bash -c '{ls,a}{ls,a}{ls,a}{ls,a}{ls,a}{ls,a}{ls,a}{ls,a}'\n", ""),
];

/// What is nested, as its beginning and end.
const NESTS: &[(&str, &str)] = &[
    ("$(", ")"),
    ("\"$(", ")\""),
    ("${a:-", "}"),
    ("$((", "))"),
    ("`", "`"),
    ("( ", " )"),
    ("(", "|a)"),
    ("{ ", "|a;}"),
    ("\"${a:-$'", "'}\""),
    ("{ ", "; }"),
    ("if a; then ", "; fi; "),
    ("while a; do ", "; done; "),
    ("f() { ", "; }; "),
    ("case a in a) ", ";; esac; "),
    ("<(", ")"),
    ("{a,", "}"),
    ("a[", "]=1 "),
    ("[[ ( ", " ) ]]"),
    ("bash -c \"", "\""),
    ("eval '", "'"),
    ("bash -c $'", "'"),
    ("cat <<E\n$(", ")\nE\n"),
    ("${a[", "]}"),
    ("env ", ""),
    ("timeout 5 ", ""),
    ("awk '{", "}'"),
    ("sed '{", "}'"),
    ("find . \\( ", " \\)"),
    ("coproc ", ""),
    ("$[", "]"),
    ("((", "))"),
    ("find . ", " -print"),
    ("git ", "status"),
    ("cp ", " d"),
    ("xargs ", "ls"),
    ("printf '%s\\n' ", " | sh"),
    ("f() { ", "; }; f"),
];

/// Numbers that look random and are the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    fn choose<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// A text, and how it was made.
fn generate(random: &mut Random) -> (String, String) {
    let (mut text, mut made) = (String::new(), String::new());
    for _ in 0..=random.below(4) {
        let mut unit = String::new();
        for _ in 0..=random.below(3) {
            unit.push_str(random.choose(FRAGMENTS));
        }
        let (begin, end) = NESTS[random.below(NESTS.len())];
        let count = match random.below(6) {
            0 => 1,
            1 => 1 + random.below(40),
            2 => 1 + random.below(400),
            _ => 1 + random.below(MAX_TEXT_BYTES / unit.len().max(1)),
        };
        match random.below(4) {
            0 => {
                let most = [8, 40, 400, 3000][random.below(4)];
                let depth = 1 + random.below(most);
                text.push_str(&begin.repeat(depth));
                text.push_str(&unit);
                text.push_str(&end.repeat(depth));
                made.push_str(&format!("nest {depth} x {begin:?} around {unit:?}; "));
            }
            1 => {
                text.push_str(begin);
                text.push_str(&unit.repeat(count));
                text.push_str(end);
                made.push_str(&format!("{begin:?} {count} x {unit:?} {end:?}; "));
            }
            2 => {
                for number in 0..count.min(20_000) {
                    text.push_str(&unit.replace('a', &format!("a{number}")));
                }
                made.push_str(&format!("{count} x numbered {unit:?}; "));
            }
            _ => {
                text.push_str(&unit.repeat(count));
                made.push_str(&format!("{count} x {unit:?}; "));
            }
        }
    }
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    (text, made)
}

fn entries(names: &[&str]) -> Vec<Entry> {
    let prefix = |name: &str| match name {
        "*" => Prefix::Everything,
        name => Prefix::Words(name.split(' ').map(str::to_owned).collect()),
    };
    names.iter().map(|name| Entry { prefix: prefix(name), shown: (*name).to_owned() }).collect()
}

/// The processor's time that this process has had, in whole ticks.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum::<u32>();
    TICK * ticks
}

/// The time and the most memory that a judgement takes.
fn measure(text: &str, rules: &Rules, root: &Path) -> (Duration, usize) {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let (start, computed) = (Instant::now(), processor_time());
    let machine = Machine::new(root, root, None, "/usr/bin:/bin".into());
    let verdict = judge(text, &CommandContext::default(), rules, &machine);
    // On a busy machine, waiting for a processor doesn't count.
    let took = start.elapsed().min(processor_time().saturating_sub(computed) + TICK);
    drop(verdict);
    (took, PEAK.load(Ordering::Relaxed).saturating_sub(before))
}

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    if let Some(file) = arguments.next().filter(|first| first.parse::<u64>().is_err()) {
        return measure_file(&file);
    }
    let mut arguments = std::env::args().skip(1);
    let mut number = |other: u64| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(other);
    let (seconds, seed) = (number(60), number(1));
    let root = std::env::temp_dir();
    let all_rules = all_rules();
    let mut random = Random(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let current = Arc::new(Mutex::new((Instant::now(), String::new())));
    watch(Arc::clone(&current));
    let (mut texts, mut found, mut slowest, mut largest) = (0_u64, 0_u64, Duration::ZERO, 0);
    let mut known = KNOWN.iter().map(|(begin, unit, end)| {
        let count = (MAX_TEXT_BYTES - begin.len() - end.len()) / unit.len();
        (format!("{begin}{}{end}", unit.repeat(count)), format!("{begin:?} {count} x {unit:?} {end:?}"))
    });
    while Instant::now() < end {
        let (text, made) = known.next().unwrap_or_else(|| generate(&mut random));
        let rules = &all_rules[random.below(all_rules.len())];
        if let Ok(mut current) = current.lock() {
            *current = (Instant::now(), made.clone());
        }
        let (took, memory) = measure(&text, rules, &root);
        texts += 1;
        slowest = slowest.max(took);
        largest = largest.max(memory);
        if took > MAX_TIME || memory > MAX_MEMORY_BYTES {
            found += 1;
            println!("{took:?} {} MB for {} bytes: {made}", memory >> 20, text.len());
        }
    }
    println!(
        "seed {seed}: {texts} texts, {found} too expensive; at most {slowest:?} and {} MB",
        largest >> 20
    );
    if found == 0 { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}

/// Prints the text that is being judged if that takes very long: it may never end.
fn watch(current: Arc<Mutex<(Instant, String)>>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(WATCH_INTERVAL);
            if let Ok(current) = current.lock()
                && current.0.elapsed() > WATCH_INTERVAL
            {
                println!("still at it after {:?}: {}", current.0.elapsed(), current.1);
            }
        }
    });
}

fn all_rules() -> [Rules; 3] {
    let everything_but = |names: &[&str]| Rules {
        core: Some(entries(&["*"])),
        exclude: entries(names),
        redirects: Redirects::InsideRoot,
        ..Rules::default()
    };
    let some = [
        "git", "ls", "cat", "echo", "bash", "find", "xargs", "sed", "awk", "env", "cd", "tee", "timeout", "a",
    ];
    let some = Rules { core: Some(entries(&some)), redirects: Redirects::InsideRoot, ..Rules::default() };
    [everything_but(&["rm", "git push", "touch"]), everything_but(&[]), some]
}

/// Measures the text in a file.
fn measure_file(file: &str) -> std::process::ExitCode {
    let Ok(text) = std::fs::read_to_string(file) else { return std::process::ExitCode::FAILURE };
    for rules in &all_rules() {
        let (took, memory) = measure(&text, rules, &std::env::temp_dir());
        println!("{took:?} {} MB", memory >> 20);
    }
    std::process::ExitCode::SUCCESS
}

//! Nothing that is read makes the reader panic, hang or overflow its stack.

use std::time::{Duration, Instant};

use shellgate_syntax::{Unreadable, read, read_arithmetic, read_script};

use crate::oracle::generate::Generator;
use crate::oracle::mutate;
use crate::oracle::random::Random;

/// Longer than any of these texts takes, also on a busy machine and without optimization.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Reads a text and fails if that takes too long.
fn read_in_time(text: &str) -> Result<shellgate_syntax::Findings, Unreadable> {
    let start = Instant::now();
    let result = read(text);
    // Most texts are no expressions; only the time counts.
    let _ = read_arithmetic(text);
    let took = start.elapsed();
    assert!(took < READ_TIMEOUT, "{took:?} for {} bytes: {:.200}", text.len(), text);
    result
}

/// Spans lie in the text and on characters' boundaries.
fn check_spans(text: &str, findings: &shellgate_syntax::Findings) {
    let fits = |span: shellgate_syntax::Span| text.get(span.start..span.end).is_some();
    for one in &findings.invocations {
        assert!(fits(one.span), "{text:?}: {one:?}");
        assert!(one.words.iter().all(|word| fits(word.span)), "{text:?}: {one:?}");
        assert!(one.assignments.iter().all(|one| fits(one.span)), "{text:?}: {one:?}");
        assert!(one.redirects.iter().all(|one| fits(one.span)), "{text:?}: {one:?}");
    }
    assert!(findings.doubts.iter().all(|one| fits(one.span)), "{text:?}: {:?}", findings.doubts);
    assert!(findings.hazards.iter().all(|one| fits(one.span)), "{text:?}: {:?}", findings.hazards);
    assert!(findings.arithmetic.iter().all(|one| fits(one.span)), "{text:?}: {:?}", findings.arithmetic);
}

#[test]
fn changed_texts_and_random_bytes_do_no_harm() {
    let seed = std::env::var("SHELLGATE_SEED").ok().and_then(|value| value.parse().ok()).unwrap_or(1);
    let count = std::env::var("SHELLGATE_TEXTS").ok().and_then(|value| value.parse().ok()).unwrap_or(800);
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for _ in 0..count {
        let generated = Generator::text(&mut random);
        let other = Generator::text(&mut random);
        let mut text = generated;
        for _ in 0..=random.below(4) {
            text = mutate::mutate(&mut random, &text, &other);
        }
        if random.chance(10) {
            let bytes: Vec<u8> = (0..random.below(60)).map(|_| (random.next() >> 40) as u8).collect();
            text.push_str(&String::from_utf8_lossy(&bytes));
        }
        if let Ok(findings) = read_in_time(&text) {
            check_spans(&text, &findings);
            assert!(!read_script(&text).unwrap().render(&text).contains('\u{1b}'));
        }
    }
}

/// What can be nested, as its beginning and end.
const NESTS: &[(&str, &str)] = &[
    ("$(c ", ")"),
    ("\"$(c ", ")\""),
    ("${a:-", "}"),
    ("${a:-$(c ", ")}"),
    ("<(c ", ")"),
    ("$((1+", "))"),
    ("$((1+$(c \"", "\")))"),
    ("$[1+", "]"),
    ("a[", "]=1 "),
    ("${a[", "]}"),
    ("\"${a:-\"", "\"}\""),
    ("`", "`"),
    ("{a,", "}"),
];

const BLOCKS: &[(&str, &str)] = &[
    ("( ", " )"),
    ("((", "))"),
    ("(( (", ") ))"),
    ("{ ", "; }"),
    ("if x; then ", "; fi"),
    ("while x; do ", "; done"),
    ("case x in x) ", ";; esac"),
    ("f() { ", "; }"),
    ("coproc ", ""),
    ("coproc x $(coproc ", ")"),
    ("! ", ""),
    ("time ", ""),
    ("[[ ( ", " ) ]]"),
    ("a=( ", " )"),
    ("x <<E $( ", " )\nE\n"),
    ("(( \"$(c <<E\n$((\"$(", ")\"))\nE\n)\" ))"),
    ("[[ x =~ (\"$(", ")\") ]]"),
];

fn nested(depth: usize, (begin, end): (&str, &str)) -> String {
    format!("{}x{}", begin.repeat(depth), end.repeat(depth))
}

#[test]
fn deep_texts_are_read_or_refused() {
    for depth in [5, 30, 60, 390, 20_000] {
        for nest in NESTS {
            let text = format!("c1 {}", nested(depth, *nest));
            if text.len() < 131_071 {
                // Read or refused, both are right.
                let _ = read_in_time(&text);
            }
        }
        for block in BLOCKS {
            let text = nested(depth, *block);
            if text.len() < 131_071 {
                // Read or refused, both are right.
                let _ = read_in_time(&text);
            }
        }
    }
}

/// What one expression repeats: operators behind which its readers call themselves.
const OPERATORS: &[&str] = &[
    "x?y:", "x=", "x+=", "++ ", "-- ", "- ", "! ", "~", "2**", "x?(y):", "x,", "x&&", "x<<", "x[", "$x?",
    "1?x=",
];

#[test]
fn long_expressions_are_read_or_refused() {
    for operator in OPERATORS {
        for (begin, end) in
            [("echo $((", "1))"), ("((", "1))"), ("echo $[", "1]"), ("for ((;", "1;)); do x; done")]
        {
            let text = format!("{begin}{}{end}", operator.repeat(80_000 / operator.len()));
            // Read or refused, both are right.
            let _ = read_in_time(&text);
        }
    }
    assert!(read("echo $((a ? b : c ? d : e)); ((x = y += -z ** 2, !w))").unwrap().doubts.is_empty());
}

#[test]
fn sixty_levels_are_read_with_certainty() {
    for nest in [("$(c2 ", ")"), ("\"$(c2 ", ")\""), ("${a:-", "}")] {
        let findings = read(&format!("c1 {}", nested(60, nest))).unwrap();
        assert!(findings.doubts.is_empty(), "{nest:?}: {:?}", findings.doubts);
    }
    for block in [("( ", " )"), ("{ ", "; }"), ("if x; then ", "; fi")] {
        let findings = read(&nested(60, block)).unwrap();
        assert!(findings.doubts.is_empty(), "{block:?}: {:?}", findings.doubts);
    }
}

#[test]
fn a_text_that_is_too_long_or_too_deep_exceeds_the_budget() {
    let long = format!("c1 {}", "x".repeat(131_071));
    assert!(matches!(read(&long), Err(Unreadable::Budget(_))));
    assert!(read(&format!("c1 {}", "x".repeat(131_068))).is_ok());
    assert!(matches!(read(&nested(10_000, ("( ", " )"))), Err(Unreadable::Budget(_))));
    assert!(matches!(read("c1 \0"), Err(Unreadable::Syntax { .. })));
}

#[test]
fn expansions_and_commands_have_a_budget() {
    let refused = |text: String| matches!(read(&text), Err(Unreadable::Budget(_)));
    assert!(refused(format!("echo {{1..250}}{}", "$x".repeat(45_000))));
    assert!(refused("echo {1..250}\n".repeat(3000)));
    assert!(refused(format!("echo {}", "{a,b}".repeat(8)).repeat(300)));
    assert!(refused("a\n".repeat(50_000)));
    assert!(refused(format!("{}{}{}", "cat <<E\n$(".repeat(300), "x".repeat(90_000), ")\nE\n".repeat(300))));
    // Each command keeps the constructs around it, and each stage the commands of the stage before.
    assert!(refused(format!("{}\n", nested(190, ("{ ", "|a;}"))).repeat(80)));
    assert!(refused(format!("{}\n", nested(190, ("( ", "|a)"))).repeat(80)));
    assert!(read(&format!("{}\n", nested(20, ("{ ", "|a;}"))).repeat(50)).is_ok());
    assert!(read(&"echo {1..250}\n".repeat(20)).is_ok());
    assert!(read(&"mkdir -p {src,tests}/{a,b}\n".repeat(300)).is_ok());
    assert!(read(&"a\n".repeat(19_000)).is_ok());
}

/// One of the other readers takes each `((` for arithmetic first, and reads on to the end of the text. It isn't asked then.
#[test]
fn many_double_parentheses_are_a_doubt() {
    let line = format!("{}ls{}\n", "(".repeat(20), "|a)".repeat(20));
    assert!(!read(&line.repeat(200)).unwrap().doubts.is_empty());
    assert!(read(&"for ((i=0; i<9; i++)); do ((n+=i)); done\n".repeat(1000)).unwrap().doubts.is_empty());
    assert!(read("((ls | a) | b)\n").unwrap().doubts.is_empty());
}

#[test]
fn time_grows_with_length_and_not_faster() {
    let line = "if git status --short | grep -q \"x$y\"; then echo \"done $(date +%s)\" >> log; fi\n";
    let time = |count: usize| {
        let text = line.repeat(count);
        (0..3)
            .map(|_| {
                let start = Instant::now();
                assert!(read(&text).unwrap().doubts.is_empty());
                start.elapsed()
            })
            .min()
            .unwrap()
    };
    let (short, long) = (time(150), time(1500));
    assert!(long < short * 40, "{short:?} for a tenth, {long:?} for all");
}

//! Expansions inside expansions, made at random, between double quotes, in here-documents, expressions and tests: every
//! program that bash starts for one is found, or there is a doubt.
use crate::oracle::bash;
use crate::oracle::matching::{Judged, judge};
use crate::oracle::random::Random;

/// Beginnings of expansions. The variable `u` isn't set, `s` is `x`.
const OPENS: [&str; 24] = [
    "${u:-", "${u-", "${u:=", "${u=", "${s:+", "${s+", "${u:?", "${s#", "${s##", "${s%", "${s/", "${s//",
    "${s/x/", "${s^", "${s,,", "${s:", "${s:0:", "${s~", "${u[", "${1:-", "${@:-", "${*:-", "${u[0]:-",
    "${u[@]-",
];

/// What is inside them.
const PARTS: [&str; 40] = [
    "$'",
    "$'",
    "'",
    "'",
    "\"",
    "$\"",
    "\\",
    "}",
    "}",
    "$(c1)",
    "`c2`",
    "(c3)",
    "$",
    "\\x24",
    "\\044",
    "\\u0024",
    "\\U00000024",
    "\\x{24}",
    "\\140c4\\140",
    "\\x24(c5)",
    "\\x60",
    "c6",
    "<(c7)",
    "<",
    ">(c8)",
    "\\n",
    "x",
    " ",
    "\\'",
    "\\\"",
    "\\\\",
    "\\$",
    "\\}",
    "$u",
    "$'$(c9)'",
    "$'\\x24'",
    "$'\\x24(c1)'",
    "'$(c2)'",
    "$'x'",
    "\\c",
];

/// Where the expansion stands. `@` is its place.
const FRAMES: [&str; 16] = [
    ": \"@\"",
    ": \"a@b\"",
    ": @",
    "x=\"@\"",
    ": <<E\n@\nE\n",
    ": <<-E\n\t@\n\tE\n",
    ": <<< \"@\"",
    ": <<< @",
    ": $((@))",
    ": \"$((@))\"",
    "[[ \"@\" == x ]]",
    "[[ @ -eq 1 ]]",
    "case \"@\" in x) ;; esac",
    "for x in \"@\"; do :; done",
    ": \"$(echo \"@\")\"",
    ": $\"@\"",
];

fn text(random: &mut Random) -> String {
    let mut inside = String::new();
    let mut open = 0;
    for _ in 0..=random.below(2) {
        if !random.chance(8) {
            inside.push_str(random.pick(&OPENS));
            open += 1;
        }
        for _ in 0..random.below(4) {
            inside.push_str(random.pick(&PARTS));
        }
    }
    inside.push_str(&"}".repeat(open));
    random.pick(&FRAMES).replace('@', &inside)
}

#[test]
fn programs_that_expansions_start_are_found() {
    let seed = std::env::var("SHELLGATE_SEED").map_or(5, |text| text.parse().unwrap());
    let count: usize = std::env::var("SHELLGATE_ORACLE_CASES").map_or(1_500, |text| text.parse().unwrap());
    let mut random = Random::new(seed);
    let folder = bash::folder();
    let mut started = 0;
    let mut certain = 0;
    let mut missed = Vec::new();
    let texts: Vec<String> = std::iter::repeat_with(|| text(&mut random)).take(count).collect();
    for some in texts.chunks(40) {
        let numbered: Vec<String> = some.iter().enumerate().map(|(at, text)| numbered(text, at)).collect();
        let script: String =
            numbered.iter().map(|text| format!("(s=x; eval {}) < /dev/null\n", quoted(text))).collect();
        let results: Vec<_> = numbered.iter().map(|text| shellgate_syntax::read(text)).collect();
        certain += results.iter().flatten().filter(|findings| findings.doubts.is_empty()).count();
        for argv in bash::run(&script, folder.path()) {
            let Some(at) = argv[0].split('n').nth(1).and_then(|at| at.parse::<usize>().ok()) else {
                continue;
            };
            started += 1;
            let result = results[at].as_ref();
            // What an expression expands is evaluated, and the judge asks about it.
            let evaluates = |findings: &shellgate_syntax::Findings| {
                findings.arithmetic.iter().any(|expression| expression.expands)
            };
            if judge(result, &argv) == Judged::Missed && !result.is_ok_and(evaluates) {
                missed.push(format!("{:?} started {argv:?}", numbered[at]));
            }
        }
    }
    println!("{count} texts, {certain} read with certainty, {started} programs started");
    assert!(started > count / 10, "too little was run to show anything: {started}");
    assert!(certain > count / 10, "too much is doubted: {certain}");
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

/// Gives the programs of a text names that no other text has: what runs beside the shell may be late.
fn numbered(text: &str, at: usize) -> String {
    (1..=9).fold(text.to_owned(), |text, program| {
        text.replace(&format!("c{program}"), &format!("c{program}n{at}n"))
    })
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Everyday texts of this kind stay certain.
#[test]
fn plain_characters_in_such_quotes_are_no_doubt() {
    for text in [
        "echo \"${a:-$'\\n'}\"",
        "echo \"${a:+$'\\t'}x\"",
        "echo \"${a//$'\\n'/ }\"",
        "echo \"${a%$'\\r'}\"",
        "echo \"${a/$'\\''/x}\"",
        "echo ${a:-$'$(c)'}",
        "echo \"${a:-\"5$\"}\"",
        "echo \"${a:-\"\\$\"(x)}\"",
        "cat <<E\n${a:-$'\\n'}\nE\n",
    ] {
        let findings = shellgate_syntax::read(text).unwrap();
        assert!(findings.doubts.is_empty(), "{text}: {:?}", findings.doubts);
        assert_eq!(findings.invocations.len(), 1, "{text}");
    }
}

/// What would run is found besides the doubt, so a rule that excludes it is named.
#[test]
fn what_such_quotes_run_is_found() {
    for text in [
        "echo \"${a:-$'$(c1)'}\"",
        "echo \"${a:-$'\\x24(c1)'}\"",
        "echo \"${a:=$'\\140c1\\140'}\"",
        "echo \"${HOME:+$'\\u0024(c1)'}\"",
        "echo \"${a~$'\\044(c1)'}\"",
        "cat <<E\n${a:-$'$(c1)'}\nE\n",
        "[[ \"${a:-${b:-$'$(c1)'}}\" ]]",
        "echo \"${a:-\"$\"(c1)}\"",
        "cat <<E\n${a:-$\"(c1)\"}\nE\n",
        "echo \"${a-\"x$\"\"(c1)\"}\"",
    ] {
        let findings = shellgate_syntax::read(text).unwrap();
        assert!(!findings.doubts.is_empty(), "{text}");
        let names: Vec<_> =
            findings.invocations.iter().filter_map(|one| one.words.first()?.value.known()).collect();
        assert!(names.contains(&"c1"), "{text}: {names:?}");
    }
}

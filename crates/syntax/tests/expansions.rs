//! Expansions inside expansions, made at random, between double quotes, in here-documents, expressions and tests: every
//! program that bash starts for one is found, or there is a doubt.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a test may")]

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
        inside.push_str(random.pick(&OPENS));
        open += 1;
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
    for some in texts.chunks(100) {
        // Each text is run in a shell of its own, which tells its number before.
        let script: String = some
            .iter()
            .enumerate()
            .map(|(at, text)| format!("(text{at}; s=x; eval {}) < /dev/null\n", quoted(text)))
            .collect();
        let mut current = "";
        let mut result = None;
        for argv in bash::run(&script, folder.path()) {
            if let Some(at) = argv[0].strip_prefix("text") {
                current = &some[at.parse::<usize>().unwrap()];
                result = Some(shellgate_syntax::read(current));
                certain += usize::from(
                    result.as_ref().unwrap().as_ref().is_ok_and(|findings| findings.doubts.is_empty()),
                );
                continue;
            }
            started += 1;
            if judge(result.as_ref().unwrap().as_ref(), &argv) == Judged::Missed {
                missed.push(format!("{current:?} started {argv:?}"));
            }
        }
    }
    println!("{count} texts, {certain} read with certainty, {started} programs started");
    assert!(started > count / 10, "too little was run to show anything: {started}");
    assert!(certain > count / 10, "too much is doubted: {certain}");
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
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
    ] {
        let findings = shellgate_syntax::read(text).unwrap();
        assert!(!findings.doubts.is_empty(), "{text}");
        let names: Vec<_> =
            findings.invocations.iter().filter_map(|one| one.words.first()?.value.known()).collect();
        assert!(names.contains(&"c1"), "{text}: {names:?}");
    }
}

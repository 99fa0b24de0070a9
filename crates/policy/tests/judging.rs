//! Verdicts that no corpus has: small cases, each for one decision of the judge.

#![expect(clippy::unwrap_used, reason = "a test may")]

use shellgate_policy::{CommandContext, Decision, Entry, Machine, Prefix, Redirects, Rules, Verdict, judge};

struct Case {
    folder: tempfile::TempDir,
    rules: Rules,
    context: CommandContext,
}

fn entries(list: &[&str]) -> Vec<Entry> {
    let entry = |text: &&str| Entry {
        prefix: match *text {
            "*" => Prefix::Everything,
            text => Prefix::Words(text.split(' ').map(str::to_owned).collect()),
        },
        shown: (*text).to_owned(),
    };
    list.iter().map(entry).collect()
}

fn with(core: &[&str], exclude: &[&str]) -> Case {
    let core = (!core.is_empty()).then(|| entries(core));
    let rules = Rules { core, exclude: entries(exclude), ..Rules::default() };
    Case { folder: tempfile::tempdir().unwrap(), rules, context: CommandContext::default() }
}

impl Case {
    fn verdict(&self, text: &str) -> Verdict {
        let root = self.folder.path().canonicalize().unwrap();
        let machine = Machine::new(&root, &root, Some(root.join("home")), std::env::var_os("PATH").unwrap());
        judge(text, &self.context, &self.rules, &machine)
    }

    fn says(&self, decision: Decision, texts: &[&str]) {
        for text in texts {
            let verdict = self.verdict(text);
            assert_eq!(verdict.decision(), decision, "{text}: {:?}", verdict.reasons());
        }
    }
}

#[test]
fn appended_words_may_complete_an_excluded_command() {
    let case = with(&["*"], &["rm -rf", "git push"]);
    case.says(Decision::Ask, &["xargs rm", "xargs git", "find . -exec git {} +", "xargs -n1 git -C ."]);
    case.says(Decision::Allow, &["xargs echo", "xargs git status", "rm x", "git status"]);
    case.says(Decision::Deny, &["xargs rm -f -r", "xargs git push"]);
}

#[test]
fn a_person_is_asked_about_files_that_instruct_agents() {
    let mut case = with(&["*"], &[]);
    case.rules.redirects = Redirects::Allow;
    case.says(
        Decision::Ask,
        &[
            "echo x > AGENTS.md",
            "tee -a docs/claude.md",
            "cp a ./GEMINI.md",
            "cd docs && echo x >> .cursorrules",
        ],
    );
    case.says(Decision::Allow, &["cat AGENTS.md", "cat < AGENTS.md", "echo x > AGENTS.md.orig", "cp a b"]);
}

#[test]
fn a_rule_for_exactly_a_call_allows_no_longer_one() {
    let mut case = with(&[], &[]);
    let words = ["git", "push", "origin"].map(str::to_owned).to_vec();
    case.rules.rules.push(shellgate_policy::Rule {
        entry: Entry { prefix: Prefix::Exactly(words), shown: "exactly".to_owned() },
        decision: Decision::Allow,
        reason: None,
        except: Vec::new(),
    });
    case.says(
        Decision::Allow,
        &["git push origin", "git push 'origin'", "git push origin && git push origin"],
    );
    case.says(
        Decision::Ask,
        &[
            "git push origin main",
            "git push origin --force",
            "git push",
            "git push $X",
            "git push origin $X",
            "echo a | xargs git push origin",
            "git push origin > x",
            "GIT_SSH_COMMAND=x git push origin",
            "git push origin; rm x",
        ],
    );
    case.rules.exclude = entries(&["git push"]);
    case.says(Decision::Deny, &["git push origin"]);
}

#[test]
fn a_rule_widens_what_it_names_exactly() {
    let mut case = with(&[], &[]);
    let rule = |prefix: &str, decision| shellgate_policy::Rule {
        entry: entries(&[prefix]).remove(0),
        decision,
        reason: None,
        except: Vec::new(),
    };
    case.rules.rules =
        vec![rule("git push", Decision::Allow), rule("cat", Decision::Ask), rule("ls", Decision::Deny)];
    let granting = |text: &str| case.verdict(text).granting().to_vec();
    let none: Vec<usize> = Vec::new();
    assert_eq!(granting("git push"), [[0]]);
    assert_eq!(granting("git push origin main && cat x"), [vec![0], vec![1]]);
    assert_eq!(granting("export A=b; cd . ; git push"), [[0]], "what acts on the shell reaches nothing");
    assert_eq!(granting("git push; ./script"), [vec![0], none.clone()]);
    assert_eq!(granting("git push; : > x"), [vec![0], none.clone()], "a redirection reaches something");
    assert_eq!(granting("git push; > x"), [vec![0], none.clone()]);
    assert_eq!(granting("LD_PRELOAD=x git push"), std::slice::from_ref(&none));
    assert_eq!(granting("git -C . push"), std::slice::from_ref(&none), "a grant matches strictly");
    assert_eq!(granting("f() { git push; }; f"), [[0]]);
    assert!(granting("bash -c 'git push'").contains(&none));
    assert!(granting("git() { ./x; }; git push").contains(&none));
    assert_eq!(granting("ls"), [none], "a rule that denies grants nothing");
}

#[test]
fn unknown_words_may_complete_an_excluded_command() {
    let case = with(&["*"], &["git push"]);
    case.says(Decision::Ask, &["git $x", "git \"$x\"", "git p$x", "git $x push"]);
    case.says(Decision::Allow, &["git status $x", "git status \"s$x\"", "git log -- $x"]);
}

#[test]
fn a_function_is_its_body_when_it_is_certainly_defined_before() {
    let case = with(&["echo"], &[]);
    case.says(Decision::Allow, &["f() { echo hi; }; f", "f() { echo hi; }\nf a | f b"]);
    case.says(
        Decision::Ask,
        &["f; f() { echo hi; }", "g() { f; }; g; f() { echo; }", "echo && f() { echo; }; f"],
    );
    case.says(Decision::Deny, &["f() { id; }; f", "f() { echo; }; g", "( f() { echo; } ); id"]);
}

#[test]
fn directories_are_followed() {
    let mut case = with(&["echo", "cd"], &[]);
    case.rules.redirects = Redirects::InsideRoot;
    std::fs::create_dir_all(case.folder.path().join("a/b")).unwrap();
    case.says(Decision::Allow, &["echo > x", "cd a && echo > x", "cd a; cd b; echo > x", "echo > a/../x"]);
    case.says(
        Decision::Ask,
        &[
            "echo > ../x",
            "cd .. && echo > x",
            "cd a; echo > ../../x",
            "cd $x; echo > y",
            "cd a; cd ..; cd ..; echo > y",
        ],
    );
}

#[test]
fn moving_inside_the_root_needs_no_rule() {
    let case = with(&["ls"], &[]);
    std::fs::create_dir_all(case.folder.path().join("a")).unwrap();
    case.says(Decision::Allow, &["cd a && ls", "cd . ; ls"]);
    case.says(Decision::Deny, &["cd / && ls", "cd .. && ls", "cd $x && ls", "cd && ls"]);
}

#[test]
fn input_is_judged_for_the_program_that_reads_it() {
    let mut case = with(&["*"], &["rm"]);
    case.context.stdin = Some("rm x".to_owned());
    case.says(Decision::Deny, &["bash", "sh -s a", "env -i bash", "timeout 3 sh", "bash /dev/stdin"]);
    case.says(Decision::Allow, &["cat", "wc -l", "sort"]);
    case.says(Decision::Ask, &["python3", "perl", "node -"]);
    case.context = CommandContext { unknown_input: true, ..CommandContext::default() };
    case.says(Decision::Ask, &["bash", "python3"]);
    case.context = CommandContext::default();
    case.says(Decision::Allow, &["bash"]);
}

#[test]
fn patterns_are_names_unless_one_looks_like_an_option() {
    let case = with(&["sort", "cp", "touch", "ls"], &[]);
    case.says(
        Decision::Allow,
        &["sort *.txt", "cp *.js dist", "ls && sort *.txt 2>/dev/null", "sort ./*.txt"],
    );
    case.says(Decision::Ask, &["touch -- -ofile; sort *", "sort $x", "sort *$x", "sort src/$x"]);
    std::fs::write(case.folder.path().join("-ofile"), "").unwrap();
    case.says(Decision::Ask, &["sort *", "cp *.js dist"]);
    case.says(Decision::Allow, &["sort ./*", "sort -- *"]);
}

#[test]
fn a_variable_as_program_name_asks_unless_its_value_is_certain() {
    let case = with(&["*"], &["rm"]);
    case.says(Decision::Ask, &["X=ls; read X; $X f", "X=r; ${X}m f", "true && X=ls; $X f"]);
    // It has one value only, which is written in the text.
    case.says(Decision::Deny, &["X=rm; $X f"]);
    case.says(Decision::Allow, &["X=ls; $X f", "D=src; ls $D", "D=src; ls \"$D\""]);
}

#[test]
fn loops_over_known_words_have_no_options() {
    let case = with(&["sort", "git log", "diff", "read", "git diff"], &[]);
    case.says(
        Decision::Allow,
        &[
            "for f in a b; do sort \"$f\"; done",
            "for f in a b; do sort $f; done",
            "for b in main dev; do git log -1 \"$b\"; done",
            "diff <(sort a) <(sort b)",
            "while read -r f; do sort -- \"$f\"; done < <(git diff --name-only)",
        ],
    );
    case.says(
        Decision::Ask,
        &[
            "for f in a -ox; do sort \"$f\"; done",
            "for f in a 'b -ox'; do sort $f; done",
            "for f in a ''; do sort $f-ox; done",
            "for f in $x; do sort \"$f\"; done",
            "for f in a b; do read f; sort \"$f\"; done",
        ],
    );
}

#[test]
fn lists_that_stand_as_such_are_plain() {
    let case = with(&["echo", "declare"], &[]);
    case.says(
        Decision::Allow,
        &[
            "declare -a x=(a b); echo ${x[@]}",
            "declare -A m=([a]=1); echo ok",
            "declare -p HOME",
            "f() { local -a x=(1 2); }; f",
        ],
    );
    case.says(Decision::Ask, &["declare -a 'x=($(echo))'", "declare -a \"x=($y)\"", "declare -n x"]);
}

#[test]
fn a_separator_for_read_alone_is_plain() {
    let case = with(&["read", "echo"], &[]);
    case.says(Decision::Allow, &["while IFS=, read -r a b; do echo \"$a\"; done < f", "IFS= read -r x"]);
    case.says(Decision::Ask, &["IFS=, echo x", "IFS=,; read x", "IFS=x; echo $y"]);
}

#[test]
fn variables_from_the_caller_are_assignments() {
    let mut case = with(&["git"], &[]);
    case.context.variables = vec![("CI".to_owned(), "1".to_owned())];
    case.says(Decision::Allow, &["git status"]);
    case.context.variables = vec![("LD_PRELOAD".to_owned(), "./x.so".to_owned())];
    case.says(Decision::Ask, &["git status"]);
}

#[test]
fn expressions_evaluate_the_values_of_variables() {
    let case = with(&["echo", "read", "cat", "printf", "mapfile"], &[]);
    case.says(
        Decision::Allow,
        &["n=3; echo $((n+1))", "for i in 1 2; do echo $((i*2)); done", "echo $((COLUMNS))"],
    );
    case.says(Decision::Deny, &["x='a[$(id)]'; echo $((x))", "x='a[$(id)]'; [[ $x -eq 1 ]]"]);
    case.says(
        Decision::Ask,
        &[
            "read x; echo $((x))",
            "x=$(cat f); echo $((x + 1))",
            "[[ $1 -gt 3 ]]",
            "printf -v x %s y; ((x))",
            "mapfile x < f; echo ${x[y]} $((x))",
            "read $x; echo $((y))",
            "echo $(($(cat f)))",
            "echo $((${x:-$(cat f)}))",
        ],
    );
}

#[test]
fn what_takes_too_much_work_is_refused() {
    let case = with(&["*"], &["rm"]);
    let wide = format!("{}{}; ", "timeout 5 ".repeat(38), "a ".repeat(1000)).repeat(10);
    let values = format!("{}{}", "a=b; ".repeat(3000), "((a++)); ".repeat(3000));
    let inner = "bash -c ':;:;:;:;:;:;:;'; ".repeat(3000);
    let texts = format!("bash -c 'bash -c \"{}\"'; ", "ls;".repeat(8000)).repeat(4);
    let nested = format!("bash -c '{}ls{}'\n", "x=\"$(".repeat(60), ")\";".repeat(60)).repeat(180);
    case.says(Decision::Deny, &[&wide, &values, &inner, &texts, &nested]);
    case.says(Decision::Allow, &[&"ls a; ".repeat(3000), &"i=0; ((i++)); ".repeat(100)]);
}

/// Each nested thousands of times once, and overflowed the stack of the thread that judged it.
#[test]
fn long_expressions_of_find_need_no_deep_stack() {
    let case = with(&["*"], &["touch"]);
    for text in [
        format!("find . {}-print", "! ".repeat(45_000)),
        format!("find . {}-print", "-not ".repeat(19_000)),
        format!("find . {}-print", "\\( ".repeat(33_000)),
        format!("find . {}-print", "\\) ".repeat(33_000)),
    ] {
        case.verdict(&text);
    }
    // What is inside still counts.
    for (open, close) in [("! ", ""), ("\\( ", "\\) "), ("! ! \\( ", "\\) ")] {
        for depth in [2, 100] {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            case.says(Decision::Ask, &[&format!("find / {open}-name '*' {close}-delete")]);
            case.says(Decision::Ask, &[&format!("find / {open}-name '*' -exec rm {{}} + {close}")]);
            case.says(Decision::Deny, &[&format!("find . {open}-exec touch P ';' {close}")]);
            case.says(Decision::Allow, &[&format!("find . {open}-name x {close}-print")]);
        }
    }
}

/// Each took from seconds to minutes once.
#[test]
fn long_names_many_definitions_and_long_values_are_judged() {
    let case = with(&["*"], &["rm"]);
    for text in [
        "--a=".repeat(11_000) + "x; ls",
        "[ a ] && f() { ls; }; ".repeat(3500) + &"f; ".repeat(500),
        "f() { ls; }; ".repeat(4000) + &"f\n".repeat(500),
        format!("cd {}; {}", "a/".repeat(25_000), "ls b; ".repeat(7500)),
        format!("x={}; {}", "a".repeat(45_000), "$x; ".repeat(7500)),
        format!("ls {}", "a ".repeat(45_000)),
        format!("awk '{{{}}}'", "=".repeat(70_000)),
        format!("frobnicate {}", "a=".repeat(45_000)),
        format!("cat {}", "~/".repeat(49_000)),
        format!("cat < {}", "~/".repeat(49_000)),
        format!("cat {}", "/etc/passwd".repeat(9000)),
        format!("sed '{}'", "/etc/xx ".repeat(12_000)),
        format!("x={}", "\r".repeat(98_000)),
        format!("x={}ls\n", "-".repeat(60)).repeat(1500),
        format!("find . -name '{}' -delete", "[a".repeat(45_000)),
        format!("find . -name '{}' -delete", "?".repeat(90_000)),
    ] {
        assert_ne!(case.verdict(&text).decision(), Decision::Deny, "{}", text.get(..60).unwrap());
    }
}

//! The output of `check` for people.

use std::process::Command;

use super::{assert_texts, check, shown, text};
use crate::support::terminal::Terminal;
use crate::support::{Place, for_each_user};

fn assert_shown(name: &str, cases: &[&[&str]]) {
    for_each_user(|place| {
        let texts: Vec<String> = cases.iter().map(|words| shown(place, words)).collect();
        assert_texts(name, &texts);
    });
}

#[test]
fn parts_are_marked_and_explained() {
    assert_shown(
        "parts",
        &[
            &["--core", "git", "git status"],
            &["git status && rm -rf build"],
            &[
                "--core",
                "git",
                "--core",
                "cargo test",
                "--exclude",
                "git push",
                "git -C . push | sort; cargo build",
            ],
            &["--core", "*", "--exclude", "rm", "find . -name '*.o' -exec rm {} + ; echo $(rm x) | xargs rm"],
            &["--default", "allow", "--exclude", "rm", "bash -c 'cd x; rm y; eval \"rm z\"' && echo `rm a`"],
            &["--core", "ls", "--core", "cat", "ls $(cat \"$(ls $(cat x))\") <(cat y)"],
            &["--core", "*", "make > log 2>&1; A=1 LD_PRELOAD=./x.so ls </etc/passwd"],
            &["--core", "*", "--exclude", "rm", "$cmd x; ./script; python3 tool.py"],
            &["# nothing to do"],
            &["f() { git push; }; f; true"],
            &["--core", "git", "--", "git", "commit", "-m", "it's done; rm x"],
        ],
    );
}

#[test]
fn lines_wide_characters_and_documents_keep_their_columns() {
    assert_shown(
        "lines",
        &[
            &["ls\nls -l |\n  wc -l\n"],
            &["if git diff --quiet; then\n\techo same\nelse\n\tgit commit -m \"$(date)\"\nfi"],
            &["echo \"日本語 $(rm 日本)\" && ls 🦀 | wc"],
            &["cat <<E && ls\n$(id) 日本\n\ttext `date`\nE\nwc <<'E'\n$(id)\nE\necho end"],
            &["echo 'a\nb' c; ls"],
            &["a;b;c;d;e;f;g;h;i;j;k;l"],
        ],
    );
}

#[test]
fn invisible_characters_are_written_out() {
    let hidden = "echo \u{1b}[2J\u{8} \u{200b}x\u{202e} \r; ls \u{7f}\u{9b}31m \u{e0041}";
    assert_shown(
        "hidden",
        &[&[hidden], &["--core", "echo", "echo e\u{301} \u{feff}"], &["ls\u{a0}-l"], &["gіt status"]],
    );
    let place = Place::new(None);
    for words in [&[hidden][..], &["--explain", hidden], &["--exclude", hidden, hidden]] {
        let output = check(&place, words);
        let said = text(&output.stdout);
        let harmless =
            said.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}' && c != '\u{200b}');
        assert!(harmless, "{said:?}");
    }
}

#[test]
fn parse_errors_are_explained() {
    assert_shown(
        "unread",
        &[
            &["if true; then ls"],
            &["echo 'abc"],
            &["ls )"],
            &["bash -c 'if'"],
            &["--dialect", "asimi", "echo $(date) `id`"],
            &["--dialect", "agent-world", "--", "cat", "../x"],
            &["--dialect", "agent-world", "--", "bash", "-lc", "ls"],
            &["--dialect", "agent-world", "ls -la"],
            &["--dialect", "agent-world", "--", "ls", "-la"],
            &["--dialect", "qwen", "ls"],
        ],
    );
}

#[test]
fn explain_shows_the_tree() {
    assert_shown(
        "explain",
        &[
            &["--explain", "a && b | c &"],
            &["--explain", "for x in 1 2; do echo \"$x $(id)\" >out; done"],
            &["--explain", "f() { ls; }; [[ -f x ]] || A=1 f <<<text"],
            &["--explain", "cat <<E\n$(id)\nE"],
            &["--explain", "--", "ls", "-la"],
            &["--explain", "if"],
        ],
    );
}

#[test]
fn rules_say_where_they_are_written() {
    for_each_user(|place| {
        let file = place.write(
            "settings.toml",
            "[policy]\ncore = [\n  \"git\",\n  \"ls\",\n]\nexclude = [\"git push\"]\n\n[[policy.rule]]\nprefix = [\"git\", \"commit\"]\ndecision = \"ask\"\nreason = \"a person reads it first\"\n",
        );
        place.write(".shellgate.toml", "[policy]\nexclude = [\"ls\"]\n");
        let config = file.to_str().unwrap();
        let texts = [
            shown(place, &["--config", config, "git status; git commit -m x; git push; ls"]),
            shown(place, &["--config", config, "git commit -m x"]),
        ];
        assert_texts("places", &texts);
    });
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let place = Place::new(None);
    let coloured = |command: &mut Command| command.output().unwrap().stdout.contains(&0x1b);
    assert!(!coloured(&mut place.strictly(["check", "ls"])));
    assert!(!coloured(&mut place.strictly(["check", "--color", "auto", "ls"])));
    assert!(!coloured(&mut place.strictly(["check", "--color", "never", "ls"])));
    assert!(coloured(&mut place.strictly(["check", "--color", "always", "ls"])));
    assert!(!coloured(&mut place.strictly(["check", "--color", "always", "--json", "ls"])));
    let on_terminal = |words: &[&str], no_color: bool| {
        let mut command = place.strictly(["check"]);
        command.args(words);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        Terminal::start(&command).end().0.contains('\x1b')
    };
    assert!(on_terminal(&["ls"], false));
    assert!(!on_terminal(&["ls"], true));
    assert!(!on_terminal(&["--color", "never", "ls"], false));
}

#[test]
fn a_page_fits_its_terminal() {
    let place = Place::new(None);
    let command = "git log --format='%H %an <%ae> %s' --since=2024-01-01 && 日本語日本語日本語 | \
                   grep -v 'something that is quite long' || bash -c 'echo one; echo two; rm -rf out'";
    let words = ["check", "--color", "never", "--exclude", "rm", "--exclude", "git log", command];
    let (shown, code) = Terminal::start(&place.strictly(words)).end();
    assert_eq!(code, Some(20));
    for line in shown.lines() {
        assert!(shellgate::text::layout::columns(line) <= 80, "{line}");
    }
    assert_texts("terminal", &[shown]);
}

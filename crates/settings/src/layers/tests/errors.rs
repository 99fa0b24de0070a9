//! The text of every error that a file's content can make.

use super::{Folder, errors};

#[test]
fn syntax() {
    let texts = [
        "[limits\n",
        "a = \n",
        "[limits]\ntimeout_ms = 1\ntimeout_ms = 2\n",
        "[policy]\ncore = [\"a\", \"b\n",
        "[limits]\ntimeout_ms = 99999999999999999999\n",
        "{\"tools\": {}}\n",
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    | [limits
    user.toml:1:8: this is not TOML: unclosed table, expected `]`

    | a =
    user.toml:1:5: this is not TOML: string values must be quoted, expected literal string

    | [limits]
    | timeout_ms = 1
    | timeout_ms = 2
    user.toml:3:1: this is not TOML: duplicate key

    | [policy]
    | core = ["a", "b
    user.toml:2:16: this is not TOML: unclosed array, expected `]`

    | [limits]
    | timeout_ms = 99999999999999999999
    user.toml:2:14: this is not TOML: integer number overflowed

    | {"tools": {}}
    user.toml:1:1: this is not TOML: invalid key-value pair, expected key
      another agent's file must end in `.json`
    "#);
}

#[test]
fn unknown_names() {
    let texts = [
        "[limit]\n",
        "[nonsense]\n",
        "timeout_ms = 5\n",
        "nonsense = 5\n",
        "[limits]\n  timeout = 5\n",
        "[limits]\nmode = \"off\"\n",
        "[limits]\nnonsense = 5\n",
        "limits.timeouts_ms = 5\n",
        "[[limit]]\n",
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    | [limit]
    user.toml:1:2: there is no section [limit]
      did you mean `[limits]`?

    | [nonsense]
    user.toml:1:2: there is no section [nonsense]
      the sections are `workspace`, `policy`, `approval`, `sandbox`, `limits`, `output`, `journal`, `environment`, `log`

    | timeout_ms = 5
    user.toml:1:1: there is no setting timeout_ms
      did you mean `limits.timeout_ms`?

    | nonsense = 5
    user.toml:1:1: there is no setting nonsense
      the sections are `workspace`, `policy`, `approval`, `sandbox`, `limits`, `output`, `journal`, `environment`, `log`

    | [limits]
    |   timeout = 5
    user.toml:2:3: there is no setting limits.timeout
      did you mean `limits.timeout_ms`?

    | [limits]
    | mode = "off"
    user.toml:2:1: there is no setting limits.mode
      did you mean `approval.mode` or `sandbox.mode`?

    | [limits]
    | nonsense = 5
    user.toml:2:1: there is no setting limits.nonsense
      [limits] has `timeout_ms`, `idle_timeout_ms`, `max_running`, `answer_chars`, `answer_tokens`, `answer_bytes`, `capture_bytes`, `memory_mb`, `processes`, `cpu_s`, `disk_mb`, `jobs_per_session`

    | limits.timeouts_ms = 5
    user.toml:1:8: there is no setting limits.timeouts_ms
      did you mean `limits.timeout_ms`?

    | [[limit]]
    user.toml:1:3: there is no section [limit]
      did you mean `[limits]`?
    "#);
}

#[test]
fn numbers() {
    let texts = [
        "[limits]\ntimeout_ms = \"10s\"\n",
        "[approval]\ntimeout_s = \"5m\"\n",
        "[limits]\ntimeout_ms = 86400001\n",
        "[limits]\ntimeout_ms = -1\n",
        "[limits]\ntimeout_ms = 1.5\n",
        "[limits]\ntimeout_ms = true\n",
        "[limits]\ntimeout_ms = 2026-01-01\n",
        "[limits]\nmax_running = 0\n",
        "[limits]\ntimeout_ms = [5]\n",
        "[limits.timeout_ms]\n",
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    | [limits]
    | timeout_ms = "10s"
    user.toml:2:14: limits.timeout_ms must be a whole number from 0 to 86400000, found the string "10s"
      write it in milliseconds: 10000

    | [approval]
    | timeout_s = "5m"
    user.toml:2:13: approval.timeout_s must be a whole number from 1 to 86400, found the string "5m"
      write it in seconds: 300

    | [limits]
    | timeout_ms = 86400001
    user.toml:2:14: limits.timeout_ms must be a whole number from 0 to 86400000, found the whole number 86400001

    | [limits]
    | timeout_ms = -1
    user.toml:2:14: limits.timeout_ms must be a whole number from 0 to 86400000, found the whole number -1

    | [limits]
    | timeout_ms = 1.5
    user.toml:2:14: limits.timeout_ms must be a whole number from 0 to 86400000, found the number 1.5

    | [limits]
    | timeout_ms = true
    user.toml:2:14: limits.timeout_ms must be a whole number from 0 to 86400000, found `true`

    | [limits]
    | timeout_ms = 2026-01-01
    user.toml:2:14: limits.timeout_ms must be a whole number from 0 to 86400000, found the date 2026-01-01

    | [limits]
    | max_running = 0
    user.toml:2:15: limits.max_running must be a whole number from 1 to 65536, found the whole number 0

    | [limits]
    | timeout_ms = [5]
    user.toml:2:14: limits.timeout_ms must be a whole number from 0 to 86400000, found a list

    | [limits.timeout_ms]
    user.toml:1:1: limits.timeout_ms must be a whole number from 0 to 86400000, found a table
    "#);
}

#[test]
fn words_and_switches() {
    let texts = [
        "[policy]\ndefault = \"allowed\"\n",
        "[approval]\nmode = \"never\"\n",
        "[sandbox]\nmode = 3\n",
        "[sandbox]\nobserve = \"true\"\n",
        "[journal]\nrequired = 1\n",
        "[approval]\nfrom = [\"terminal\", \"phone\"]\n",
        "[approval]\nfrom = \"terminal\"\n",
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    | [policy]
    | default = "allowed"
    user.toml:2:11: policy.default must be one of `allow`, `ask`, `deny`, found the string "allowed"
      did you mean `allow`?

    | [approval]
    | mode = "never"
    user.toml:2:8: approval.mode must be one of `ask`, `on-need`, `deny`, `allow`, found the string "never"

    | [sandbox]
    | mode = 3
    user.toml:2:8: sandbox.mode must be one of `off`, `read-only`, `workspace`, `strict`, found the whole number 3

    | [sandbox]
    | observe = "true"
    user.toml:2:11: sandbox.observe must be `true` or `false`, found the string "true"
      write it without quotes

    | [journal]
    | required = 1
    user.toml:2:12: journal.required must be `true` or `false`, found the whole number 1

    | [approval]
    | from = ["terminal", "phone"]
    user.toml:2:21: approval.from must be a list with any of `terminal`, `queue`, `page`, `elicitation`, found the string "phone" in it

    | [approval]
    | from = "terminal"
    user.toml:2:8: approval.from must be a list with any of `terminal`, `queue`, `page`, `elicitation`, found the string "terminal"
      write it as a list: ["terminal"]
    "#);
}

#[test]
fn lists_and_tables() {
    let texts = [
        "[policy]\ncore = \"git\"\n",
        "[policy]\ncore = [\"git\", 5]\n",
        "[policy]\nexclude = [\n  \"rm\",\n  \" \",\n]\n",
        "[policy]\nexclude = [\"a\\u0000b\"]\n",
        "[policy]\nexclude = [\"run_shell_command(rm\"]\n",
        "[policy.core]\n",
        "[sandbox]\nwritable = [\"\"]\n",
        "[environment]\nkeep = [\"A=B\"]\n",
        "[environment]\nset = [\"A=B\"]\n",
        "[environment.set]\nA = 5\n",
        "[environment.set]\n\"A=B\" = \"\"\n",
        "limits = 5\n",
        "[[limits]]\n",
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    | [policy]
    | core = "git"
    user.toml:2:8: policy.core must be a list of command prefixes, found the string "git"
      write it as a list: ["git"]

    | [policy]
    | core = ["git", 5]
    user.toml:2:16: policy.core must be a list of command prefixes, found the whole number 5 in it

    | [policy]
    | exclude = [
    |   "rm",
    |   " ",
    | ]
    user.toml:4:3: a command prefix must have at least one word, this one is empty
      name a command like `git status`, or `*` for every command

    | [policy]
    | exclude = ["a\u0000b"]
    user.toml:2:12: a command prefix can't have a NUL byte
      remove the NUL byte

    | [policy]
    | exclude = ["run_shell_command(rm"]
    user.toml:2:12: a tool name followed by `(` must end with `)`
      write it like `run_shell_command(git status)`

    | [policy.core]
    user.toml:1:1: policy.core must be a list of command prefixes, found a table

    | [sandbox]
    | writable = [""]
    user.toml:2:13: sandbox.writable must be a list of paths, found the string "" in it

    | [environment]
    | keep = ["A=B"]
    user.toml:2:9: environment.keep must be a list of variable names, found a string in it

    | [environment]
    | set = ["A=B"]
    user.toml:2:7: environment.set must be a table of variable names and strings, found a list

    | [environment.set]
    | A = 5
    user.toml:2:5: environment.set.A must be a string, found a number

    | [environment.set]
    | "A=B" = ""
    user.toml:2:1: environment.set must be a table of variable names and strings, found the name "A" with a `=`

    | limits = 5
    user.toml:1:10: limits must be a section, found the whole number 5

    | [[limits]]
    user.toml:1:1: limits must be a section, found a list of tables
    "#);
}

#[test]
fn folders() {
    let texts = [
        "[workspace]\nworking_directory = \"work\"\n",
        "[workspace]\nworking_directory = \"~ada/work\"\n",
        "[workspace]\nworking_directory = 5\n",
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    | [workspace]
    | working_directory = "work"
    user.toml:2:21: workspace.working_directory must be an absolute path or one that begins with `~/`, found the string "work"

    | [workspace]
    | working_directory = "~ada/work"
    user.toml:2:21: workspace.working_directory must be an absolute path or one that begins with `~/`, found the string "~ada/work"

    | [workspace]
    | working_directory = 5
    user.toml:2:21: workspace.working_directory must be an absolute path or one that begins with `~/`, found the whole number 5
    "#);
}

#[test]
fn no_home() {
    let mut folder = Folder::new().user("[workspace]\nworking_directory = \"~/work\"\n");
    folder.sources.home = None;
    insta::assert_snapshot!(folder.error(), @"
    user.toml:2:21: workspace.working_directory begins with `~`, but `HOME` is not set
      write an absolute path, or set `HOME`
    ");
}

#[test]
fn flags() {
    let flags = |change: fn(&mut crate::Flags)| {
        let mut flags = crate::Flags::default();
        change(&mut flags);
        Folder::new().flags(flags).error()
    };
    let texts = [
        flags(|flags| flags.core = vec!["git".into(), " ".into()]),
        flags(|flags| flags.exclude = vec!["a\0".into()]),
        flags(|flags| flags.timeout_ms = Some(0)),
        flags(|flags| flags.timeout_ms = Some(86_400_001)),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    `--core`: a command prefix must have at least one word, this one is empty
      name a command like `git status`, or `*` for every command
    `--exclude`: a command prefix can't have a NUL byte
      remove the NUL byte
    `--timeout`: must be from 1 to 86400000 ms, found 0
    `--timeout`: must be from 1 to 86400000 ms, found 86400001
    ");
}

#[test]
fn a_long_string_is_cut() {
    let text = format!("[policy]\ndefault = \"{}\"\n", "é".repeat(1000));
    let error = super::error(&text);
    assert!(error.len() < 300 && error.ends_with("é\"…"), "{error}");
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    let deep = |open: &str| format!("[policy]\ncore = {}", open.repeat(200_000));
    assert!(super::error(&deep("[")).contains("this is not TOML"));
    assert!(super::error(&deep("{a=")).contains("this is not TOML"));
    let mut folder = Folder::new();
    folder.sources.extra.push(folder.write("a.json", "[".repeat(200_000)));
    assert!(folder.error().contains("this is not JSON"));
}

#[test]
fn many_entries_on_one_line_do_not_take_for_ever() {
    let entries = "\"a\",".repeat(200_000);
    let folder = Folder::new().user(&format!("[policy]\nexclude = [{entries}]\n"));
    // If each entry's place were counted from the start of the line, this would run into the time limit of a test.
    assert_eq!(folder.load().unwrap().policy.exclude.len(), 200_000);
}

//! Tests of all rules together, of the secrets in a table, and of the documentation.

use std::{ffi::OsString, time::Instant};

use proptest::prelude::*;

use super::{
    secrets::{self, tables as secret},
    *,
};

fn vars(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// The environment as lines, then the hidden variables with the reason.
fn shown(pairs: &[(&str, &str)], rules: &Rules) -> String {
    let built = build(vars(pairs), rules);
    let arrived = built.vars.iter().map(|(name, value)| format!("{}={}", name.display(), value.display()));
    let hidden = built.hidden.iter().map(|hidden| format!("- {}: {}", hidden.name, hidden.why));
    arrived.chain(hidden).collect::<Vec<_>>().join("\n")
}

fn loud() -> Rules {
    Rules { quiet: false, ..Rules::default() }
}

#[test]
fn every_hidden_variable_has_a_reason() {
    let inherited = [
        ("HOME", "/home/a"),
        ("EDITOR", "vi"),
        ("BASH_ENV", "/tmp/evil"),
        ("BASH_FUNC_ls%%", "() {  rm -rf /; }"),
        ("__BASH_FUNC<ls>()", "() {  :; }"),
        ("ls", "() {  rm -rf /; }"),
        ("LD_PRELOAD", "/tmp/evil.so"),
        ("GH_TOKEN", "abc"),
        ("NOTE", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"),
        ("PAGER", "less"),
        ("", "x"),
        ("A=B", "x"),
        ("NUL", "a\0b"),
    ];
    insta::assert_snapshot!(shown(&inherited, &Rules { remove: vec!["EDITOR".into()], ..Rules::default() }), @"
    GIT_PAGER=cat
    GIT_TERMINAL_PROMPT=0
    HOME=/home/a
    PAGER=cat
    - BASH_ENV: `BASH_ENV` is never inherited
    - BASH_FUNC_ls%%: `BASH_FUNC_*` is never inherited
    - __BASH_FUNC<ls>(): `__BASH_FUNC*` is never inherited
    - ls: exported functions are never inherited
    - LD_PRELOAD: `LD_*` is never inherited
    - GH_TOKEN: named like a secret: `*TOKEN`
    - NOTE: contains a secret: GitHub token
    - : can't be passed to a program
    - A=B: can't be passed to a program
    - NUL: can't be passed to a program
    - EDITOR: removed by `environment.remove`
    ");
}

#[test]
fn core_is_a_short_list() {
    let inherited =
        [("HOME", "/h"), ("LC_ALL", "C"), ("EDITOR", "vi"), ("XDG_API_TOKEN", "x1y2"), ("GOPATH", "/go")];
    let rules = Rules { inherit: crate::Inherit::Core, keep: vec!["GO*".into()], ..loud() };
    insta::assert_snapshot!(shown(&inherited, &rules), @"
    GOPATH=/go
    HOME=/h
    LC_ALL=C
    - EDITOR: not on the core list
    - XDG_API_TOKEN: named like a secret: `*TOKEN`
    ");
}

#[test]
fn keep_lets_secrets_pass_but_not_variables_that_are_never_inherited() {
    let inherited =
        [("GH_TOKEN", "abc"), ("NPM_TOKEN", "abc"), ("LD_PRELOAD", "x"), ("ENV", "x"), ("f", "() { :; }")];
    let rules = Rules { keep: vec!["GH_TOKEN".into(), "LD_*".into(), "ENV".into(), "f".into()], ..loud() };
    insta::assert_snapshot!(shown(&inherited, &rules), @"
    GH_TOKEN=abc
    - NPM_TOKEN: named like a secret: `*TOKEN`
    - LD_PRELOAD: `LD_*` is never inherited
    - ENV: `ENV` is never inherited
    - f: exported functions are never inherited
    ");
    let all = Rules { hide_secrets: false, ..loud() };
    assert_eq!(shown(&[("GH_TOKEN", "abc")], &all), "GH_TOKEN=abc");
}

#[test]
fn set_replaces_inherited_variables_and_remove_comes_last() {
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let rules = Rules {
        set: vec![
            set("BASH_ENV", "/home/a/env"),
            set("GH_TOKEN", "mine"),
            set("PAGER", "bat"),
            set("GONE", "1"),
            set("A=B", "1"),
            set("PATH", "/bin"),
        ],
        remove: vec!["GONE".into(), "*_PROMPT".into()],
        ..Rules::default()
    };
    let inherited =
        [("BASH_ENV", "/tmp/evil"), ("GH_TOKEN", "theirs"), ("PATH", "/usr/bin"), ("PATH", "/second")];
    insta::assert_snapshot!(shown(&inherited, &rules), @"
    BASH_ENV=/home/a/env
    GH_TOKEN=mine
    GIT_PAGER=cat
    PAGER=bat
    PATH=/bin
    - A=B: can't be passed to a program
    - GIT_TERMINAL_PROMPT: removed by `environment.remove`
    - GONE: removed by `environment.remove`
    ");
    let twice = build(vars(&[("PATH", "/first"), ("PATH", "/second")]), &loud());
    assert_eq!(twice.vars, vars(&[("PATH", "/first")]));
}

/// Secrets, and the row that detects each.
const SECRETS: &[(&str, &str, &str)] = &[
    ("GH_TOKEN", "x", "*TOKEN"),
    ("GITHUB_TOKEN_2", "x", "*TOKEN"),
    ("gitlab_token_prod", "x", "*TOKEN"),
    ("npm_config_//registry.npmjs.org/:_authToken", "x", "*TOKEN"),
    ("AWS_SESSION_TOKEN", "x", "*TOKEN"),
    ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "x", "*TOKEN"),
    ("AWS_SECRET_ACCESS_KEY", "/x+y", "*_ACCESS_KEY"),
    ("CLIENT_SECRET", "x", "*SECRET"),
    ("SECRET_KEY_BASE", "x", "*_SECRET_KEY_BASE"),
    ("PGPASSWORD", "x", "*PASSWORD"),
    ("Db_Password", "x", "*PASSWORD"),
    ("POSTGRES_PASSWORD", "hunter2", "*PASSWORD"),
    ("BORG_PASSPHRASE", "x", "*PASSPHRASE"),
    ("SMTP_PASS", "x", "*_PASS"),
    ("MYSQL_PWD", "x", "MYSQL_PWD"),
    ("SSHPASS", "x", "SSHPASS"),
    ("OPENAI_API_KEY", "x", "*_API_KEY"),
    ("openaiApiKey", "x", "*_API_KEY"),
    ("APIKEY", "x", "*APIKEY"),
    ("SUPABASE_SERVICE_ROLE_KEY", "x", "*_ROLE_KEY"),
    ("AZURE_DEVOPS_EXT_PAT", "x", "*_PAT"),
    ("REDISCLI_AUTH", "x", "*_AUTH"),
    ("npm_config__auth", "x", "*_AUTH"),
    ("AZURE_STORAGE_CONNECTION_STRING", "x", "*_CONNECTION_STRING"),
    ("DOCKER_AUTH_CONFIG", "{}", "DOCKER_AUTH_CONFIG"),
    ("X", "ghp_0123456789abcdefghijklmnopqrstuvwxyz", "GitHub token"),
    ("X", "--token=github_pat_11ABCDEFG0123456789_abcdefghijk", "GitHub token"),
    ("X", "glpat-ABCdef0123456789_-xy", "GitLab token"),
    ("X", "sk-ant-api03-abcdefghijklmnopqrst", "Anthropic key"),
    ("X", "sk-proj-abcdefghij0123456789", "OpenAI key"),
    ("X", "xoxb-123456789012-abcdef", "Slack token"),
    ("X", "https://hooks.slack.com/services/T000/B000/XXXX", "Slack webhook"),
    ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", "AWS access key"),
    ("X", "AIzaSyA0123456789abcdefghijklmnopqrstuv", "Google API key"),
    ("X", "npm_0123456789abcdefghijklmnopqrstuvwxyz", "npm token"),
    ("X", "hf_abcdefghijklmnopqrstuvwxyz012345", "Hugging Face token"),
    ("X", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN", "JSON web token"),
    ("X", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "private key"),
    ("X", "{\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n\"}", "private key"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "{\"k\": \"-----BEGIN PRIVATE KEY-----\"}", "private key"),
    ("DATABASE_URL", "postgres://user:pw@db:5432/app", "URL with a password"),
    ("HTTPS_PROXY", "http://me:pw@proxy:3128", "URL with a password"),
    ("GIT_CONFIG_VALUE_0", "AUTHORIZATION: basic eDp5", "authorization header"),
    ("ADO", "Server=db;User=sa;Password=x;", "connection string with a password"),
    ("X", "AccountName=a;AccountKey=abcdefghijklmnopqrstu==", "Azure storage key"),
];

/// Variables that are no secrets, and what could be mistaken in them.
const NO_SECRETS: &[(&str, &str, &str)] = &[
    ("TOKENIZERS_PARALLELISM", "false", "another word"),
    ("MAX_TOKENS", "4096", "a count"),
    ("TOKEN_FILE", "/run/token", "a path: confinement protects the file"),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "/run/token", "a path"),
    ("KEYBOARD", "us", "another word"),
    ("MONKEY", "x", "another word"),
    ("GPG_KEY", "7169605F62C751356D054A26A821E680E5FA6305", "a fingerprint, set in python's images"),
    ("PUBLIC_KEY", "x", "made to be shown"),
    ("PASSWORD_STORE_DIR", "/home/a/.pass", "a path"),
    ("PASSAGE", "x", "another word"),
    ("COMPASS", "x", "another word"),
    ("SSH_ASKPASS", "/usr/bin/askpass", "a program"),
    ("REQUIRE_PASSWORD", "true", "a switch"),
    ("BUILD_PASS", "2", "a number"),
    ("GITHUB_TOKEN", "", "empty"),
    ("SECRET_SANTA_OFF", "rain", "the last word decides"),
    ("AUTHOR", "me", "another word"),
    ("GIT_AUTHOR_NAME", "me", "another word"),
    ("PATH", "/usr/bin:/bin", "another word than PAT"),
    ("PWD", "/home/a", "a folder"),
    ("OLDPWD", "/home/a", "a folder"),
    ("SSH_AUTH_SOCK", "/run/agent", "a handle"),
    ("GPG_AGENT_INFO", "/run/gpg:0:1", "a handle"),
    ("GPG_TTY", "/dev/pts/1", "a handle"),
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus", "a handle"),
    ("XAUTHORITY", "/home/a/.Xauthority", "a handle"),
    ("DISPLAY", ":0", "a handle"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "/home/a/key.json", "a path"),
    ("AWS_ACCESS_KEY_ID", "x", "an identifier, hidden by value when it is one"),
    ("DATABASE_URL", "postgres://localhost/app", "no password"),
    ("DATABASE_URL", "postgres://user@localhost/app", "no password"),
    ("DATABASE_URL", "postgres://user:@localhost/app", "an empty password"),
    ("HTTP_PROXY", "http://proxy:3128/?a=b:c@d", "an at sign further on"),
    ("X", "sk-learn-pipeline-with-long-name", "no digit"),
    ("X", "task-0123456789012345678901234", "not where a word begins"),
    ("X", "npm_config_cache", "too short"),
    ("X", "eyJhbGciOiJIUzI1NiJ9", "one part of three"),
    ("X", "-----BEGIN CERTIFICATE-----\nMII", "made to be shown"),
    ("X", "AKIA", "too short"),
];

#[test]
fn secrets_are_detected_and_other_variables_are_not() {
    for (name, value, row) in SECRETS {
        let found = secrets::detect(name.as_bytes(), value.as_bytes());
        let by = match found {
            Some(HiddenReason::SecretName(by) | HiddenReason::SecretValue(by)) => Some(by),
            _ => None,
        };
        assert_eq!(by, Some(*row), "{name}={value}");
    }
    for (name, value, reason) in NO_SECRETS {
        assert_eq!(secrets::detect(name.as_bytes(), value.as_bytes()), None, "{name}={value}: {reason}");
    }
}

#[test]
fn every_row_works() {
    for row in secret::NAMES {
        let name = row.shown.replace('*', "MY");
        assert!(
            matches!(secrets::detect(name.as_bytes(), b"abc"), Some(HiddenReason::SecretName(_))),
            "{name}"
        );
    }
    for row in secret::VALUES {
        let body = "Bearer 0123456789ABCDEF".repeat(4).replace(['r', ' '], "0");
        let samples = [
            format!("{}{}", row.start, "A0".repeat(35)),
            format!("{}{body}.{body}.{body}", row.start),
            format!("{}PRIVATE KEY-----", row.start),
        ];
        let found = samples.iter().any(|sample| {
            secrets::detect(b"X", sample.as_bytes()) == Some(HiddenReason::SecretValue(row.kind))
        });
        assert!(found, "{}", row.start);
    }
}

#[test]
fn the_documentation_names_every_row() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/environment.md"));
    let mut wanted: Vec<String> = Vec::new();
    let mut code = |word: &str| wanted.push(format!("`{word}`"));
    secret::NAMES.iter().for_each(|row| code(row.shown));
    secret::WHOLE_NAMES.iter().for_each(|name| code(name));
    secret::QUALIFIERS.iter().for_each(|word| code(word));
    secret::SWITCHES.iter().filter(|word| !word.is_empty()).for_each(|word| code(word));
    secret::VALUES.iter().for_each(|row| code(row.start.trim_end()));
    secret::HANDLES.iter().for_each(|(name, _)| code(name));
    tables::NEVER_INHERITED.iter().for_each(|(name, _)| code(name));
    code(tables::FUNCTION_VALUE);
    tables::CORE_VARIABLES.iter().for_each(|name| code(name));
    tables::QUIET_VARIABLES.iter().for_each(|(name, value)| code(&format!("{name}={value}")));
    wanted.extend(secret::VALUES.iter().map(|row| row.kind.to_owned()));
    wanted.extend(secret::HANDLES.iter().chain(tables::NEVER_INHERITED).map(|(_, why)| (*why).to_owned()));
    wanted.push(secret::URL_PASSWORD.to_owned());
    let missing: Vec<_> = wanted.iter().filter(|word| !text.contains(word.as_str())).collect();
    assert!(missing.is_empty(), "docs/environment.md lacks {missing:?}");
}

proptest! {
    #[test]
    fn any_variables(pairs in prop::collection::vec(("[A-Z_=\0a-z]{0,12}", "\\PC{0,60}"), 0..20), quiet: bool) {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let built = build(vars(&pairs), &Rules { quiet, ..Rules::default() });
        prop_assert!(built.vars.is_sorted_by(|one, other| one.0 < other.0));
        for (name, _) in &built.vars {
            prop_assert!(!name.is_empty() && !name.to_string_lossy().contains(['=', '\0']));
        }
    }
}

/// `cargo test --release -p shellgate-settings environment::tests::speed -- --ignored --nocapture`
#[test]
#[ignore = "measures, doesn't assert"]
fn speed() {
    let mut inherited: Vec<(OsString, OsString)> = SECRETS
        .iter()
        .chain(NO_SECRETS)
        .enumerate()
        .map(|(n, (name, value, _))| (format!("V{n}_{name}").into(), value.into()))
        .collect();
    inherited.push(("LS_COLORS".into(), "*.tar=01;31:*.gz=01;31:ex=01;32:".repeat(60).into()));
    inherited.push(("PATH".into(), "/home/someone/.local/bin:/usr/local/bin:".repeat(25).into()));
    while inherited.len() < 100 {
        let n = inherited.len();
        inherited.push((format!("XDG_VARIABLE_{n}").into(), "/run/user/1000/some-where/else".into()));
    }
    let copies: Vec<_> = std::iter::repeat_n(inherited, 1000).collect();
    for (name, hide_secrets) in [("without hiding", false), ("with hiding", true)] {
        let rules = Rules { hide_secrets, ..Rules::default() };
        let copies = copies.clone();
        let start = Instant::now();
        let arrived: usize = copies.into_iter().map(|inherited| build(inherited, &rules).vars.len()).sum();
        println!("100 variables {name}: {:?}, {} arrive", start.elapsed() / 1000, arrived / 1000);
    }
}

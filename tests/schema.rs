//! `shellgate schema`: the tool declarations for models. `tests/sdk` checks them with the SDKs of the APIs.

use serde_json::{Value, json};
use shellgate::Dialect;

use crate::support::{Place, for_each_user};

const APIS: [&str; 4] = ["mcp", "gemini", "openai", "anthropic"];

/// The output of `shellgate schema FLAGS`.
fn schema(place: &Place, flags: &[&str]) -> String {
    let output = place.output(["schema"].iter().chain(flags));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_declaration_is_as_we_know_it() {
    let place = Place::new(None);
    for dialect in Dialect::ALL.iter().map(|dialect| dialect.name) {
        for api in APIS {
            let text = schema(&place, &["--dialect", dialect, "--for", api]);
            insta::with_settings!({omit_expression => true}, {
                insta::assert_snapshot!(format!("{dialect}_{api}"), text);
            });
        }
    }
}

#[test]
fn the_default_is_our_own_tool_for_mcp() {
    for_each_user(|place| {
        let text = schema(place, &[]);
        assert_eq!(text, schema(place, &["--dialect", "shellgate", "--for", "mcp"]));
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["name"], "shell");
        assert!(text.ends_with("}\n") && text.starts_with("{\n  \"name\""), "{text}");
        // It needs no state folder and creates none.
        assert_eq!(std::fs::read_dir(place.state()).unwrap().count(), 0);
    });
}

/// Phrases from the document of each dialect that the tool's description must contain.
#[test]
fn the_seeds_guidance_is_told() {
    let everywhere =
        ["`bash -c`", "`cmd.exe /c`", "non-zero", "non-interactive", "starts fresh", "the user is asked"];
    let background = [
        "`npm run start`, `npm run dev`, `yarn dev`",
        "`npm run watch`, `webpack --watch`",
        "`mongod`, `mysql`, `redis-server`",
        "`python -m http.server`, `php -S localhost:8000`",
        "`ls`, `cat`, `grep`",
        "`npm run build`, `make`",
        "`npm install`, `pip install`",
        "`git commit`, `git push`",
        "`npm test`, `pytest`",
        "`[background]`",
        "QWEN_CODE=1",
    ];
    let world = [
        "explicitly asked for",
        "not for general conversation",
        "Ask for `full` only when",
        "600000",
        "non-interactive",
        "may mean failure",
        "`sh -c`, `node -e`, `python -c`, `powershell -Command`",
        "`&&`, `||`",
        "SHA-256",
    ];
    let asimi =
        ["`$( )`, backticks, `<( )` and `>( )`", "Absolute paths are refused", "ASIMI_CLI=1", "`start /b`"];
    let gemini = ["`npm init -y`", "Background PIDs", "GEMINI_CLI=1", "`&`"];
    let rows: [(&str, Vec<&str>); 5] = [
        ("shellgate", [&everywhere[..], &["Ask for `full` only when"]].concat()),
        ("asimi", [&everywhere[..], &asimi].concat()),
        ("gemini", [&everywhere[..], &gemini].concat()),
        ("qwen", [&everywhere[..], &background].concat()),
        ("agent-world", world.to_vec()),
    ];
    let place = Place::new(None);
    for (dialect, words) in rows {
        for api in APIS {
            let text = schema(&place, &["--dialect", dialect, "--for", api]);
            for word in &words {
                assert!(text.contains(word), "{dialect} for {api} doesn't say {word}");
            }
        }
    }
}

#[test]
fn what_a_strict_model_sends_runs() {
    for_each_user(|place| {
        let declaration: Value = serde_json::from_str(&schema(place, &["--for", "openai"])).unwrap();
        let names = declaration["function"]["parameters"]["required"].as_array().unwrap();
        let mut call: Value =
            names.iter().map(|name| (name.as_str().unwrap().to_owned(), Value::Null)).collect();
        call["command"] = json!("printf %s \"$A\"");
        call["env"] = json!([{"name": "A", "value": "it's"}]);
        assert_eq!(place.call(&call)["stdout"], "it's");
        // An empty `env` sets no variable. An empty `args` is not absent: it makes `command` a program.
        call["env"] = json!([]);
        assert_eq!(place.call(&call)["stdout"], "");
        call["args"] = json!([]);
        assert_eq!(place.call(&call)["error"]["code"], "spawn_failed");
    });
}

#[test]
fn errors_name_the_valid_values() {
    let place = Place::new(None);
    let mistake = |words: &[&str]| {
        let output = place.output(["schema"].iter().chain(words));
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty(), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let unknown = mistake(&["--dialect", "klingon"]);
    assert!(Dialect::ALL.iter().all(|dialect| unknown.contains(&format!("`{}`", dialect.name))), "{unknown}");
    let unknown = mistake(&["--for", "klingon"]);
    assert!(APIS.iter().all(|name| unknown.contains(name)), "{unknown}");
    mistake(&["shellgate"]);
}

#[test]
fn what_cannot_be_written_is_no_success() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Place::new(None).shellgate(["schema"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the declaration can't be written"));
}

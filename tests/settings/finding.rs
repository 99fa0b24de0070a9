//! Where the project's settings are found, what is said about them, and the starter file of `init`.

use std::os::unix::fs::PermissionsExt as _;

use super::{assert_texts, text, write_file};
use crate::support::{Place, for_each_user, give};

/// Makes folders below the root that belong to the place's user.
fn folder(place: &Place, name: &str) -> std::path::PathBuf {
    let mut path = place.root();
    for part in name.split('/') {
        path.push(part);
        if !path.exists() {
            std::fs::create_dir(&path).unwrap();
            give(&path, place.user);
        }
    }
    path
}

/// The output and exit code of `shellgate WORDS` in a folder.
fn output_in(place: &Place, folder: &std::path::Path, words: &[&str]) -> (String, String, Option<i32>) {
    let output = place.strictly(words).current_dir(folder).output().unwrap();
    (text(&output.stdout).to_owned(), text(&output.stderr).to_owned(), output.status.code())
}

#[test]
fn rules_hold_in_every_folder_below_the_file_up_to_the_repository() {
    for_each_user(|place| {
        folder(place, "project/.git");
        let below = folder(place, "project/a/b");
        let file = place.root().join("project/.shellgate.toml");
        let judged = |folder: &std::path::Path| output_in(place, folder, &["check", "ls"]).2;
        assert_eq!(judged(&below), Some(10), "the control: it asks");
        write_file(place, &file, "[policy]\nexclude = [\"ls\"]\n");
        assert_eq!(judged(&below), Some(20));
        // The root stays the current folder.
        write_file(place, &file, "[policy]\ncore = [\"pwd\"]\n");
        let trusted = output_in(place, &below, &["trust", "--yes"]);
        assert_eq!(trusted.2, Some(0), "{trusted:?}");
        let (shown, ..) = output_in(place, &below, &["run", "pwd"]);
        assert_eq!(shown.trim_end(), below.canonicalize().unwrap().to_str().unwrap());
        // A repository inside it is another project.
        let inner = folder(place, "project/a/inner/.git").parent().unwrap().to_owned();
        assert_eq!(judged(&inner), Some(10));
        // Outside a repository, and not below home, only the root counts.
        let other = folder(place, "other/deep");
        write_file(place, &place.root().join("other/.shellgate.toml"), "[policy]\nexclude = [\"ls\"]\n");
        assert_eq!(judged(&other), Some(10));
        assert_eq!(judged(other.parent().unwrap()), Some(20));
    });
}

#[test]
fn a_trusted_file_names_the_root_and_an_untrusted_one_does_not() {
    for_each_user(|place| {
        folder(place, "project/.git");
        let below = folder(place, "project/a");
        let file = place.root().join("project/.shellgate.toml");
        write_file(place, &file, "[workspace]\nworking_directory = \".\"\n[policy]\ndefault = \"allow\"\n");
        let pwd = |flags: &[&str]| {
            let words = [&["run", "--approve", "allow"], flags, &["pwd"]].concat();
            output_in(place, &below, &words).0.trim_end().to_owned()
        };
        let (below, top) =
            (below.canonicalize().unwrap(), place.root().join("project").canonicalize().unwrap());
        assert_eq!(pwd(&[]), below.to_str().unwrap());
        assert_eq!(output_in(place, &below, &["trust", "--yes"]).2, Some(0));
        assert_eq!(pwd(&[]), top.to_str().unwrap());
        assert_eq!(pwd(&["--root", "."]), below.to_str().unwrap(), "the flag wins");
    });
}

/// Commands can write the folder for temporary files. A new file between the root and the project's would hide that one.
#[test]
fn a_command_cannot_change_or_hide_the_file_above_its_root() {
    for_each_user(|place| {
        folder(place, "project/.git");
        let below = folder(place, "project/a/b");
        let file = place.root().join("project/.shellgate.toml");
        write_file(place, &file, "[policy]\nexclude = [\"date\"]\n");
        let script = "echo > ../.shellgate.toml; rm -f ../../.shellgate.toml; echo x > ../../.shellgate.toml; echo > ../free";
        output_in(place, &below, &["run", "--approve", "allow", "--sandbox", "workspace", script]);
        assert!(place.root().join("project/a/free").exists(), "the control: the folder can be written");
        assert!(!place.root().join("project/a/.shellgate.toml").exists());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "[policy]\nexclude = [\"date\"]\n");
    });
}

#[test]
fn an_untrusted_file_is_mentioned_once_if_it_would_loosen_something() {
    for_each_user(|place| {
        let file = place.root().join(".shellgate.toml");
        let told = |content: &str| {
            write_file(place, &file, content);
            output_in(place, &place.root(), &["run", "--approve", "allow", "true"]).1
        };
        let loose = told("[policy]\ncore = [\"true\"]\n[limits]\ntimeout_ms = 0\n");
        assert_eq!(loose.matches("`shellgate trust`").count(), 1, "{loose}");
        assert!(loose.contains("(policy.core, limits.timeout_ms)"), "{loose}");
        assert_eq!(
            told("[policy]\nexclude = [\"rm\"]\n[limits]\ntimeout_ms = 5000\n"),
            "",
            "it only tightens"
        );
        told("[policy]\ncore = [\"true\"]\n");
        assert_eq!(output_in(place, &place.root(), &["trust", "--yes"]).2, Some(0));
        assert_eq!(told("[policy]\ncore = [\"true\"]\n"), "", "a trusted one is not mentioned");
    });
}

#[test]
fn config_show_names_files_values_and_rules() {
    let place = Place::new(None);
    folder(&place, "project/.git");
    let below = folder(&place, "project/a");
    let project =
        "[policy]\ncore = [\"make\"]\nexclude = [\"rm\"]\n[limits]\ntimeout_ms = 5\nanswer_chars = 7\n";
    write_file(&place, &place.root().join("project/.shellgate.toml"), project);
    let user = "[policy]\ndefault = \"deny\"\n[environment]\nset = { TOKEN = \"hunter2\" }\nkeep = [\"GH_TOKEN\"]\n\
                [[policy.rule]]\nprefix = [\"git\", \"push\"]\ndecision = \"ask\"\n";
    write_file(&place, &place.home().join(".config/shellgate/config.toml"), user);
    let show = |flags: &[&str]| {
        let words = [&["config", "show"], flags].concat();
        let output = place.shellgate(words).current_dir(&below).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        text(&output.stdout).to_owned()
    };
    assert_texts("config_show", &[show(&[])]);
    let json: serde_json::Value = serde_json::from_str(&show(&["--json"])).unwrap();
    assert_eq!(json["rules"][0]["commands"], "rm", "{json}");
    assert!(!json.to_string().contains("hunter2"), "{json}");
}

#[test]
fn init_writes_a_starter_and_never_replaces_a_file() {
    for_each_user(|place| {
        place.write("package.json", r#"{"private": true, "scripts": {"test": "jest", "deploy": "x"}}"#);
        let root = place.root();
        let (shown, ..) = output_in(place, &root, &["init", "--print"]);
        let file = root.join(".shellgate.toml");
        assert!(shown.contains("\"npm run test\",") && !file.exists(), "{shown}");
        let unasked = output_in(place, &root, &["init"]);
        assert!(unasked.2 == Some(3) && !file.exists(), "there is no terminal to ask on: {unasked:?}");
        let written = output_in(place, &root, &["init", "--yes"]);
        assert_eq!(written.2, Some(0), "{written:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), shown);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o022, 0);
        write_file(place, &file, "# mine\n");
        let again = output_in(place, &root, &["init", "--yes"]);
        assert!(again.2 == Some(2) && again.1.contains("there is already"), "{again:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\n");
    });
}

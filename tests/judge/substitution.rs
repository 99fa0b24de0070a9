//! Substitutions: the `asimi` dialect refuses them wherever bash would run them; other dialects judge the command inside.

use serde_json::{Value, json};

use super::{decided, has_run, settings, text};
use crate::support::{Place, for_each_user};

/// Commands with a substitution that bash would run.
const RUN: &[&str] = &[
    "touch ran $(id)",
    "touch ran `id`",
    "touch ran; cat <(id)",
    "touch ran; id > >(cat)",
    "touch ran \"$(id)\"",
    "touch ran \"a `id` b\"",
    "touch ran; A=$(id)",
    "touch ran; echo ${x:-$(id)}",
    "touch ran; echo \"${x:-`id`}\"",
    "touch ran; echo $(( $(id -u) + 1 ))",
    "touch ran; cat <<E\n$(id)\nE",
    "touch ran; cat <<E\n`id`\nE",
    "touch ran; cat <<<\"$(id)\"",
    "touch ran; echo x >\"$(echo out)\"",
    "touch ran; case $(id) in *) ;; esac",
    "touch ran; [[ -n $(id) ]]",
    "touch ran; for x in $(id); do :; done",
    "touch ran; f() { echo $(id); }; f",
    "touch ran; bash -c 'echo $(id)'",
    "touch ran; eval 'echo `id`'",
    "touch ran; a[$(id -u)]=1",
    "touch ran; echo '$(id)'\"$(id)\"",
    "touch ran; echo $(<ran)",
];

/// Commands without such a substitution: text, arithmetic, comments.
const TEXT: &[&str] = &[
    "touch ran",
    "touch ran; echo '$(id)'",
    "touch ran; echo '`id`' '<(id)'",
    "touch ran; echo \"<(id) >(id)\"",
    "touch ran; echo \\$\\(id\\) \\`id\\`",
    "touch ran; echo \"\\$(id) \\`id\\`\"",
    "touch ran; echo $((1 + 2)) $(( (1) ))",
    "touch ran; ((1 + 2))",
    "touch ran # $(id) `id` <(id)",
    "touch ran; cat <<'E'\n$(id) `id`\nE",
    "touch ran; cat <<\\E\n$(id) `id`\nE",
    "touch ran; (id); { id; }",
    "touch ran; echo $HOME ${HOME} $'$(id)'",
];

fn asimi(place: &Place, command: &str) -> (Value, Option<i32>) {
    let call = json!({"command": command}).to_string();
    let words = ["call", "--dialect", "asimi", "--default", "allow"];
    let output = place.strictly(words).args(["--approve", "allow", &call]).output().unwrap();
    (serde_json::from_str(text(&output.stdout)).unwrap(), output.status.code())
}

#[test]
fn asimi_refuses_what_bash_would_run_and_nothing_else() {
    for_each_user(|place| {
        for command in RUN {
            let (answer, code) = asimi(place, command);
            assert!(!has_run(place), "{command:?}");
            assert_eq!(answer["errorInfo"]["code"], "substitution", "{command:?}: {answer}");
            assert!(answer["errorInfo"]["hint"].is_string() && code == Some(3), "{command:?}: {answer}");
        }
        for command in TEXT {
            let (answer, code) = asimi(place, command);
            assert!(has_run(place), "{command:?}: {answer}");
            assert_eq!((code, answer.get("error")), (Some(0), None), "{command:?}: {answer}");
        }
    });
}

#[test]
fn elsewhere_the_setting_decides() {
    for_each_user(|place| {
        let flags = |setting: &str| {
            let content = format!("[policy]\ndefault = \"allow\"\nsubstitution = \"{setting}\"\n");
            settings(place, &format!("{setting}.toml"), &content)
        };
        let [check, ask, deny] = ["check", "ask", "deny"].map(flags);
        let with = "touch ran $(id -u)";
        for (file, wanted) in [(&check, "ran"), (&ask, "approval_unavailable"), (&deny, "substitution")] {
            assert_eq!(decided(place, &["--config", file], with), wanted);
            let _ = std::fs::remove_file(place.root().join("0"));
            assert_eq!(decided(place, &["--config", file], "touch ran; echo '$(id)' $((1))"), "ran");
        }
        assert_eq!(decided(place, &["--config", &ask, "--approve", "allow"], with), "ran");
        assert_eq!(decided(place, &["--config", &deny, "--approve", "allow"], with), "substitution");
        // The command inside is judged, whatever the setting.
        assert_eq!(decided(place, &["--config", &check, "--exclude", "id"], with), "denied_by_policy");
    });
}

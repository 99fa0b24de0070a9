//! The effect of each answer, now and for later commands.

use crate::support::for_each_user;
use crate::support::pane::Pane;

#[test]
fn an_approval_once_covers_one_call() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.asks(&["frob now"]);
        assert!(pane.ran().is_empty(), "nothing runs before the answer");
        pane.press(&["y"]);
        let screen = pane.ends(0);
        assert!(screen.contains("shellgate: approved once: frob now\n"), "{screen}");
        assert!(!screen.contains("may this run"), "{screen}");
        assert_eq!(pane.ran(), ["frob now"]);
        pane.asks_again(&["frob now"]);
        assert_eq!(pane.ran(), ["frob now"]);
    });
}

#[test]
fn an_approval_for_the_session_covers_exactly_this_command() {
    for_each_user(|place| {
        std::fs::create_dir(place.root().join("below")).unwrap();
        let pane = Pane::new(place, 80, 24);
        pane.asks(&["frob now"]);
        pane.press(&["s"]);
        pane.ends(0);
        pane.runs_unasked(&["frob now"]);
        assert_eq!(pane.ran(), ["frob now"; 2]);
        pane.asks_again(&["frob now please"]);
        pane.asks_again(&["frob  now"]);
        pane.asks_again(&["-C", "below", "frob now"]);
        pane.asks_again(&["--session", "other", "frob now"]);
        assert_eq!(pane.ran(), ["frob now"; 2]);
        pane.runs_unasked(&["frob now"]);
    });
}

#[test]
fn an_approved_prefix_covers_commands_that_begin_with_it() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let screen = pane.asks(&["git log"]);
        assert!(screen.contains("allow `git log …`"), "{screen}");
        pane.press(&["p"]);
        let screen = pane.ends(0);
        assert!(screen.contains("approved `git log` for the session"), "{screen}");
        pane.runs_unasked(&["git log -3"]);
        assert_eq!(pane.ran(), ["git log", "git log -3"]);
        pane.asks_again(&["git push"]);
        pane.asks_again(&["git log && git push"]);
        pane.asks_again(&["--session", "other", "git log"]);
        assert_eq!(pane.ran(), ["git log", "git log -3"]);
    });
}

#[test]
fn without_a_prefix_there_is_no_key_for_one() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let screen = pane.asks(&["git"]);
        assert!(!screen.contains("\n  p  ") && !screen.contains("\n  a  "), "{screen}");
        for key in ["p", "a"] {
            pane.press_calmly(key);
        }
        pane.press_calmly("s");
        pane.ends(0);
        assert_eq!(pane.ran(), ["git "]);
    });
}

#[test]
fn always_shows_its_lines_before_it_writes_them() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let settings = place.home().join("settings/shellgate/config.toml");
        let wanted = "[[policy.rule]]\nprefix = [\"frob\", \"now\"]\ndecision = \"allow\"\n";
        pane.asks(&["frob now"]);
        pane.press(&["a"]);
        let screen = pane.shows("add this to your settings?");
        for line in wanted.lines().chain([settings.to_str().unwrap()]) {
            assert!(screen.contains(line), "{line}: {screen}");
        }
        pane.press_calmly("n");
        pane.shows("may this run?");
        assert!(!settings.exists() && pane.ran().is_empty());
        pane.press_calmly("a");
        pane.shows("add this to your settings?");
        pane.press_calmly("Enter");
        pane.shows("Enter is not an answer");
        assert!(!settings.exists());
        pane.press_calmly("y");
        let screen = pane.ends(0).replace('\n', "");
        let place_of_rule = format!("remove the rule at {}:1", settings.display());
        assert!(screen.contains(&place_of_rule), "{place_of_rule}: {screen}");
        let written = std::fs::read_to_string(&settings).unwrap();
        assert!(written.contains(wanted), "{written}");
        pane.runs_unasked(&["--session", "other", "frob now and then"]);
        assert_eq!(pane.ran(), ["frob now", "frob now and then"]);
        pane.asks_again(&["frob later"]);
    });
}

#[test]
fn always_can_mean_exactly_this() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let settings = place.home().join("settings/shellgate/config.toml");
        // No prefix of it is safe, so only exactly this is offered.
        let screen = pane.asks(&["frob -x now"]);
        assert!(!screen.contains("\n  p  ") && !screen.contains("\n  a  "), "{screen}");
        pane.press(&["e"]);
        let screen = pane.shows("add this to your settings?");
        assert!(screen.contains("exact = true"), "{screen}");
        pane.press_calmly("y");
        pane.ends(0);
        let written = std::fs::read_to_string(&settings).unwrap();
        assert!(written.contains("prefix = [\"frob\", \"-x\", \"now\"]\nexact = true\n"), "{written}");
        pane.runs_unasked(&["--session", "other", "frob -x now"]);
        pane.asks_again(&["frob -x now please"]);
        pane.asks_again(&["frob -x"]);
        assert_eq!(pane.ran(), ["frob -x now"; 2]);
    });
}

#[test]
fn a_no_runs_nothing() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        for key in ["n", "q", "Escape", "C-c"] {
            pane.asks(&["frob now"]);
            pane.press(&[key]);
            let screen = pane.ends(125);
            assert!(screen.contains("shellgate: denied: frob now\n"), "{key}: {screen}");
        }
        assert!(pane.ran().is_empty());
    });
}

#[test]
fn no_with_a_reason_tells_the_agent() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.asks(&["--json", "frob now"]);
        pane.press(&["r"]);
        pane.shows("reason: Enter sends it");
        pane.send("use frobb");
        pane.press(&["BSpace"]);
        pane.send("nicatëy");
        pane.press(&["Enter"]);
        let screen = pane.ends(125);
        assert!(screen.replace('\n', "").contains("the user said no: use frobnicatëy"), "{screen}");
        assert!(pane.ran().is_empty());
    });
}

#[test]
fn a_reason_can_be_taken_back() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.asks(&["frob now"]);
        pane.press(&["r"]);
        pane.shows("reason: Enter sends it");
        pane.send("y");
        pane.shows("> y");
        pane.press(&["Escape"]);
        pane.shows("your answer");
        pane.press_calmly("y");
        pane.ends(0);
        assert_eq!(pane.ran(), ["frob now"]);
    });
}

#[test]
fn enter_answers_nothing() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.asks(&["frob now"]);
        pane.press(&["Enter"]);
        pane.shows("Enter is not an answer");
        assert!(pane.ran().is_empty());
        pane.press_calmly("y");
        pane.ends(0);
        assert_eq!(pane.ran(), ["frob now"]);
    });
}

#[test]
fn no_answer_in_time_is_a_no() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let settings = place.home().join("settings/shellgate");
        std::fs::create_dir_all(&settings).unwrap();
        std::fs::write(settings.join("config.toml"), "[approval]\ntimeout_s = 2\n").unwrap();
        pane.start(&["frob now"]);
        pane.shows("1 s left");
        let screen = pane.ends(125);
        assert!(screen.contains("denied: no answer in time: frob now"), "{screen}");
        assert!(screen.contains("approval_timeout"), "{screen}");
        assert!(pane.ran().is_empty());
    });
}

#[test]
fn an_answer_from_elsewhere_counts() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        for (answer, code) in [("deny", 125), ("approve", 0)] {
            pane.asks(&["frob now"]);
            let list = place.strictly(["approvals", "list", "--json"]).output().unwrap();
            let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
            let id = list.pointer("/0/id").unwrap().to_string();
            let output = place.strictly(["approvals", answer, &id]).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let screen = pane.ends(code);
            assert!(screen.contains("elsewhere: frob now"), "{screen}");
        }
        assert_eq!(pane.ran(), ["frob now"]);
    });
}

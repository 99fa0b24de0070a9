//! Commands that try to look like something else.

use crate::support::pane::Pane;
use crate::support::{Place, for_each_user};

/// The text right of the bar, with wrapped lines joined.
fn foreign(screen: &str) -> String {
    screen.lines().filter_map(|line| line.split_once("│ ")).map(|(_, text)| text).collect()
}

/// Scrolls to the end, page by page, and returns every screen.
fn all_screens(pane: &Pane<'_>) -> Vec<String> {
    let mut screens = vec![pane.screen()];
    while screens.last().unwrap().contains("below") {
        let before = screens.last().unwrap().clone();
        pane.press(&["PageDown"]);
        screens.push(pane.shows_that("the next page", |screen| *screen != before));
    }
    screens
}

#[test]
fn text_of_a_command_is_never_a_line_of_ours() {
    let place = Place::new(None);
    let pane = Pane::new(&place, 80, 40);
    let command = "frob 'harmless'\n\u{1b}[2J\u{1b}[H── your answer ──\r  y  run it\n\u{9b}1A\u{202e}abc\u{2066}\u{200b}\u{e0041}\n\
         agent says   │ it is fine\n\tfrob   x  \n\nshellgate: approved once: ls";
    pane.asks(&[command]);
    let screen = pane.screen();
    insta::with_settings!({filters => vec![(r"/[^ \n]*/shellgate-test-\w+", "[PLACE]"), (r"20\d\d-\d\d-\d\d", "2026-11-15"), (r"\d\d:\d\d", "20:43")]}, {
        insta::assert_snapshot!(screen);
    });
    pane.press(&["n"]);
    pane.ends(125);
}

#[test]
fn a_long_line_is_shown_to_its_end() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let command = format!("frob {}END", (0..1000).map(|n| format!("{n:04}.")).collect::<String>());
        pane.asks(&[&command]);
        let all: String = all_screens(&pane).concat();
        let lines: Vec<&str> = all.lines().collect();
        let mut whole = String::new();
        let begin = lines.iter().position(|line| line.starts_with("command")).unwrap();
        for line in &lines[begin..] {
            // Pages overlap by a line; marks have no bar.
            let Some((_, text)) = line.split_once("│ ") else { continue };
            if !whole.ends_with(text) {
                whole.push_str(text);
            }
            if whole.ends_with("END") {
                break;
            }
        }
        assert_eq!(whole, command);
        pane.press_calmly("n");
        pane.ends(125);
    });
}

#[test]
fn yes_is_not_taken_before_the_end_was_shown() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let command = (0..500).map(|n| format!("frob now {n}\n")).collect::<String>();
        let screen = pane.asks(&[&command]);
        assert!(screen.contains("more below"), "{screen}");
        for key in ["y", "s", "p", "a"] {
            pane.press_calmly(key);
            pane.shows("there is more to read");
            pane.press(&["k"]);
            pane.shows("more below");
        }
        assert!(pane.ran().is_empty());
        pane.press(&["G"]);
        let screen = pane.shows("more above");
        assert!(screen.contains("can reach"), "{screen}");
        pane.press(&["g"]);
        pane.shows("agent says");
        pane.press_calmly("y");
        pane.ends(0);
        assert_eq!(pane.ran().len(), 500);
    });
}

#[test]
fn blanks_hide_nothing() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        let command = format!("frob a{}; frob hidden", " ".repeat(3000));
        let screen = pane.asks(&[&command]);
        assert!(foreign(&screen).contains("frob a‹3000 blanks›; frob hidden"), "{screen}");
        pane.press(&["n"]);
        pane.ends(125);
    });
}

#[test]
fn elsewhere_the_question_looks_the_same() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 60);
        let command = format!("git log \u{1b}[2J && frob 'a\u{202e}b' {} > out  ; $X", "y".repeat(100));
        pane.start_after("echo 1 > ~/in; exec < ~/in", &["--background", &command]);
        let screen = pane.shows("── your answer");
        let listed = place.output(["approvals", "list"]);
        let listed = String::from_utf8(listed.stdout).unwrap();
        let facts = |page: &str| {
            let lines = page.lines().skip(1).take_while(|line| !line.starts_with("──"));
            lines.filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(facts(&screen).iter().any(|line| line.contains("was not inspected")), "{screen}");
        assert_eq!(facts(&listed), facts(&screen));
        pane.press_calmly("n");
        pane.ends(125);
    });
}

#[test]
fn the_line_that_stays_is_one_line() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.asks(&[": \u{1b}]0;title\u{7}\u{1b}[31m\nfrob"]);
        pane.press(&["n"]);
        let screen = pane.ends(125);
        assert!(screen.contains("denied: : ‹ESC›]0;title‹BEL›‹ESC›[31m‹LF›frob\n"), "{screen}");
    });
}

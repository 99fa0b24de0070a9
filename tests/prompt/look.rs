//! What the screen looks like in different terminals.

use crate::support::Place;
use crate::support::pane::Pane;

fn assert_looks(name: &str, screen: &str) {
    let filters = vec![
        (r"/[^ \n]*/shellgate-test-\w+", "[PLACE]"),
        (r"20\d\d-\d\d-\d\d", "2026-11-15"),
        (r"\d\d:\d\d", "20:43"),
    ];
    insta::with_settings!({filters => filters}, {
        insta::assert_snapshot!(name, screen);
    });
}

const COMMAND: &str = "git log -3 && frob deploy --to 'two words' > out.txt";

#[test]
fn every_usual_size() {
    let place = Place::new(None);
    let pane = Pane::new(&place, 80, 24);
    pane.asks(&["--session", "s", COMMAND]);
    assert_looks("80x24", &pane.screen());
    pane.resize(200, 50);
    assert_looks(
        "200x50",
        &pane.shows_that("a wide screen", |screen| screen.lines().any(|line| line.chars().count() > 150)),
    );
    pane.resize(40, 12);
    assert_looks("40x12", &pane.shows("more below"));
    pane.resize(20, 5);
    assert_looks("20x5", &pane.shows("3/"));
    pane.press(&["G"]);
    pane.shows("key r");
    pane.press_calmly("n");
    pane.resize(80, 24);
    pane.ends(125);
}

#[test]
fn always_and_a_reason() {
    let place = Place::new(None);
    let pane = Pane::new(&place, 80, 25);
    pane.asks(&["--session", "s", "--", "git", "log", "a b", "", "c\nd"]);
    assert_looks("words", &pane.screen());
    pane.press(&["a"]);
    assert_looks("always", &pane.shows("add this to"));
    pane.press_calmly("n");
    pane.shows("may this run");
    pane.press_calmly("r");
    pane.shows("reason: Enter");
    pane.send("not  now ");
    assert_looks("reason", &pane.shows("> not  now"));
    pane.press(&["C-c"]);
    pane.ends(125);
}

#[test]
fn colours_can_be_switched_off() {
    let place = Place::new(None);
    let pane = Pane::new(&place, 80, 24);
    let has_colours = |before: &str, args: &[&str]| {
        pane.start_after(before, args);
        pane.shows("your answer");
        let coloured = pane.coloured_screen().contains("\u{1b}[");
        pane.press_calmly("n");
        pane.ends(125);
        coloured
    };
    assert!(has_colours("", &["frob"]), "positive control");
    assert!(!has_colours("export NO_COLOR=1", &["frob"]));
    assert!(!has_colours("", &["--color", "never", "frob"]));
}

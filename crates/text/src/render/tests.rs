use proptest::prelude::*;

use super::render;

fn clean(bytes: impl AsRef<[u8]>) -> String {
    render(bytes.as_ref().to_vec(), 0).text
}

#[test]
fn sequences() {
    let table: &[(&str, &str, &str)] = &[
        ("plain text", "a\tb\nc\n", "a\tb\nc\n"),
        ("windows line ends", "a\r\nb\r\n", "a\nb\n"),
        ("doubled returns", "a\r\r\nb", "a\nb"),
        ("colours", "\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mx\x1b[m", "red x"),
        ("colours with colons", "\x1b[38:2::1:2:3mx\x1b[4:3my", "xy"),
        ("a title, ended by bell or string terminator", "\x1b]0;title\x07a\x1b]2;t\x1b\\b", "ab"),
        ("a link", "\x1b]8;;http://a\x1b\\here\x1b]8;;\x1b\\.", "here."),
        ("a picture", "a\x1bPq#0;2;0\n-\x1b\\b", "ab"),
        ("a string that another sequence breaks off", "a\x1b]0;x\x1b[1mb", "ab"),
        ("a string that never ends", "a\x1b]0;the rest\nis shown", "a0;the rest\nis shown"),
        ("a sequence that never ends", "a\x1b[12;", "a"),
        ("escape at the end", "a\x1b", "a"),
        ("many escapes", "\x1b\x1b\x1b\x1b[mA\x1b\x1b", "A"),
        ("a sequence broken off by another", "\x1b[3\x1b[31mx\x1b(\x1b(Bz", "xz"),
        ("character sets", "\x1b(Bx\x1b)0y\x1b#8z\x1b=", "xyz"),
        ("private modes", "\x1b[?25lx\x1b[?25h\x1b[>4;1m\x1b[?2004h", "x"),
        ("other controls", "a\0b\x07c\x0bd\x0ce\x7ff\x0eg\u{85}h\u{9b}i", "abcdefghi"),
        ("latin-1 signs", "5 °C « x\u{a0}»", "5 °C « x\u{a0}»"),
        ("backspace", "abc\x08\x08X", "aXc"),
        ("overstrike of man pages", "N\x08NA\x08A _\x08x", "NA x"),
        ("a spinner", "|\x08/\x08-\x08\\\x08 done\n", " done\n"),
        ("a progress bar", "  0%\r 50%\r100%\nend", "100%\nend"),
        ("a progress bar that gets shorter", "downloading\rdone       \n", "done\n"),
        ("a progress bar erased", "working\r\x1b[Kdone\n", "done\n"),
        ("a progress bar erased as a whole", "working\x1b[2K\rdone\n", "done\n"),
        ("a return at the end", "100%\r", "100%"),
        ("many rows redrawn", "a 1\nb 1\n\x1b[2A\x1b[2Ka 2\n\x1b[2Kb 2\n", "a 2\nb 2\n"),
        ("rows redrawn and gone down again", "a\nb\nc\n\x1b[3A\rX\x1b[3B\rend", "X\nb\nc\nend"),
        ("rows wiped", "x\na\nb\n\x1b[2A\x1b[Jend\n", "x\nend\n"),
        ("rows wiped one by one", "x\na\nb\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\rend", "end\n"),
        ("next and previous line", "a\nb\nc\x1b[2FX\x1b[1EY", "X\nY\nc"),
        ("columns", "\x1b[5Gx\x1b[1Gy\x1b[2Cz", "y  zx"),
        ("an ok at the right", "Starting\x1b[20G[ ok ]\n", "Starting           [ ok ]\n"),
        ("delete, insert, blank", "abcdef\r\x1b[2P\x1b[2C\x1b[1X\r\x1b[1@", " cd f"),
        ("erase to the left", "abcdef\x1b[3D\x1b[1K", "    ef"),
        ("save and restore", "a\x1b7bcd\x1b8X\x1b[sYZ\x1b[uQ", "aXQZ"),
        ("delete and insert rows", "a\nb\nc\x1b[2A\x1b[M\r\x1b[LX", "X\nb\nc"),
        ("clear keeps what was printed", "one\n\x1b[H\x1b[2J\x1b[3Jtwo\n", "one\ntwo\n"),
        ("reset keeps what was printed", "one\x1bctwo", "one\ntwo"),
        ("redrawn from home", "log\n\x1b[H\x1b[2Ja1\nb1\n\x1b[Ha2\nb2\n", "log\na2\nb2\n"),
        ("addresses", "\x1b[2;3Hx\x1b[1;1Hy\x1b[3dz", "y\n  x\n z"),
        ("the alternate screen", "a\n\x1b[?1049h\x1b[Hvim\x1b[?1049lb\n", "a\nvim\nb\n"),
        ("above the first row", "a\x1b[99AX\n", "aX\n"),
        ("below the last row", "a\x1b[99BX", "aX"),
    ];
    for (name, raw, want) in table {
        assert_eq!(clean(raw), *want, "{name}");
    }
}

#[test]
fn invalid_bytes_are_replaced() {
    assert_eq!(clean(b"a\xffb"), "a\u{fffd}b");
    assert_eq!(
        clean(b"caf\xe9\r\n\xc2\n\xe2\x82\x1b[mx\xc2\xa9\xc2"),
        "caf\u{fffd}\n\u{fffd}\n\u{fffd}x©\u{fffd}"
    );
}

#[test]
fn absurdly_large_numbers_cost_nothing() {
    for raw in ["\x1b[999999999Cx", "\x1b[99999999Bx", "\x1b[99999;99999Hx", "\x1b[99999@x", "a\x1b[99999Lx"]
    {
        assert!(clean(raw).len() < 1000, "{raw:?}");
    }
    // Repeating them costs nothing either: the bytes of input bound what they add.
    for raw in ["\x1b[65535Gx\n", "\x1b[500;500Hx\x1b[2J", "x\r\x1b[500@", "\x1b[300L\x1b[Hx\n"] {
        let all = raw.repeat(2000);
        assert!(clean(&all).len() < 3 * all.len() + 8192, "{raw:?}");
    }
}

#[test]
fn rows_above_the_editable_ones_settle() {
    let lines: String = (0..1000).map(|n| format!("line {n}\n")).collect();
    let text = clean(format!("{lines}\x1b[900AX\x1b[900B"));
    assert!(text.starts_with("line 0\nline 1\n"));
    assert!(text.contains("\nXine 745\n"), "{text}");
    assert_eq!(text.lines().count(), 1000);
}

#[test]
fn positions_map_back_to_raw_offsets() {
    let raw: String =
        (0..100).map(|n| format!("\x1b[32mgreen\x1b[0m and a longer line {n:02}\r\n")).collect();
    let rendered = render(raw.clone().into_bytes(), 1000);
    let place = rendered.text.find("line 50").unwrap();
    let want = 1000 + raw.find("line 50").unwrap() as u64;
    assert!(want.abs_diff(rendered.raw_at(place)) < 10, "{want} {}", rendered.raw_at(place));
    assert_eq!(rendered.raw_at(0), 1000);
    assert!(rendered.raw_at(rendered.text.len()) <= 1000 + raw.len() as u64);
}

/// Terminal output with sequences broken at random places.
fn terminal_bytes() -> impl Strategy<Value = Vec<u8>> {
    let code = ("[?0-9;:]{0,8}", prop::sample::select(b"ABCDEFGHJKLMPX@su`dfhlm".to_vec()));
    let part = prop_oneof![
        3 => "[a-c é日\t]{0,6}".prop_map(String::into_bytes),
        4 => code.prop_map(|(params, action)| [b"\x1b[", params.as_bytes(), &[action]].concat()),
        1 => prop::sample::select(vec!["\n", "\r", "\r\n", "\x08", "\x1b7", "\x1b8", "\x1bM", "\x1bc", "\x1b]0;", "\x07", "\u{9b}", "\x1b"])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..5),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_control_characters_remain(bytes in prop_oneof![terminal_bytes(), prop::collection::vec(any::<u8>(), 0..300)]) {
        let length = bytes.len();
        let rendered = render(bytes, 7);
        let bad = rendered.text.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t');
        prop_assert_eq!(bad, None);
        prop_assert!(rendered.text.len() <= 4 * length + 4096);
        let mut last = 7;
        for place in 0..=rendered.text.len() {
            let raw = rendered.raw_at(place);
            prop_assert!(raw >= last && raw <= 7 + length as u64);
            last = raw;
        }
    }

    #[test]
    fn text_without_codes_is_kept(text in "[^\u{0}-\u{8}\u{b}-\u{1f}\u{7f}-\u{9f}]{0,80}", more in "[a-z\n]{0,20}") {
        prop_assert_eq!(clean(&text), text.as_str());
        // A colour code makes the text go through the screen.
        prop_assert_eq!(clean(format!("{text}\x1b[m{more}")), format!("{text}{more}"));
    }
}

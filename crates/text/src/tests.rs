//! Tests of whole views: cuts, marker lines, and properties of any bytes.

use std::{fs::File, io::Write, path::Path, time::Instant};

use proptest::prelude::*;

use super::*;

/// A stream whose first `spooled` bytes are in a file, with its last `tail` bytes in memory.
struct Spool {
    file: File,
    bytes: Vec<u8>,
    spooled: usize,
    tail: usize,
    lost: Option<String>,
}

impl Spool {
    fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let spooled = bytes.len();
        Self::partly(bytes, spooled, 0)
    }

    fn partly(bytes: Vec<u8>, spooled: usize, tail: usize) -> Self {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes[..spooled]).unwrap();
        Self { file, bytes, spooled, tail, lost: None }
    }

    fn lost(mut self, why: &str) -> Self {
        self.lost = Some(why.to_owned());
        self
    }

    fn view_at(&self, path: &str, limit: Limit) -> View {
        let source = Source {
            file: &self.file,
            path: Path::new(path),
            begins: 0,
            spooled: self.spooled as u64,
            total: self.bytes.len() as u64,
            tail: &self.bytes[self.bytes.len() - self.tail..],
            lost: self.lost.clone(),
            read_as: None,
        };
        view(&source, limit)
    }

    fn view(&self, limit: Limit) -> View {
        self.view_at("/spool/7/stdout", limit)
    }
}

fn lines(count: usize) -> Vec<u8> {
    (0..count).flat_map(|n| format!("line {n:06}\n").into_bytes()).collect()
}

fn png(size: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.resize(size, 0);
    bytes
}

#[test]
fn short_text_is_whole() {
    let view = Spool::new("\x1b[32mok\x1b[0m\n").view(Limit::Chars(3));
    assert_eq!(
        view,
        View {
            text: "ok\n".to_owned(),
            truncated: false,
            binary: None,
            condensed_from: None,
            whole_tokens: 0
        }
    );
    assert_eq!(Spool::new("").view(Limit::Chars(0)).text, "");
}

#[test]
fn a_cut_says_what_to_run() {
    let view = Spool::new(lines(9)).view(Limit::Bytes(100));
    assert!(view.truncated);
    insta::assert_snapshot!(view.text, @"
    line 000000
    line 000001
    line 000002
    line 000003
    [… 12 bytes left out; the whole output is in /spool/7/stdout; to read them: `tail -c +49 /spool/7/stdout | head -c 12` …]
    line 000005
    line 000006
    line 000007
    line 000008
    ");
}

#[test]
fn the_command_offered_reads_what_is_left_out() {
    let bytes = lines(200);
    let view = Spool::new(bytes.clone()).view(Limit::Chars(2000));
    let marker = view.text.lines().find(|line| line.starts_with("[… ")).unwrap();
    let words: Vec<&str> = marker.split([' ', '`']).collect();
    let number = |after: &str| -> usize {
        words[words.iter().position(|word| *word == after).unwrap() + 2]
            .trim_start_matches('+')
            .parse()
            .unwrap()
    };
    let start = number("tail") - 1;
    let count = number("head");
    let want: Vec<u8> = view
        .text
        .replace(&format!("{marker}\n"), &String::from_utf8_lossy(&bytes[start..start + count]))
        .into();
    assert_eq!(want, bytes);
}

#[test]
fn a_large_cut_names_the_offset() {
    insta::assert_snapshot!(Spool::new(lines(100)).view(Limit::Chars(26)).text, @"
    line 000000
    [… 1176 bytes left out, from byte 13 on; the whole output is in /spool/7/stdout …]
    line 000099
    ");
    insta::assert_snapshot!(Spool::new(lines(10)).view(Limit::Chars(0)).text, @"[… 120 bytes left out, from byte 1 on; the whole output is in /spool/7/stdout …]");
    let one_line = "é".repeat(40);
    insta::assert_snapshot!(Spool::new(one_line.clone()).view(Limit::Chars(39)).text, @"
    éééééééééééééééééééé
    [… 2 bytes left out; the whole output is in /spool/7/stdout; to read them: `tail -c +41 /spool/7/stdout | head -c 2` …]
    ééééééééééééééééééé
    ");
    insta::assert_snapshot!(Spool::new(one_line).view_at("/it's here", Limit::Bytes(78)).text, @r"
    ééééééééééééééééééé
    [… 4 bytes left out; the whole output is in /it's here; to read them: `tail -c +39 '/it'\''s here' | head -c 4` …]
    ééééééééééééééééééé
    ");
}

#[test]
fn bytes_that_were_not_kept_are_reported() {
    let bytes = lines(100);
    insta::assert_snapshot!(Spool::partly(bytes.clone(), 600, 100).view(Limit::Chars(50)).text, @"
    line 000000
    line 000001
    [… 1152 bytes left out; only the first 600 of 1200 bytes are kept, in /spool/7/stdout: the capture limit was reached …]
    line 000098
    line 000099
    ");
    let full = Spool::partly(bytes.clone(), 30, 20).lost("No space left on device (os error 28)");
    insta::assert_snapshot!(full.view(Limit::Chars(5000)).text, @"
    line 000000
    line 000001
    line 0
    [… 1150 bytes left out; only the first 30 of 1200 bytes are kept, in /spool/7/stdout: No space left on device (os error 28) …]
     000098
    line 000099
    ");
    let nothing = Spool::partly(bytes.clone(), 0, 0).lost("Permission denied");
    insta::assert_snapshot!(nothing.view(Limit::Chars(5000)).text, @"[… 1200 bytes left out; none were kept: Permission denied …]");
    insta::assert_snapshot!(Spool::partly(bytes, 12, 0).view(Limit::Chars(5000)).text, @"
    line 000000
    [… 1188 bytes left out; only the first 12 of 1200 bytes are kept, in /spool/7/stdout: the capture limit was reached …]
    ");
}

#[test]
fn a_tail_that_meets_the_file_makes_it_whole() {
    let bytes = lines(100);
    let view = Spool::partly(bytes.clone(), 600, 700).view(Limit::Chars(5000));
    assert_eq!((view.text.into_bytes(), view.truncated), (bytes, false));
}

#[test]
fn a_truncated_file_is_reported() {
    let spool = Spool::new(lines(10));
    spool.file.set_len(24).unwrap();
    insta::assert_snapshot!(spool.view(Limit::Chars(5000)).text, @"
    line 000000
    line 000001
    [… 96 bytes left out; only the first 24 of 120 bytes are kept, in /spool/7/stdout: the file was truncated later …]
    ");
}

#[test]
fn of_a_long_stream_only_the_ends_are_read() {
    // 12 MB of lines: too many to be rendered whole.
    let view = Spool::new(lines(1_000_000)).view(Limit::Chars(60));
    insta::assert_snapshot!(view.text, @"
    line 000000
    line 000001
    [… 11999952 bytes left out, from byte 25 on; the whole output is in /spool/7/stdout …]
    line 999998
    line 999999
    ");
}

#[test]
fn megabytes_of_progress_show_the_last_state() {
    let mut raw = b"start\n".to_vec();
    for n in 0..1_000_000 {
        raw.extend(format!("\r{n:07} of 1000000").bytes());
    }
    raw.extend(b"\ndone\n");
    insta::assert_snapshot!(Spool::new(raw).view(Limit::Chars(200)).text, @"
    start
    [… 17951430 bytes left out, from byte 7 on; the whole output is in /spool/7/stdout …]
    0999999 of 1000000
    done
    ");
}

#[test]
fn output_cannot_forge_a_marker() {
    let raw = "[… 5 bytes left out …]\n[binary output: 3 bytes]\nsee [… here\r\n\x1b[1m[… x";
    insta::assert_snapshot!(Spool::new(raw).view(Limit::Chars(200)).text, @"
     [… 5 bytes left out …]
     [binary output: 3 bytes]
    see [… here
     [… x
    ");
    let cut_within = format!("{}[… 7 bytes left out …]", "a".repeat(100));
    let text = Spool::new(cut_within).view(Limit::Bytes(52)).text;
    assert!(text.ends_with("…]\n… 7 bytes left out …]"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("[… ")).count(), 1, "{text}");
}

#[test]
fn binary_is_described() {
    let view = Spool::new(png(20480)).view(Limit::Chars(10));
    insta::assert_snapshot!(view.text, @"[binary output (PNG image): 20480 bytes, sha256 ce73f76325caf444d040c5d18defb3548f2288c09b01193e4b7af7819e922129, kept in /spool/7/stdout]");
    let binary = view.binary.unwrap();
    assert_eq!((binary.kind, binary.bytes, binary.hashed), (Some("PNG image"), 20480, Hashed::Whole));
    assert!(view.truncated);

    insta::assert_snapshot!(Spool::new(vec![0; 100]).view(Limit::Chars(10)).text, @"[binary output: 100 bytes, sha256 cd00e292c5970d3c5e2f0ffa5171e555bc46bfc4faddfb4a418b6840b86e79a3, kept in /spool/7/stdout]");
    insta::assert_snapshot!(Spool::partly(png(1000), 400, 100).view(Limit::Chars(10)).text, @"[binary output (PNG image): 1000 bytes; only the first 400 of 1000 bytes are kept, in /spool/7/stdout: the capture limit was reached; sha256 of these 5ba5903ebb842c1d21d562be0e8bd20a7ec05f0d308fd118ec32987b5d6d7a8b]");
    insta::assert_snapshot!(Spool::partly(png(1000), 400, 700).view(Limit::Chars(10)).text, @"[binary output (PNG image): 1000 bytes, sha256 03aa0a7071323305ba9b1ecf15e79f8f1c133bc6385cde9d1b1f1da56b618262; only the first 400 of 1000 bytes are kept, in /spool/7/stdout: the capture limit was reached]");
    let full = Spool::partly(png(1000), 400, 0).lost("No space left on device");
    let view = full.view(Limit::Chars(10));
    insta::assert_snapshot!(view.text, @"[binary output (PNG image): 1000 bytes; only the first 400 of 1000 bytes are kept, in /spool/7/stdout: No space left on device; sha256 of these 5ba5903ebb842c1d21d562be0e8bd20a7ec05f0d308fd118ec32987b5d6d7a8b]");
    assert_eq!(view.binary.unwrap().hashed, Hashed::Kept(400));
}

/// A caller waits for the answer. Eight gigabytes of a file without blocks are soon made.
#[test]
fn binary_output_that_would_take_long_to_hash_is_described_without_a_hash() {
    let spool = Spool::new(png(1000));
    spool.file.set_len(8 << 30).unwrap();
    let source = |spooled| Source {
        file: &spool.file,
        path: Path::new("/spool/7/stdout"),
        begins: 0,
        spooled,
        total: 8 << 30,
        tail: &[],
        lost: None,
        read_as: None,
    };
    let begun = std::time::Instant::now();
    insta::assert_snapshot!(view(&source(8 << 30), Limit::Chars(10)).text, @"[binary output (PNG image): 8589934592 bytes, kept in /spool/7/stdout]");
    insta::assert_snapshot!(view(&source(1 << 30), Limit::Chars(10)).text, @"[binary output (PNG image): 8589934592 bytes; only the first 1073741824 of 8589934592 bytes are kept, in /spool/7/stdout: the capture limit was reached]");
    assert!(begun.elapsed() < std::time::Duration::from_secs(1), "{:?}", begun.elapsed());
}

/// A number of a line would lead to its beginning again.
#[test]
fn what_is_left_out_of_one_long_line_is_counted_in_bytes() {
    let spool = Spool::new(format!("begin\n{}end\n", "word ".repeat(10_000)).into_bytes());
    let source = |begins: u64, stream| Source {
        begins,
        spooled: spool.bytes.len() as u64 - begins,
        total: spool.bytes.len() as u64 - begins,
        read_as: Some(ReadAs { id: "01J", stream, first_line: 1 }),
        ..Source::whole(&spool.file, Path::new("/spool/7/stdout"))
    };
    let mark = |begins, stream| {
        let text = view(&source(begins, stream), Limit::Tokens(100)).text;
        text.lines().find(|line| line.starts_with("[… ")).unwrap().to_owned()
    };
    insta::assert_snapshot!(mark(0, "stdout"), @r#"[… 49,410 bytes of a line left out: shell_output {"id":"01J","from":297}]"#);
    insta::assert_snapshot!(mark(1_000, "stderr"), @r#"[… 48,405 bytes of a line left out: shell_output {"id":"01J","from":1307,"stream":"stderr"}]"#);
}

#[test]
fn short_and_zero_separated_output_is_text() {
    assert_eq!(Spool::new(b"\x01\x02\0\0\xff".to_vec()).view(Limit::Chars(10)).text, "\u{fffd}");
    let found = Spool::new(b"./a file\0./another\0".repeat(1000)).view(Limit::Bytes(1 << 20));
    assert!(found.text.starts_with("./a file./another"));
    let mut mixed = b"text\n".repeat(4000);
    mixed.extend(vec![0; 20000]);
    assert!(Spool::new(mixed).view(Limit::Chars(10)).binary.is_some(), "the middle is looked at");
}

#[test]
fn the_hash_is_that_of_sha256sum() {
    let hash = |bytes: &[u8]| Spool::new(bytes.to_vec()).view(Limit::Chars(1)).binary.unwrap().sha256;
    // From `sha256sum`.
    assert_eq!(hash(&[0; 64]), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

proptest! {
    #[test]
    fn any_bytes_any_limit(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            "[a-zé日\n\r\x1b\x08\\[0-9;AKJH… ]{0,300}".prop_map(String::into_bytes),
        ],
        amount in 0usize..120,
        in_chars in any::<bool>(),
        kept in 0usize..=100,
        tail in 0usize..=100,
    ) {
        let limit = if in_chars { Limit::Chars(amount) } else { Limit::Bytes(amount) };
        let spooled = bytes.len() * kept / 100;
        let tail = bytes.len() * tail / 100;
        let view = Spool::partly(bytes, spooled, tail).view(limit);
        let bad = view.text.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t');
        prop_assert_eq!(bad, None);
        let markers: Vec<&str> =
            view.text.lines().filter(|line| marker::MARKER_STARTS.iter().any(|start| line.starts_with(start))).collect();
        prop_assert_eq!(markers.len(), usize::from(view.truncated));
        // The marker's newline, and one for a head that ended within a line.
        let marker = markers.first().map_or(0, |line| limit.measure(line) + 2);
        if view.binary.is_none() {
            prop_assert!(limit.measure(&view.text) <= amount + marker, "{:?}", view.text);
        }
    }

    #[test]
    fn plain_text_counts_exactly(text in "[a-zé日\n]{0,300}", amount in 0usize..200) {
        let view = Spool::new(text.clone()).view(Limit::Bytes(amount));
        prop_assert_eq!(view.truncated, text.len() > amount);
        if let Some(marker) = view.text.lines().find(|line| line.starts_with("[… ")) {
            let count: usize = marker.split(' ').nth(1).unwrap().parse().unwrap();
            let (head, tail) = view.text.split_once(marker).unwrap();
            let tail = tail.strip_prefix('\n').unwrap();
            let head = if text.starts_with(head) { head } else { head.strip_suffix('\n').unwrap() };
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            // A newline after the head may be the marker's or the text's.
            prop_assert!((head.len() + count + tail.len()).abs_diff(text.len()) <= 1);
        }
    }
}

/// `cargo test --release -p shellgate-text tests::speed -- --ignored --nocapture`
#[test]
#[ignore = "measures, doesn't assert"]
fn speed() {
    let size = 8 << 20;
    let fill = |part: &str| part.repeat(size / part.len()).into_bytes();
    let mut many_rows = String::new();
    for n in 0..40 {
        many_rows.push_str(&format!("\x1b[2Klayer {n} [====>    ] 12.3MB/40MB\n"));
    }
    many_rows.push_str("\x1b[40A");
    let cases = [
        ("plain", fill("a line of ordinary text, as compilers write it\n")),
        ("plain, not ASCII", fill("größer als 日本語 text °C\n")),
        ("CRLF", fill("a line of ordinary text, as compilers write it\r\n")),
        ("colours", fill("\x1b[1m\x1b[32m   Compiling\x1b[0m serde v1.0.229\n")),
        ("a code per character", fill("\x1b[31ma\x1b[0mb")),
        ("a progress bar", fill("\r[=====>     ] 12.3 MB of 40 MB")),
        ("forty rows redrawn", fill(&many_rows)),
        ("cursor moves", fill("\x1b[5Ax\x1b[5B\x1b[3D\x1b[K")),
        ("screen clears", fill("x\x1b[2J\x1b[H")),
        ("latin-1", b"un \xe9t\xe9 \xe0 la mer, o\xf9 l'on r\xeave\r\n".repeat(size / 34)),
        ("invalid bytes and codes", b"\xff\xfe\x1b[m".repeat(size / 5)),
        ("long row edited", [fill("a").as_slice(), &b"\r\x1b[1P\x1b[1@\x1b[1K".repeat(size / 20)].concat()),
        ("delete rows", fill("\n\n\n\x1b[3A\x1b[M\x1b[L")),
        ("unended strings", fill("\x1b]0;\x1bP\x1b_")),
    ];
    for (name, bytes) in cases {
        let length = bytes.len() as f64 / 1e6;
        let start = Instant::now();
        let text = super::render::render(bytes, 0).text;
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {:.0} MB/s, {:.1} MB of text", length / seconds, text.len() as f64 / 1e6);
    }
    let spool = Spool::new(lines(600_000));
    let start = Instant::now();
    let text = spool.view(Limit::Chars(30_000)).text;
    println!("a view of 7.2 MB: {:?}, {} bytes", start.elapsed(), text.len());
}

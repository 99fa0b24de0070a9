//! Plays raw bytes on a screen.

use vte::Parser;

use super::{
    codes,
    marks::{Marks, Rendered},
    plain,
    screen::Screen,
};

/// The clean text of `bytes`, which begin at offset `base` of their stream.
pub(crate) fn render(bytes: Vec<u8>, base: u64) -> Rendered {
    let length = bytes.len();
    let bytes = if plain::is_free_of_controls(&bytes) {
        match String::from_utf8(bytes) {
            Ok(text) => return Rendered::new(text, Marks::default(), base, length),
            Err(error) => error.into_bytes(),
        }
    } else {
        bytes
    };
    let (text, marks) = play(&bytes);
    Rendered::new(text, marks, base, length)
}

fn play(bytes: &[u8]) -> (String, Marks) {
    let mut screen = Screen::new();
    let mut parser = Parser::new();
    let mut at = 0;
    while let Some((first, after)) = bytes.get(at..).and_then(<[u8]>::split_first) {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = match first {
            0x1b => escape(&mut parser, &mut screen, rest),
            0xc2 if plain::is_c1(after.first()) => 2,
            // The two bytes of U+00A0 to U+00BF, or an invalid byte: printing distinguishes them.
            0xc2 => print(&mut screen, rest, 1 + plain::run_length(after)),
            _ => match plain::run_length(rest) {
                0 => {
                    // A new row begins at the next byte.
                    screen.set_position(at + 1);
                    codes::apply_control(&mut screen, *first);
                    1
                }
                run => print(&mut screen, rest, run),
            },
        };
        at += length;
        screen.set_position(at);
    }
    screen.finish()
}

/// Prints the first `length` bytes of `rest`.
fn print(screen: &mut Screen, rest: &[u8], length: usize) -> usize {
    for chunk in rest.get(..length).unwrap_or_default().utf8_chunks() {
        if !chunk.valid().is_empty() {
            screen.print(chunk.valid());
        }
        if !chunk.invalid().is_empty() {
            screen.print("\u{fffd}");
        }
    }
    length
}

fn escape(parser: &mut Parser, screen: &mut Screen, rest: &[u8]) -> usize {
    match rest.get(1) {
        // Not the start of a sequence.
        None | Some(0x1b) => 1,
        // If the string has no end, only its introducer is dropped: else all the rest would be lost. This happens once
        // at most, because any further ESC would end the string, so the time stays linear.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => codes::string_length(rest).unwrap_or(2),
        Some(_) => {
            let length = codes::sequence_length(rest);
            codes::apply(parser, screen, rest.get(..length).unwrap_or_default());
            length
        }
    }
}

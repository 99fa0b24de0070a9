//! Applies escape sequences to the screen.

use vte::{Params, Parser, Perform};

use super::screen::{Erase, Screen};

/// The length of the escape sequence at the start of `bytes`, up to its final byte or to a byte that aborts it. Not
/// for string sequences.
pub(super) fn sequence_length(bytes: &[u8]) -> usize {
    // After `ESC [` come parameters and then a final byte, after a bare `ESC` intermediate bytes and then a final byte.
    let finals = if bytes.get(1) == Some(&b'[') { 0x40..=0x7e } else { 0x30..=0x7e };
    let prefix = if bytes.get(1) == Some(&b'[') { 2 } else { 1 };
    for (at, byte) in bytes.iter().enumerate().skip(prefix) {
        match byte {
            0x1b => return at,
            0x18 | 0x1a => return at + 1,
            final_byte if finals.contains(final_byte) => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

/// The length of the string sequence (OSC, DCS, SOS, PM, APC) at the start of `bytes`, with its terminator. `None`: it
/// isn't a string sequence, or has no end.
pub(super) fn string_length(bytes: &[u8]) -> Option<usize> {
    let introducer = bytes.get(1)?;
    if !b"]PX^_".contains(introducer) {
        return None;
    }
    let body = bytes.get(2..)?;
    let ends = |byte: &u8| matches!(byte, 0x1b | 0x18 | 0x1a) || (*byte == 0x07 && *introducer == b']');
    let end = 2 + body.iter().position(ends)?;
    match (bytes.get(end)?, bytes.get(end + 1)) {
        (0x1b, Some(b'\\')) => Some(end + 2),
        // Another sequence begins: it is played next.
        (0x1b, _) => Some(end),
        _ => Some(end + 1),
    }
}

/// Plays one sequence, whose length [`sequence_length`] has measured.
pub(super) fn apply(parser: &mut Parser, screen: &mut Screen, bytes: &[u8]) {
    let mut codes = Codes { screen, complete: false };
    parser.advance(&mut codes, bytes);
    if !codes.complete {
        // The sequence was aborted. A new parser keeps its state out of the next one.
        *parser = Parser::new();
    }
}

/// Applies a control character other than ESC. Inside a sequence it means the same as outside.
pub(super) fn apply_control(screen: &mut Screen, byte: u8) {
    match byte {
        b'\n' => screen.newline(),
        b'\r' => screen.carriage_return(),
        0x08 => screen.left(1),
        b'\t' => screen.print("\t"),
        _ => {}
    }
}

struct Codes<'a> {
    screen: &'a mut Screen,
    complete: bool,
}

impl Perform for Codes<'_> {
    fn execute(&mut self, byte: u8) {
        apply_control(self.screen, byte);
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _ignore: bool, byte: u8) {
        self.complete = true;
        match (intermediates, byte) {
            ([], b'7') => self.screen.save(),
            ([], b'8') => self.screen.restore(),
            ([], b'D' | b'E') => self.screen.newline(),
            ([], b'M') => self.screen.up(1),
            ([], b'c') => self.screen.start_screen(),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        self.complete = true;
        let numbers = Numbers(params);
        match (intermediates, action) {
            _ if ignore => {}
            ([], _) => cursor(self.screen, &numbers, action),
            (b"?", 'h' | 'l') if matches!(numbers.raw(0), 47 | 1047 | 1049) => self.screen.start_screen(),
            _ => {}
        }
    }
}

fn cursor(screen: &mut Screen, numbers: &Numbers<'_>, action: char) {
    let count = numbers.count(0);
    match action {
        'A' => screen.up(count),
        'B' | 'e' => screen.down(count),
        'C' | 'a' => screen.right(count),
        'D' => screen.left(count),
        'E' => {
            screen.down(count);
            screen.carriage_return();
        }
        'F' => {
            screen.up(count);
            screen.carriage_return();
        }
        'G' | '`' => screen.move_to_column(count - 1),
        'd' => screen.move_to_row(count - 1),
        'H' | 'f' => {
            screen.move_to_row(count - 1);
            screen.move_to_column(numbers.count(1) - 1);
        }
        'J' => erased_part(numbers.raw(0)).into_iter().for_each(|part| screen.erase_screen(part)),
        'K' => erased_part(numbers.raw(0)).into_iter().for_each(|part| screen.erase_row(part)),
        'L' => screen.insert_rows(count),
        'M' => screen.delete_rows(count),
        'P' => screen.delete_characters(count),
        'X' => screen.blank_characters(count),
        '@' => screen.insert_characters(count),
        's' => screen.save(),
        'u' => screen.restore(),
        _ => {}
    }
}

/// Which part a sequence erases. `None`: the scrollback (`3`) or an unknown part.
fn erased_part(number: usize) -> Option<Erase> {
    match number {
        0 => Some(Erase::After),
        1 => Some(Erase::Before),
        2 => Some(Erase::All),
        _ => None,
    }
}

/// The numeric parameters of a sequence.
struct Numbers<'a>(&'a Params);

impl Numbers<'_> {
    /// The number as written, or 0 if it is absent.
    fn raw(&self, index: usize) -> usize {
        self.0.iter().nth(index).and_then(<[u16]>::first).map_or(0, |number| usize::from(*number))
    }

    /// The number as a count or a position: absent and 0 mean 1.
    fn count(&self, index: usize) -> usize {
        self.raw(index).max(1)
    }
}

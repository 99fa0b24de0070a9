//! Finds the end of a construct before reading what is inside, where bash does that too.

use super::{Parser, Read};

impl Parser<'_> {
    /// The position of the `close` that belongs to the `open` at `start`. Quotes and backslashes protect; everything else
    /// counts, also in what looks like a comment or a substitution.
    pub(super) fn matched(&mut self, start: usize, open: u8, close: u8) -> Read<usize> {
        let mut depth = 1_usize;
        let mut at = start + 1;
        let mut dollar = false;
        loop {
            at = self.joined(at);
            let Some(byte) = self.byte(at) else {
                let open = char::from(open);
                return self.error(start, format!("the `{open}` is never closed"));
            };
            let after_dollar = dollar;
            dollar = byte == b'$' && !after_dollar;
            if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
            } else if byte == open {
                depth += 1;
            }
            at = match byte {
                b'\\' => at + 2,
                b'\'' => self.single_end(at, after_dollar)? + 1,
                b'"' => self.double_end(at)? + 1,
                b'`' => self.backtick_end(at)? + 1,
                _ => at + 1,
            };
        }
    }

    /// The position of the `'` that closes the one at `start`.
    pub(super) fn single_end(&self, start: usize, escapes: bool) -> Read<usize> {
        let mut at = start + 1;
        loop {
            match self.byte(at) {
                None => return self.error(start, "the `'` is never closed"),
                Some(b'\'') => return Ok(at),
                Some(b'\\') if escapes => at += 2,
                Some(_) => at += 1,
            }
        }
    }

    /// The position of the backtick that closes the one at `start`.
    pub(super) fn backtick_end(&self, start: usize) -> Read<usize> {
        let mut at = start + 1;
        loop {
            match self.byte(at) {
                None => return self.error(start, "the backtick is never closed"),
                Some(b'`') => return Ok(at),
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
            }
        }
    }

    /// The position of the `"` that closes the one at `start`. Only reading what is inside finds it. What was found is
    /// remembered, so that constructs in constructs aren't read again and again.
    fn double_end(&mut self, start: usize) -> Read<usize> {
        if let Some(&end) = self.double_quotes.get(&start)
            && end < self.end
        {
            return Ok(end);
        }
        let (pos, warnings) = (self.pos, (self.warnings.doubts.len(), self.warnings.hazards.len()));
        self.pos = start + 1;
        self.double_pieces(start)?;
        let end = self.pos - 1;
        self.pos = pos;
        self.warnings.doubts.truncate(warnings.0);
        self.warnings.hazards.truncate(warnings.1);
        Ok(end)
    }

    /// Whether every parenthesis in `start..end` has its partner there.
    pub(super) fn balanced(&mut self, start: usize, end: usize) -> Read<bool> {
        let mut depth = 0_usize;
        let mut at = start;
        while at < end {
            at = match self.byte(at) {
                Some(b'(') => {
                    depth += 1;
                    at + 1
                }
                Some(b')') if depth == 0 => return Ok(false),
                Some(b')') => {
                    depth -= 1;
                    at + 1
                }
                Some(b'\\') => at + 2,
                Some(b'\'') => self.single_end(at, false)? + 1,
                Some(b'"') => self.double_end(at)? + 1,
                Some(_) => at + 1,
                None => return Ok(false),
            };
        }
        Ok(depth == 0)
    }
}

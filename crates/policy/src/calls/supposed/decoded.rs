//! Texts that are written in another form: escapes, base64, hexadecimal digits.

/// A text with the escapes of `printf` and `echo -e` put in.
pub(super) fn escapes(text: &str) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c != '\\' {
            all.push(c);
            continue;
        }
        let Some(sign) = rest.chars().next() else { break };
        let behind = rest.get(sign.len_utf8()..).unwrap_or_default();
        let (digits, base, most) = match sign {
            'x' => (behind, 16, 2),
            'u' => (behind, 16, 4),
            'U' => (behind, 16, 8),
            '0' => (behind, 8, 3),
            '1'..='7' => (rest, 8, 3),
            _ => {
                rest = behind;
                match sign {
                    'n' => all.push('\n'),
                    't' => all.push('\t'),
                    'r' => all.push('\r'),
                    'a' | 'b' | 'f' | 'v' | 'c' => {}
                    'e' | 'E' => all.push('\u{1b}'),
                    other => all.push(other),
                }
                continue;
            }
        };
        if sign == '0' && !digits.starts_with(|c: char| c.is_digit(base)) {
            all.push('\0');
        }
        let length = digits.chars().take(most).take_while(|c| c.is_digit(base)).count();
        let number = digits.get(..length).and_then(|digits| u32::from_str_radix(digits, base).ok());
        all.extend(number.and_then(char::from_u32));
        rest = digits.get(length..).unwrap_or_default();
    }
    all
}

/// What base64 stands for, if that is text.
pub(super) fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for c in text.bytes().filter(|c| !c.is_ascii_whitespace() && *c != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.extend(u8::try_from(bits >> count & 0xff));
        }
    }
    String::from_utf8(bytes).ok()
}

/// What pairs of hexadecimal digits stand for, if that is text.
pub(super) fn hex(text: &str) -> Option<String> {
    let digits: Option<Vec<u32>> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect();
    let pairs = digits?;
    let bytes: Option<Vec<u8>> = pairs
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::{base64, escapes, hex};

    #[test]
    fn texts_are_decoded() {
        assert_eq!(escapes(r"a\nb\x41\101\\c\0101"), "a\nbAA\\cA");
        assert_eq!(base64("cm0gLXJmIH4=\n").as_deref(), Some("rm -rf ~"));
        assert_eq!(base64("cm0*"), None);
        assert_eq!(hex("726d 207e").as_deref(), Some("rm ~"));
        assert_eq!(hex("7"), None);
    }
}

//! The text of a file of settings, read character by character as git reads it. Lines say little: a header and a setting may stand
//! on one, a value may go on over several, and a part of it may be quoted.

use super::Setting;

/// The settings of a text, and whether all of it is as git wants it. Git takes no setting of a text that isn't; here those are read
/// that stand around what is wrong.
pub(super) fn read(text: &[u8]) -> (Vec<Setting>, bool) {
    let rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = Reader { rest, last: b'\n', is_certain: true };
    let mut found = Vec::new();
    let mut section = Some((String::new(), None));
    while let Some(byte) = reader.next() {
        match byte {
            _ if is_blank(byte) => {}
            b'#' | b';' => reader.skip_line(),
            b'[' => section = reader.header().or_else(|| reader.fail()),
            _ if byte.is_ascii_alphabetic() => {
                let (key, value) = reader.setting(byte);
                if let Some((section, part)) = &section {
                    found.push(Setting { section: section.clone(), part: part.clone(), key, value });
                }
            }
            _ => _ = reader.fail::<()>(),
        }
    }
    (found, reader.is_certain)
}

/// What git takes for a blank.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

struct Reader<'t> {
    rest: &'t [u8],
    /// What was read last.
    last: u8,
    is_certain: bool,
}

impl Reader<'_> {
    /// The next character. The ends of lines of another system are those of ours.
    fn next(&mut self) -> Option<u8> {
        let rest = self.rest.strip_prefix(b"\r").filter(|rest| rest.first() == Some(&b'\n'));
        let (first, rest) = rest.unwrap_or(self.rest).split_first()?;
        (self.rest, self.last) = (rest, *first);
        Some(*first)
    }

    /// The next character. A text ends as a line does.
    fn next_or_end(&mut self) -> u8 {
        self.next().unwrap_or_else(|| {
            self.last = b'\n';
            b'\n'
        })
    }

    fn skip_line(&mut self) {
        while self.last != b'\n' && self.next().is_some() {}
    }

    /// Notes that the line isn't as git wants it, and goes on behind it.
    fn fail<T>(&mut self) -> Option<T> {
        self.is_certain = false;
        self.skip_line();
        None
    }

    /// The section and its part, behind the bracket.
    fn header(&mut self) -> Option<(String, Option<String>)> {
        let mut name = String::new();
        let mut part = None;
        loop {
            match self.next()? {
                b']' => break,
                byte if is_blank(byte) => {
                    part = Some(self.part()?);
                    break;
                }
                byte if is_key(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase().into()),
                _ => return None,
            }
        }
        (!name.is_empty()).then_some(())?;
        Some(match name.split_once('.') {
            Some((section, rest)) => {
                let whole = part.map_or_else(|| rest.to_owned(), |part| format!("{rest}.{part}"));
                (section.to_owned(), Some(whole))
            }
            None => (name, part),
        })
    }

    /// The quoted part of a header, behind a blank.
    fn part(&mut self) -> Option<String> {
        while is_blank(self.last) {
            if self.last == b'\n' {
                return None;
            }
            self.next()?;
        }
        (self.last == b'"').then_some(())?;
        let mut part = Vec::new();
        loop {
            let byte = match self.next()? {
                b'"' => break,
                b'\\' => self.next()?,
                byte => byte,
            };
            (byte != b'\n').then_some(())?;
            part.push(byte);
        }
        (self.next()? == b']').then(|| String::from_utf8_lossy(&part).into_owned())
    }

    /// A key and its value. `first`: the first character of the key.
    fn setting(&mut self, first: u8) -> (String, Vec<u8>) {
        let mut key = String::from(char::from(first.to_ascii_lowercase()));
        let mut byte = self.next_or_end();
        while is_key(byte) {
            key.push(byte.to_ascii_lowercase().into());
            byte = self.next_or_end();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next_or_end();
        }
        let value = match byte {
            b'\n' => Vec::new(),
            b'=' => self.value(),
            _ => self.fail().unwrap_or_default(),
        };
        (key, value)
    }

    fn value(&mut self) -> Vec<u8> {
        let mut value = Vec::new();
        let mut is_quoted = false;
        // Where the blanks begin that nothing follows yet.
        let mut blanks = None;
        loop {
            let byte = self.next_or_end();
            match byte {
                b'\n' => {
                    self.is_certain &= !is_quoted;
                    break;
                }
                _ if is_blank(byte) && !is_quoted => {
                    blanks = blanks.or(Some(value.len()));
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                b'#' | b';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                _ => {}
            }
            blanks = None;
            match byte {
                b'\\' => match self.next_or_end() {
                    b'\n' => {}
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    other => {
                        self.is_certain &= matches!(other, b'\\' | b'"');
                        value.push(other);
                    }
                },
                b'"' => is_quoted = !is_quoted,
                _ => value.push(byte),
            }
        }
        value.truncate(blanks.unwrap_or(value.len()));
        // For git a value ends there.
        if let Some(end) = value.iter().position(|byte| *byte == 0) {
            self.is_certain = false;
            value.truncate(end);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    /// What git itself reads from a text: names and values. `None`: it fails.
    fn by_git(text: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, text).unwrap();
        let mut git = std::process::Command::new("git");
        git.args(["config", "--null", "--list", "--no-includes", "--file"]).arg(&file);
        let output = git.output().unwrap();
        output.status.success().then_some(())?;
        let settings = output.stdout.split(|byte| *byte == 0).filter(|setting| !setting.is_empty());
        let pair = |setting: &[u8]| {
            let end = setting.iter().position(|byte| *byte == b'\n').unwrap_or(setting.len());
            let name = String::from_utf8_lossy(&setting[..end]).into_owned();
            (name, setting.get(end + 1..).unwrap_or_default().to_vec())
        };
        Some(settings.map(pair).collect())
    }

    fn by_us(text: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
        let (settings, is_certain) = read(text);
        let settings = settings.into_iter().map(|setting| {
            let part = setting.part.map(|part| format!(".{part}")).unwrap_or_default();
            let name = format!("{}{part}.{}", setting.section, setting.key);
            (name.trim_start_matches('.').to_owned(), setting.value)
        });
        is_certain.then(|| settings.collect())
    }

    /// Each is compared with what git says. The first ones are what the line by line reading before did not see.
    const TEXTS: &[&[u8]] = &[
        b"[core]\n\thooksPath = gh\n",
        b"[core] hooksPath = gh\n",
        b"[core]hooksPath=gh",
        b"[core]\n\thooksPath = gh # ours\n",
        b"[core]\n\thooksPath = gh ; ours\n",
        b"[core]\n\thooksPath = g\"h\"\n",
        b"[core]\n\thooksPath = \"g h\" i  \"# no comment\"  # one\n",
        b"[core]\n\thooksPath = g\\\nh\n",
        b"[core]\n\thooksPath = g\\\r\nh\r\n",
        b"[core]\n\thooksPath = \"g\\\\h\\\"\\t\\n\"\n",
        b"[CORE]\n\tHOOKSPATH = gh\n",
        b"[include] path = ../inc1\n[includeIf \"gitdir:/**]x\"]\n\tpath = a\n[includeIf \"gitdir:**\"] path = b\n",
        b"[include.x]\n\tpath=../q\n[core]\n\thooksPath=gh\n",
        b"[a.B \"c\"]\nd = e\n",
        b"[a \t \"B\\\"c\\\\\"]\nd = e\n",
        b"\xef\xbb\xbf[core]\r\n\thooksPath = gh\r\n",
        b"[core]\nbare\nx-y = \nz=#\n",
        b"[core]\nbare  \n# [core]\n; a = b\n  # c\n[d] # e\nf = g\n",
        b"[a] b = c # d\\\ne = f\n",
        b"[a] b = \"c\" \\\n  d\n",
        b"[a] b = c \\\n",
        b"[a] b = c\rd\n",
        b"[a]\r[b]\rc = d\n",
        b"[a] b = c",
        b"[a] b = \\",
        b"[a][b] c = d [e]\n",
        b"[] a = b\n",
        b"[a]\nb.c = d\n",
        b"[core\t]\n\thooksPath = gh\n",
        b"[core \"]\nhooksPath = gh\n",
        b"[core\nhooksPath = gh\n",
        b"[a \"b\" ]\nc = d\n",
        b"[a]\nb = \"c\nd = e\n",
        b"[a]\nb = \\x\n",
        b"[a]\n=b\n",
        b"[a]\n1b = c\n",
        b"[a]\nb c = d\n",
        b"[a_b]\nc = d\n",
        b"b = c\n",
        b"[a]\nb = c\x0bd\n",
        b"[a]\n\x0cb = c\n",
        b"[a]\nb = \xff\n",
        b"",
    ];

    #[test]
    fn a_text_is_read_as_git_reads_it() {
        for text in TEXTS {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(by_us(text), by_git(text), "{shown:?}");
        }
    }

    #[test]
    fn what_stands_around_a_wrong_line_is_read() {
        let (settings, is_certain) = read(b"[a]\nb = c\n[d\ne = f\n[g]\nh = i\n");
        let names: Vec<String> = settings.iter().map(super::Setting::name).collect();
        assert_eq!((names, is_certain), (vec!["a.b".to_owned(), "g.h".to_owned()], false));
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(200))]
        #[test]
        fn any_text_is_read_as_git_reads_it(pieces in proptest::collection::vec(
            proptest::sample::select(&["[a]", "[b \"c\"]", "[", "]", "\"", "\\", "\n", "\r\n", " ", "\t", "=", "d", "e-1", "#", ";", ".", "\r"][..]), 0..14))
        {
            let text = format!("[x]\ny = z\n{}", pieces.concat());
            if let (Some(ours), Some(theirs)) = (by_us(text.as_bytes()), by_git(text.as_bytes())) {
                proptest::prop_assert_eq!(ours, theirs, "{:?}", text);
            } else if let Some(theirs) = by_git(text.as_bytes()) {
                // Less certain than git is no harm, if nothing is missed.
                let (settings, _) = read(text.as_bytes());
                proptest::prop_assert!(settings.len() >= theirs.len(), "{:?}", text);
            }
        }
    }
}

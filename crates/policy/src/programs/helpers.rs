//! What programs do by themselves, for their own work: the programs that they start (`git fetch` starts `git-remote-https`), and the files
//! that they keep (`git status` writes the index anew).
//!
//! No rule and no preset looks at this: it is what is expected of a program whatever its words say.

use super::words::{HELPER_PROGRAMS, OWN_FILES};

/// Whether a program starts one of this name for its own work.
#[must_use]
pub fn is_helper(program: &str, helper: &str) -> bool {
    rows_of(HELPER_PROGRAMS, program).flatten().any(|name| fits(name, helper))
}

/// Whether a program keeps a file of this path for itself.
#[must_use]
pub fn is_own_file(program: &str, path: &str) -> bool {
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    rows_of(OWN_FILES, program).flatten().any(|pattern| {
        let pattern: Vec<&str> = pattern.split('/').collect();
        let fits = |part: &[&str]| pattern.iter().zip(part).all(|(pattern, name)| fits(pattern, name));
        names.windows(pattern.len()).any(fits)
    })
}

/// The words behind the program in each of its rows.
fn rows_of<'a>(
    rows: &'a [&'static str],
    program: &'a str,
) -> impl Iterator<Item = std::str::Split<'static, char>> + 'a {
    rows.iter().filter_map(move |row| {
        let mut words = row.split(' ');
        words.next().filter(|name| fits(name, program)).map(|_| words)
    })
}

/// Whether a name is the pattern, or begins with it up to its star.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_helper, is_own_file};

    #[test]
    fn helpers_belong_to_their_program() {
        assert!(is_helper("git", "git-remote-https") && is_helper("gcc", "cc1"));
        assert!(!is_helper("git", "cc1") && !is_helper("make", "cc1") && !is_helper("gcc", "cc1x"));
    }

    #[test]
    fn own_files_belong_to_their_program() {
        assert!(is_own_file("git", ".git/index.lock") && is_own_file("git", "/r/sub/.git/index"));
        assert!(is_own_file("gcc", "/tmp/ccAbc.s") && is_own_file("npm", "/home/me/.npm/_logs/x.log"));
        assert!(!is_own_file("git", ".git/config") && !is_own_file("git", ".git/hooks/x"));
        assert!(!is_own_file("ls", ".git/index"));
        assert!(!is_own_file("git", "x.git/index") && !is_own_file("gcc", "/r/ccAbc.s"));
    }
}

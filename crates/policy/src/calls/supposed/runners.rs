//! Programs that run a package's program by its name: `npx prisma …`, `uvx twine …`, `yarn workspace x publish`.

use crate::programs::{ProgramKind, base_name, kind_of, listed_name, words};

/// Whether a row is about a program. It is asked for every call, so nothing is split.
fn begins_with(row: &str, name: &str) -> bool {
    row.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The program that a runner runs, and the place of the first of its own words. `words`: those of the whole call.
pub(crate) fn behind_runner(words: &[Option<&str>]) -> Option<(String, usize)> {
    let written = words.first().copied().flatten().map(base_name)?;
    let is_runner = |name: &&str| {
        let rows = [words::RUIN_OWN_RUNNERS, words::RUIN_RUNNERS, words::RUIN_CONTAINER_RUNNERS];
        rows.into_iter().flatten().any(|row| begins_with(row, name))
    };
    // `python3.11` is listed as `python3`.
    let name = [Some(written), listed_name(written)].into_iter().flatten().find(is_runner)?;
    let words: Vec<Option<&str>> = std::iter::once(Some(name)).chain(words.iter().skip(1).copied()).collect();
    let words = words.as_slice();
    let begins = |row: &str| begins_with(row, name);
    // `yarn workspace x publish` is `yarn publish` elsewhere.
    let own = words::RUIN_OWN_RUNNERS
        .iter()
        .filter(|row| begins(row))
        .filter_map(|row| behind_row(row, words))
        .max();
    let runner =
        words::RUIN_RUNNERS.iter().filter(|row| begins(row)).filter_map(|row| behind_row(row, words)).max();
    if let Some(behind) = own.filter(|own| Some(*own) > runner) {
        return Some((name.to_owned(), behind_options(words, behind)));
    }
    if let Some(at) = behind_container(name, words) {
        let program = words.get(at).copied().flatten().map(base_name)?;
        return words::RUIN_DATABASE_PROGRAMS.contains(&program).then(|| (program.to_owned(), at + 1));
    }
    let at = behind_options(words, runner?);
    let package = words.get(at).copied().flatten()?;
    Some((program_of(package), at + 1))
}

/// The place of the program that is run in a container.
fn behind_container(name: &str, words: &[Option<&str>]) -> Option<usize> {
    let rows = words::RUIN_CONTAINER_RUNNERS.iter().filter(|row| begins_with(row, name));
    rows.filter_map(|row| behind_row(row, words)).max().map(|behind| behind_options(words, behind))
}

/// The text that a shell in a container runs, if it uses a database: `docker exec db sh -c "psql -c …"`. Files there are others,
/// so a text that may delete some is left out.
pub(super) fn behind_container_shell(words: &[Option<&str>]) -> Option<String> {
    let name = words.first().copied().flatten().map(base_name)?;
    let at = behind_container(name, words)?;
    let shell = words.get(at).copied().flatten().map(base_name)?;
    let rest = words.get(at + 1..)?;
    let option = rest.iter().position(|word| {
        word.is_some_and(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))
    })?;
    let text = rest.get(option + 1).copied().flatten()?;
    let has =
        |list: &[&str]| text.split([' ', ';', '|', '&', '(']).any(|word| list.contains(&base_name(word)));
    let is_shell = kind_of(shell) == Some(ProgramKind::Shell);
    (is_shell && has(words::RUIN_DATABASE_PROGRAMS) && !has(&["rm", "mv", "find", "dd"]))
        .then(|| text.to_owned())
}

/// The place behind the options of the runner itself.
fn behind_options(words: &[Option<&str>], mut at: usize) -> usize {
    while let Some(option) = words.get(at).copied().flatten().filter(|word| word.starts_with('-')) {
        at += 1 + usize::from(words::RUIN_RUNNER_OPTIONS_WITH_VALUE.contains(&option));
    }
    at
}

/// How many words a row of the table takes, if the call begins so. `*` stands for one word.
fn behind_row(row: &str, words: &[Option<&str>]) -> Option<usize> {
    let mut at = 0;
    for (index, wanted) in row.split(' ').enumerate() {
        if index > 0 {
            at = behind_options(words, at);
        }
        let own = words.get(at)?;
        let fits = wanted == "*"
            || own.is_some_and(|own| if index == 0 { base_name(own) == wanted } else { own == wanted });
        fits.then_some(())?;
        at += 1;
    }
    Some(at)
}

/// The program of a package: `prisma@5` is `prisma`, and the table has those of another name.
fn program_of(package: &str) -> String {
    let without_version = match package.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => package.get(..at).unwrap_or(package),
        None => package.split("==").next().unwrap_or(package),
    };
    let other = words::RUIN_PACKAGE_PROGRAMS.iter().filter_map(|row| row.split_once(" = "));
    let other = other.into_iter().find(|(name, _)| *name == without_version).map(|(_, program)| program);
    other.unwrap_or(without_version).to_owned()
}

#[cfg(test)]
mod tests {
    use super::behind_runner;

    #[test]
    fn the_program_behind_a_runner_is_found() {
        for (text, wanted) in [
            ("npx prisma migrate reset", Some(("prisma", 2))),
            ("npx --yes prisma@5 migrate reset", Some(("prisma", 3))),
            ("npx -p prisma prisma migrate", Some(("prisma", 4))),
            ("npm exec -- npm publish", Some(("npm", 4))),
            ("pnpm dlx aws-cdk destroy", Some(("cdk", 3))),
            ("pnpm prisma migrate reset", Some(("prisma", 2))),
            ("yarn workspace x publish", Some(("yarn", 3))),
            ("pnpm recursive publish", Some(("pnpm", 2))),
            ("npx @vscode/vsce publish", Some(("vsce", 2))),
            ("uvx twine upload", Some(("twine", 2))),
            ("/usr/bin/python3.11 -m pip install x", Some(("pip", 3))),
            ("uv tool run twine==5 upload", Some(("twine", 4))),
            ("git push", None),
            ("npx", None),
        ] {
            let words: Vec<Option<&str>> = text.split(' ').map(Some).collect();
            let found = behind_runner(&words);
            assert_eq!(found.as_ref().map(|(name, at)| (name.as_str(), *at)), wanted, "{text}");
        }
    }
}

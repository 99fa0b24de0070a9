//! The files and folders that a call fetches or fills: by options (`-o x`, `-P folder`), by its address, by a redirect, by cloning.

use shellgate_syntax::{Invocation, Redirect, RedirectOperator, RedirectTarget};

use super::downloads::MAX_WORDS;
use super::supposed::plain_path;
use crate::programs::{Canonical, EffectKind, base_name, understand, words};

/// The folder that an invocation fetches as a whole: `git clone URL FOLDER`.
pub(super) fn cloned_folder(invocation: &Invocation) -> Option<String> {
    let words: Vec<&str> = invocation.words.iter().take(MAX_WORDS).map(|word| word.value.lead()).collect();
    let clones = words::RUIN_CLONING.iter().any(|row| {
        let mut own = words.iter();
        row.split(' ').all(|wanted| own.any(|word| base_name(word) == wanted))
    });
    if !clones || !words.first().is_some_and(|name| matches!(base_name(name), "git" | "gh" | "glab" | "hub"))
    {
        return None;
    }
    let meaning = understand(&invocation.words);
    let skip = meaning.subcommands.len();
    let mut operands = meaning.canonical.iter().skip(1).filter_map(|part| match part {
        Canonical::Word(value) => Some(value.lead()),
        Canonical::Option(..) => None,
    });
    let address = operands.nth(skip).filter(|address| address.contains(['/', ':']))?;
    let name = address.trim_end_matches('/').rsplit(['/', ':']).next()?.trim_end_matches(".git");
    let folder = operands.next().unwrap_or(name);
    Some(plain_path(folder).trim_end_matches('/').to_owned()).filter(|folder| !folder.is_empty())
}

/// The folder that `cd` enters.
pub(super) fn enters(invocation: &Invocation) -> Option<&str> {
    let mut words = invocation.words.iter().map(|word| word.value.known());
    let is_cd = matches!(words.next()??, "cd" | "pushd");
    let folder = words.flatten().find(|word| !word.starts_with('-'))?;
    is_cd.then(|| plain_path(folder).trim_end_matches('/'))
}

/// The files that the words of an invocation say it writes: `tee x`, `dd of=x`, and of a program that no table lists its operands.
pub(super) fn written_by_words(invocation: &Invocation) -> Vec<String> {
    let meaning = understand(&invocation.words);
    let of_effects = meaning.effects.iter().filter_map(|effect| match &effect.kind {
        EffectKind::Writes(word) => word.value.known(),
        _ => None,
    });
    let is_unlisted = meaning.kind.is_none();
    let operands =
        invocation.words.iter().skip(1).filter(|_| is_unlisted).filter_map(|word| word.value.known());
    of_effects.chain(operands.filter(|word| !word.starts_with('-'))).map(str::to_owned).collect()
}

/// The files that redirects of an invocation write.
pub(super) fn redirected(invocation: &Invocation) -> impl Iterator<Item = &str> {
    let writes = move |one: &&Redirect| {
        matches!(
            one.operator,
            RedirectOperator::Write
                | RedirectOperator::Append
                | RedirectOperator::Clobber
                | RedirectOperator::WriteBoth
        )
    };
    invocation.redirects.iter().filter(writes).filter_map(|redirect| match &redirect.target {
        RedirectTarget::Word(word) => word.value.known(),
        RedirectTarget::Body(_) => None,
    })
}

/// The files that an invocation writes what it fetches to.
pub(super) fn fetched_files(invocation: &Invocation) -> Vec<String> {
    let known: Vec<&str> = invocation.words.iter().filter_map(|word| word.value.known()).collect();
    let named = known.iter().enumerate().filter_map(|(at, word)| {
        let behind = |option: &&str| word.strip_prefix(*option).filter(|rest| !rest.is_empty());
        if words::RUIN_OUTPUT_OPTIONS.contains(word) || is_bundled_output(word) {
            return known.get(at + 1).copied();
        }
        let joined = words::RUIN_OUTPUT_OPTIONS.iter().filter(|option| option.starts_with("--"));
        joined.into_iter().find_map(behind).and_then(|rest| rest.strip_prefix('='))
    });
    // `-P FOLDER`: what has no name of its own is put there.
    let folder = known
        .windows(2)
        .find(|pair| pair.first().is_some_and(|word| words::RUIN_OUTPUT_FOLDER_OPTIONS.contains(word)));
    let folder = folder.and_then(|pair| pair.last().copied());
    // Of a copy from another machine the last word says where it goes: a folder, or a file.
    let is_copy = known.first().is_some_and(|name| words::RUIN_REMOTE_COPIERS.contains(&base_name(name)));
    let target = known.last().copied().filter(|_| is_copy && known.len() > 2);
    // Without a name, the file has that of the address. curl prints unless it is told so.
    let is_curl = known.first().is_some_and(|name| base_name(name) == "curl");
    let keeps_name = |word: &&str| {
        matches!(*word, "--remote-name" | "--remote-name-all" | "--remote-header-name")
            || word.starts_with('-') && !word.starts_with("--") && word.contains('O')
    };
    let is_named = !is_curl || known.iter().any(keeps_name);
    let addresses = invocation.words.iter().skip(1).filter(|_| is_named).map(|word| word.value.lead());
    let of_address =
        addresses.filter(|word| word.contains('/') || is_copy && word.contains(':')).filter_map(|address| {
            let path = address.split(['?', '#']).next().unwrap_or(address);
            path.rsplit(['/', ':']).next().filter(|name| !name.is_empty())
        });
    let in_folder = |name: &str| match folder.or(target) {
        Some(folder) if folder != "." => format!("{}/{name}", folder.trim_end_matches('/')),
        _ => name.to_owned(),
    };
    let of_address: Vec<String> = of_address.flat_map(|name| [name.to_owned(), in_folder(name)]).collect();
    let all = redirected(invocation).chain(named).chain(target).map(str::to_owned).chain(of_address);
    all.map(|path| plain_path(&path).to_owned()).collect()
}

/// Whether letters in one word end with an option for the output: `-fsSLo`, `-qO`.
fn is_bundled_output(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    letters.is_some_and(|letters| {
        letters.ends_with(['o', 'O']) && letters.chars().all(|c| c.is_ascii_alphabetic())
    })
}

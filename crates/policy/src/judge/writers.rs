//! What a single call does with files, by its program, its words and its redirects: whether it writes, copies, unpacks or
//! obeys them.

use shellgate_syntax::{Redirect, RedirectOperator, RedirectTarget, Value, Why, Word};

use super::links::has_option;
use super::patches::patches;
use crate::calls::Call;
use crate::programs::{Canonical, EffectKind, ProgramKind, Property, base_name, has, words};
use crate::redirects::is_descriptor;

/// Whether a call shows what lies on the disk.
pub(super) fn is_plain_reader(call: &Call) -> bool {
    // Labels, separators and messages of errors are content, too.
    let is_known = |word: &Word| {
        word.value.known().is_some_and(is_plain_text)
            || matches!(&word.value, Value::Unknown(unknown) if matches!(unknown.why, Why::Glob | Why::Tilde { .. }))
    };
    let shows = match call.meaning.entry {
        Some("git") => {
            let subcommand = call.meaning.subcommands.first();
            subcommand.is_some_and(|name| words::GIT_READING_SUBCOMMANDS.contains(name))
                && !call.words.iter().any(|word| word.value.lead().contains(['%', '=']))
        }
        Some(name) => words::PLAIN_READERS.contains(&name),
        None => false,
    };
    shows && call.words.iter().all(is_known) && !has_text_redirect(call)
}

/// Whether a call has a text of the command on its standard input.
pub(super) fn has_text_redirect(call: &Call) -> bool {
    let is_text = |redirect: &Redirect| {
        matches!(redirect.operator, RedirectOperator::HereString | RedirectOperator::HereDocument)
    };
    call.redirects.iter().any(is_text)
}

/// Whether a text hides no name from those who read it: it has no quotes, and no signs that shells and build tools expand.
fn is_plain_text(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || " _./:=,@%+-~^*?[]{}|#".contains(c))
}

/// Whether a call that writes files has a word that build tools might read otherwise than it looks, and may put it there: as
/// the name of a file, as a label, as a message.
pub(super) fn has_hiding_word(call: &Call) -> bool {
    let keeps_messages = || {
        let subcommand = call.meaning.subcommands.first();
        call.meaning.entry == Some("git")
            && subcommand.is_some_and(|name| words::GIT_SUBCOMMANDS_WITH_MESSAGE.contains(name))
    };
    let messages: Vec<&Value> = match keeps_messages() {
        true => call.meaning.canonical.iter().filter_map(message_of).collect(),
        false => Vec::new(),
    };
    let is_message = |value: &Value| messages.iter().any(|message| ends_with(value, message));
    let hides = |value: &Value| match value {
        Value::Known(text) => !is_plain_text(text),
        Value::Unknown(unknown) => !is_plain_text(&unknown.lead),
    };
    call.words.iter().skip(1).any(|word| hides(&word.value) && !is_message(&word.value))
}

/// The message of a commit, among the words of a call.
fn message_of(one: &Canonical) -> Option<&Value> {
    match one {
        Canonical::Option(name, Some(value)) if name == "-m" => Some(value),
        _ => None,
    }
}

/// Whether a word is a value, or ends with it: `-mTEXT`.
fn ends_with(word: &Value, value: &Value) -> bool {
    word == value || word.known().zip(value.known()).is_some_and(|(word, value)| word.ends_with(value))
}

/// Whether a call copies, renames, links or unpacks files, or replaces them by others.
pub(super) fn moves_files(call: &Call) -> bool {
    let Some(name) = call.name() else { return false };
    let git_moves = || {
        let subcommand = call.meaning.subcommands.first();
        subcommand.is_some_and(|name| words::GIT_TREE_SUBCOMMANDS.contains(name))
    };
    match name {
        "git" => git_moves(),
        _ => {
            has(name, Property::MakesLinks)
                || is_unpacker(call)
                || unpacks_text(call)
                || words::COMPRESSORS.contains(&name)
                || words::COPYING_PROGRAMS.contains(&name)
                    && !has(name, Property::WritesNoContent)
                    && written_by_words(call).next().is_some()
                || has(name, Property::NamesItsOutputs)
                || has(name, Property::RenamesByRule)
        }
    }
}

/// Whether a call that makes a file of others puts a text of its words into it that build tools may obey:
/// `gcc -MD -MT 'all:;id #' x.c`.
pub(super) fn packs_text(call: &Call) -> bool {
    let is_text = |word: &Word| match &word.value {
        Value::Known(text) => text.contains([';', '\n', '|', '&', '`', '#', '$']),
        Value::Unknown(unknown) => ["-D", "-M"].iter().any(|option| unknown.lead.starts_with(option)),
    };
    call.name().is_some_and(|name| words::PACKING_PROGRAMS.contains(&name))
        && call.words.iter().skip(1).any(is_text)
}

/// Whether a call makes files of its input whose names its words don't hold, or edits by its input.
pub(super) fn writes_its_input(call: &Call) -> bool {
    let name = call.name().unwrap_or_default();
    match call.meaning.entry {
        Some("git") => {
            let subcommand = call.meaning.subcommands.first();
            subcommand.is_some_and(|name| words::GIT_TEXT_SUBCOMMANDS.contains(name))
        }
        _ => {
            patches(call)
                || is_unpacker(call)
                || unpacks_text(call)
                || has(name, Property::NamesItsOutputs)
                || matches!(call.meaning.kind, None | Some(ProgramKind::Workbench)) && !call.words.is_empty()
        }
    }
}

/// Whether a call writes a text of its words into a file that build tools obey: `npm pkg set`.
pub(super) fn sets_by_words(call: &Call) -> bool {
    let sets = |row: &&str| {
        let mut parts = row.split(' ');
        parts.next() == call.meaning.entry
            && parts.all(|part| call.words.iter().any(|word| word.value.known() == Some(part)))
    };
    *call.derived.sets_by_words.get_or_init(|| words::WRITING_SUBCOMMANDS.iter().any(sets))
}

/// Whether a call keeps what it replaces, by a name that programs may obey: `sed -ifile s/a/b/ Make`.
pub(super) fn has_backup_suffix(call: &Call) -> bool {
    backup_suffixes(call).any(|suffix| suffix.is_none_or(|end| !words::PLAIN_BACKUP_ENDINGS.contains(&end)))
}

/// What a call adds to the names of the files that it replaces. `None`: something unknown.
pub(super) fn backup_suffixes(call: &Call) -> impl Iterator<Item = Option<&str>> {
    let options: &[&str] = match call.meaning.entry {
        Some("sed") => words::SED_IN_PLACE_OPTIONS,
        Some(name) if has(name, Property::KeepsBackups) => words::BACKUP_SUFFIX_OPTIONS,
        _ => &[],
    };
    call.meaning.canonical.iter().filter_map(move |one| match one {
        Canonical::Option(name, Some(value)) if options.contains(&name.as_str()) => Some(value.known()),
        _ => None,
    })
}

/// The words of a call that it reads.
pub(super) fn sources(call: &Call) -> impl Iterator<Item = &Word> {
    call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
        EffectKind::Reads(word) => Some(word),
        _ => None,
    })
}

/// The words of `git mv`, which names both what it moves and where to.
pub(super) fn moved_by_git(call: &Call) -> impl Iterator<Item = &Word> {
    let is_move = call.meaning.entry == Some("git") && call.meaning.subcommands.first() == Some(&"mv");
    call.words.iter().skip(1).filter(move |_| is_move)
}

/// Whether a call makes files with the names of others.
pub(super) fn copies_files(call: &Call) -> bool {
    call.meaning.entry.is_some_and(|name| has(name, Property::CopiesFiles))
}

/// The last name of a path.
pub(super) fn last_name(word: &Word) -> Option<String> {
    let path = match &word.value {
        Value::Known(path) => path.as_str(),
        Value::Unknown(unknown) => match &unknown.why {
            Why::Tilde { rest: Some(rest), .. } => rest.as_str(),
            _ => unknown.tail.as_deref().filter(|tail| tail.contains('/'))?,
        },
    };
    Some(base_name(path).to_owned())
}

/// Whether a word names a device: writing there makes no file.
pub(super) fn is_device(word: &Word) -> bool {
    word.value.known().is_some_and(|path| path.starts_with("/dev/"))
}

/// Whether a call makes files whose names are in what it reads, wherever those lead.
pub(super) fn unpacks_text(call: &Call) -> bool {
    let unpacks = || {
        let Some(name) = call.program().map(base_name) else { return false };
        let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        has(name, Property::UnpacksText) || has(unversioned, Property::UnpacksText)
    };
    *call.derived.unpacks_text.get_or_init(unpacks)
}

/// Whether a call runs what files say that its words needn't name.
pub(super) fn obeys_files(call: &Call) -> bool {
    let Some(name) = call.name() else { return false };
    call.meaning.kind == Some(ProgramKind::Builder)
        || has(name, Property::ObeysFiles)
        || name == "node" && has_option(call, &["--test"])
        || call.meaning.kind.is_none() && !call.words.is_empty() && !has(name, Property::MakesLinks)
}

/// Whether what a call writes has a content, other than an empty folder or the rights of a file.
pub(super) fn writes_content(call: &Call) -> bool {
    let name = call.name();
    !call.redirects.is_empty() || !name.is_some_and(|name| has(name, Property::WritesNoContent))
}

/// Whether a call copies, moves or links files.
pub(super) fn copies(call: &Call) -> bool {
    call.name().is_some_and(|name| has(name, Property::MakesLinks))
}

/// Whether a call edits files by words that hide no name: `sed -i s/1.0/1.1/ package.json`.
pub(super) fn edits_plainly(call: &Call) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " ._-/=,:^|@%+~#".contains(c);
    // Several edits can make a name together, and so can exchanged letters.
    let is_script = |one: &&Canonical| matches!(one, Canonical::Option(name, Some(_)) if name == "-e");
    let is_single = call.meaning.canonical.iter().filter(is_script).count() <= 1
        && !call.words.iter().any(|word| word.value.lead().starts_with('y'));
    call.name() == Some("sed")
        && is_single
        && call.words.iter().all(|word| word.value.known().is_some_and(|text| text.chars().all(is_plain)))
}

/// Whether a file of this name tells a build tool what to run.
pub(super) fn is_build_file(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    words::BUILD_FILES.iter().any(|file| match file.strip_prefix('*') {
        Some(end) => name.ends_with(end),
        None => name == *file,
    })
}

/// The files that a call writes, by its words or its redirects. Git writes its own files well.
pub(super) fn written(call: &Call) -> impl Iterator<Item = &Word> {
    written_by_words(call).chain(written_by_redirects(call))
}

/// The files that a call writes by its words.
pub(super) fn written_by_words(call: &Call) -> impl Iterator<Item = &Word> {
    let is_git = call.meaning.entry.is_some_and(|name| has(name, Property::RunsGit));
    call.meaning.effects.iter().filter_map(move |effect| match &effect.kind {
        EffectKind::Writes(word) if !is_git => Some(word),
        _ => None,
    })
}

/// The files that a call writes by its redirects.
pub(super) fn written_by_redirects(call: &Call) -> impl Iterator<Item = &Word> {
    call.redirects.iter().filter_map(|redirect| match (&redirect.target, redirect.operator) {
        (RedirectTarget::Word(word), RedirectOperator::DuplicateOut) if !is_descriptor(word) => Some(word),
        (
            RedirectTarget::Word(word),
            RedirectOperator::Write
            | RedirectOperator::Append
            | RedirectOperator::Clobber
            | RedirectOperator::ReadWrite
            | RedirectOperator::WriteBoth
            | RedirectOperator::AppendBoth,
        ) => Some(word),
        _ => None,
    })
}

/// Whether a program unpacks, with the right options.
pub(super) fn is_unpacker(call: &Call) -> bool {
    let name = call.name();
    name.is_some_and(|name| has(name, Property::Unpacks) || has(name, Property::UnpacksByLetter))
}

/// Whether a call makes files whose names it doesn't show: it unpacks, or copies a whole folder.
pub(super) fn may_unpack(call: &Call) -> bool {
    *call.derived.may_unpack.get_or_init(|| unpacks_unnamed(call))
}

fn unpacks_unnamed(call: &Call) -> bool {
    let Some(name) = call.name() else { return false };
    if has(name, Property::UnpacksByLetter) {
        let is_unknown = |word: &Word| word.value.known().is_none();
        if matches!(name, "ar" | "jar") {
            return has_option(call, &["-x"]);
        }
        return has_option(call, &["-x"]) || call.words.iter().any(is_unknown) || call.meaning.kind.is_none();
    }
    let ends_in_folder = |word: &Word| {
        let last = word.value.known().map(|path| base_name(path.trim_end_matches('/')));
        last.is_none_or(|last| matches!(last, ".git" | "." | ".." | ""))
    };
    let mut reads = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
        EffectKind::Reads(word) => Some(word),
        _ => None,
    });
    let mut listing = words::LISTING_OPTIONS.iter().filter_map(|row| row.split_once(' '));
    let only_lists = listing.any(|(program, option)| program == name && has_option(call, &[option]));
    has(name, Property::Unpacks) && !only_lists
        || name == "cp"
            && has_option(call, words::CP_RECURSIVE_OPTIONS)
            && (has_option(call, words::CP_WHOLE_OPTIONS) || reads.any(ends_in_folder))
}

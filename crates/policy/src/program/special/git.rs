//! Settings of `git -c KEY=VALUE`. Many of git's settings name programs, so only those that are known to be data are
//! data.

use super::super::What;
use super::super::sink::{Sink, after};
use shellgate_syntax::Word;

/// Settings that only change what is shown or stored, as `section.` or `section.key`.
const DATA: &[&str] = &[
    "advice.",
    "blame.",
    "branch.autosetupmerge",
    "branch.autosetuprebase",
    "branch.sort",
    "clean.requireforce",
    "color.",
    "column.",
    "commit.cleanup",
    "commit.gpgsign",
    "commit.status",
    "commit.verbose",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.commentchar",
    "core.compression",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.longpaths",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.protecthfs",
    "core.protectntfs",
    "core.quotepath",
    "core.safecrlf",
    "core.symlinks",
    "core.untrackedcache",
    "core.whitespace",
    "credential.interactive",
    "diff.algorithm",
    "diff.colormoved",
    "diff.colormovedws",
    "diff.context",
    "diff.ignoresubmodules",
    "diff.indentheuristic",
    "diff.interhunkcontext",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.relative",
    "diff.renamelimit",
    "diff.renames",
    "diff.statgraphwidth",
    "diff.statnamewidth",
    "diff.submodule",
    "diff.suppressblankempty",
    "diff.wserrorhighlight",
    "diff.wordregex",
    "feature.",
    "fetch.fsckobjects",
    "fetch.parallel",
    "fetch.prune",
    "fetch.prunetags",
    "fetch.recursesubmodules",
    "format.pretty",
    "gc.auto",
    "gc.autodetach",
    "grep.",
    "help.autocorrect",
    "http.postbuffer",
    "http.version",
    "i18n.",
    "index.",
    "init.defaultbranch",
    "log.",
    "merge.conflictstyle",
    "merge.ff",
    "merge.log",
    "merge.renames",
    "merge.stat",
    "notes.",
    "pack.",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "rebase.abbreviatecommands",
    "rebase.autosquash",
    "rebase.autostash",
    "rebase.stat",
    "rerere.enabled",
    "safe.directory",
    "showbranch.",
    "stash.",
    "status.",
    "submodule.recurse",
    "tag.gpgsign",
    "tag.sort",
    "transfer.fsckobjects",
    "user.email",
    "user.name",
    "user.signingkey",
    "user.useconfigonly",
    "versionsort.",
];

/// Settings whose value is a command for a shell. `*` is any middle part.
const COMMANDS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.askpass",
    "core.gitproxy",
    "core.fsmonitor",
    "core.alternaterefscommand",
    "sequence.editor",
    "diff.external",
    "diff.*.textconv",
    "diff.*.command",
    "difftool.*.cmd",
    "difftool.*.path",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "merge.*.driver",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "credential.helper",
    "credential.*.helper",
    "gpg.program",
    "gpg.*.program",
    "gpg.ssh.defaultkeycommand",
    "pager.*",
    "interactive.difffilter",
    "web.browser",
    "browser.*.cmd",
    "browser.*.path",
    "man.*.cmd",
    "man.*.path",
    "sendemail.smtpserver",
    "sendemail.tocmd",
    "sendemail.cccmd",
    "trailer.*.command",
    "trailer.*.cmd",
    "uploadpack.packobjectshook",
    "remote.*.uploadpack",
    "remote.*.receivepack",
    "remote.*.vcs",
    "submodule.*.update",
    "tar.*.command",
    "instaweb.httpd",
    "imap.tunnel",
    "guitool.*.cmd",
    "hook.*.command",
    "init.templatedir",
    "core.hookspath",
];

/// `KEY=VALUE`, or `KEY` alone for true.
pub(crate) fn git_config(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    let (key, value) = match lead.split_once('=') {
        Some((key, _)) => (key, after(word, key.len() + 1)),
        None if word.value.known().is_some() => (lead, None),
        None => {
            sink.effect(word, What::Opaque(word.clone(), "a setting of git that isn't known"));
            return;
        }
    };
    let key = key.to_ascii_lowercase();
    if is_data(&key) {
        return;
    }
    if let Some(value) = value {
        if key == "core.worktree" {
            sink.effect(word, What::Directory(Some(value)));
            return;
        }
        if key.starts_with("alias.") && value.value.lead().starts_with('!') {
            if let Some(command) = after(&value, 1) {
                sink.effect(word, What::Shell(command));
            }
            return;
        }
        if key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path")) {
            sink.effect(word, What::Reads(value.clone()));
            sink.effect(word, What::Opaque(value, "settings that can name programs"));
            return;
        }
        if COMMANDS.iter().any(|pattern| fits(pattern, &key)) {
            sink.effect(word, What::Opaque(value.clone(), "a setting of git that names a program"));
            sink.effect(word, What::Shell(value));
            return;
        }
    }
    sink.effect(word, What::Unusual("sets something in git that isn't known to be harmless"));
}

/// Whether this setting is only data.
pub(super) fn is_data(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    DATA.iter().any(|data| key == *data || (data.ends_with('.') && key.starts_with(data)))
}

fn fits(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => {
            key.len() >= begin.len() + end.len() && key.starts_with(begin) && key.ends_with(end)
        }
        None => pattern == key,
    }
}

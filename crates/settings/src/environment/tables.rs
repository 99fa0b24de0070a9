//! Names that never pass, names that always do.

/// Inherited variables that never reach a command, and why. A `*` at the end stands for anything.
pub(super) const NEVER: &[(&str, &str)] = &[
    ("BASH_ENV", "bash runs the file it names before every command"),
    ("ENV", "sh runs the file it names"),
    ("SHELLOPTS", "turns shell options on, such as printing every command"),
    ("BASHOPTS", "turns bash options on"),
    ("PS4", "bash expands it, commands included, while tracing"),
    ("BASH_FUNC_*", "an exported function replaces a command of its name"),
    ("__BASH_FUNC*", "an exported function, as bash spells it on macOS"),
    ("LD_*", "the loader runs the libraries it names inside every program"),
    ("DYLD_*", "the loader of macOS, the same"),
];

/// How the value of an exported function begins, whatever its name: bash before 2014 took any variable for
/// one.
pub(super) const FUNCTION_VALUE: &str = "() {";

/// With `inherit = "core"`, the variables that pass. A `*` at the end stands for anything.
pub(super) const CORE: &[&str] = &[
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "HOSTNAME",
    "PWD",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_*",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // Windows, where hardly a program starts without them.
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERPROFILE",
    "WINDIR",
];

/// Set by `quiet`: nobody is there to page or to answer.
pub(super) const QUIET: &[(&str, &str)] =
    &[("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];

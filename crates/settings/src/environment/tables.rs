//! Tables of variables: never inherited, core, and set by `quiet`.

/// Variables that a command never inherits, and the reason. A `*` at the end stands for any text.
pub(super) const NEVER_INHERITED: &[(&str, &str)] = &[
    ("BASH_ENV", "bash runs the file it names before every command"),
    ("ENV", "sh runs the file it names"),
    ("SHELLOPTS", "turns shell options on, such as printing every command"),
    ("BASHOPTS", "turns bash options on"),
    ("PS4", "bash expands it, commands included, while tracing"),
    ("BASH_FUNC_*", "an exported function replaces a command of its name"),
    ("__BASH_FUNC*", "an exported function, as bash spells it on macOS"),
    ("LD_*", "the loader runs the libraries it names inside every program"),
    ("DYLD_*", "the loader of macOS runs the libraries it names inside every program"),
];

/// The beginning of an exported function's value. Bash before 2014 took any variable with such a value for a function.
pub(super) const FUNCTION_VALUE: &str = "() {";

/// The variables that are inherited with `inherit = "core"`. A `*` at the end stands for any text.
pub(super) const CORE_VARIABLES: &[&str] = &[
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
    // Windows: most programs don't start without them.
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

/// Variables that `quiet` sets: a command has no person who could use a pager or answer a prompt.
pub(super) const QUIET_VARIABLES: &[(&str, &str)] =
    &[("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];

//! The reference: a settings file with every key, its description and its built-in value.

use super::{KEYS, Kind, Untrusted};
use crate::Settings;

/// A settings file in which every key has its built-in value.
pub fn reference() -> String {
    let built_in = Settings::default();
    let mut text = String::new();
    let mut section = "";
    for key in KEYS {
        if key.section() != section {
            section = key.section();
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}[{section}]\n"));
        }
        text.push_str(&format!("# {}. Takes {}.\n", key.about, key.wanted()));
        text.push_str(&format!("# In an untrusted project file: {}.\n", untrusted(key.untrusted)));
        match (&key.kind, key.show(&built_in)) {
            (Kind::Rules, _) => text.push_str(EXAMPLE_RULE),
            (_, Some(value)) => text.push_str(&format!("{} = {value}\n", key.name())),
            (_, None) => text.push_str(&format!("# {} =\n", key.name())),
        }
    }
    text
}

fn untrusted(rule: Untrusted) -> &'static str {
    match rule {
        Untrusted::Ignored => "ignored",
        Untrusted::Tightens => "can only make it stricter",
        Untrusted::Adds => "can add entries",
        Untrusted::Apart => "judged separately, the stricter verdict counts",
    }
}

const EXAMPLE_RULE: &str = r#"# [[policy.rule]]
# prefix = ["git", "push"]
# decision = "ask"
# reason = "publishes"
# grants = { network = true, read = ["~/.ssh"], write = [], env = ["GH_TOKEN"], sockets = ["$SSH_AUTH_SOCK"] }
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference() {
        insta::assert_snapshot!(reference(), @r#"
        [workspace]
        # The root if no other is given. Takes an absolute path or one that begins with `~/`.
        # In an untrusted project file: ignored.
        working_directory = ""

        [policy]
        # What is free where no rule says anything; without a value the dialect chooses. Takes one of `cautious`, `balanced`, `open`, `none`.
        # In an untrusted project file: judged separately, the stricter verdict counts.
        # preset =
        # Commands that are allowed, `*` for any words; adds up over all files. Takes a list of commands, with `*` for any words.
        # In an untrusted project file: judged separately, the stricter verdict counts.
        allow = []
        # Commands that a person is asked about; adds up over all files. Takes a list of commands, with `*` for any words.
        # In an untrusted project file: judged separately, the stricter verdict counts.
        ask = []
        # Commands that are denied; adds up over all files. Takes a list of commands, with `*` for any words.
        # In an untrusted project file: judged separately, the stricter verdict counts.
        deny = []
        # Commands that are allowed; unless it is empty, others are denied if `default` isn't set. Takes a list of command prefixes.
        # In an untrusted project file: judged separately, the stricter verdict counts.
        core = []
        # Commands that are always denied; adds up over all files. Takes a list of command prefixes.
        # In an untrusted project file: can add entries.
        exclude = []
        # The decision for commands that neither a rule nor the preset covers. Takes one of `allow`, `ask`, `deny`.
        # In an untrusted project file: judged separately, the stricter verdict counts.
        default = "ask"
        # The decision for substitutions like `$( )`. Takes one of `check`, `ask`, `deny`.
        # In an untrusted project file: can only make it stricter.
        substitution = "check"
        # The decision for output to files. Takes one of `ask`, `scope`, `allow`.
        # In an untrusted project file: can only make it stricter.
        redirects = "ask"
        # Rules by prefix or by effect, each with a decision; they add up over all files. Takes a list of tables, each `[[policy.rule]]`.
        # In an untrusted project file: judged separately, the stricter verdict counts.
        # [[policy.rule]]
        # prefix = ["git", "push"]
        # decision = "ask"
        # reason = "publishes"
        # grants = { network = true, read = ["~/.ssh"], write = [], env = ["GH_TOKEN"], sockets = ["$SSH_AUTH_SOCK"] }

        [approval]
        # What happens if a command needs approval; without a value the dialect chooses. Takes one of `ask`, `on-need`, `deny`, `allow`.
        # In an untrusted project file: can only make it stricter.
        # mode =
        # Where a question may be answered. Takes a list with any of `terminal`, `queue`, `page`, `elicitation`.
        # In an untrusted project file: can only make it stricter.
        from = ["terminal", "queue", "page", "elicitation"]
        # Seconds until an unanswered question is denied. Takes a whole number from 1 to 86400.
        # In an untrusted project file: can only make it stricter.
        timeout_s = 300

        [sandbox]
        # How commands are confined. Takes one of `off`, `read-only`, `workspace`, `strict`.
        # In an untrusted project file: can only make it stricter.
        mode = "workspace"
        # Whether confined commands reach the network. Takes one of `allow`, `deny`.
        # In an untrusted project file: can only make it stricter.
        network = "allow"
        # What to do if this machine can't confine commands as set. Takes one of `refuse`, `warn`.
        # In an untrusted project file: can only make it stricter.
        on_missing = "refuse"
        # Record the programs that commands start, the files that they write and remove, and what they connect to. Takes `true` or `false`.
        # In an untrusted project file: can only make it stricter.
        observe = true
        # Let commands trace each other: `strace`, `gdb`. Rules about programs then hold when a command is judged, and not for every program that it starts. Takes `true` or `false`.
        # In an untrusted project file: ignored.
        debug = false
        # Paths that commands may write besides the root. Takes a list of paths.
        # In an untrusted project file: ignored.
        writable = []
        # Paths that commands may not read, besides the built-in list. Takes a list of paths.
        # In an untrusted project file: can add entries.
        unreadable = []

        [limits]
        # Milliseconds that a foreground command may run; 0: no limit. Takes a whole number from 0 to 86400000.
        # In an untrusted project file: can only make it stricter.
        timeout_ms = 600000
        # Milliseconds that a command may run without output; 0: no limit. Takes a whole number from 0 to 86400000.
        # In an untrusted project file: can only make it stricter.
        idle_timeout_ms = 0
        # Commands of a session that run at once; others wait. Takes a whole number from 1 to 65536.
        # In an untrusted project file: can only make it stricter.
        max_running = 1024
        # Characters of a stream that the model gets. Takes a whole number from 1 to 100000000.
        # In an untrusted project file: ignored.
        answer_chars = 30000
        # Tokens of both streams that the model gets over MCP, about. Takes a whole number from 1 to 10000000.
        # In an untrusted project file: ignored.
        answer_tokens = 8000
        # Bytes of a stream that the model gets if complete output was asked for. Takes a whole number from 1 to 1073741824.
        # In an untrusted project file: ignored.
        answer_bytes = 8388608
        # Bytes of a stream that are kept on disk. Takes a whole number from 1 to 1099511627776.
        # In an untrusted project file: ignored.
        capture_bytes = 268435456
        # Megabytes of memory of a command; 0: no limit. Takes a whole number from 0 to 1073741824.
        # In an untrusted project file: can only make it stricter.
        memory_mb = 0
        # Processes of a command; 0: no limit. Takes a whole number from 0 to 4194304.
        # In an untrusted project file: can only make it stricter.
        processes = 0
        # Seconds of CPU time of a command; 0: no limit. Takes a whole number from 0 to 31536000.
        # In an untrusted project file: can only make it stricter.
        cpu_s = 0
        # Megabytes that a command may add to the disk; 0: no limit. Takes a whole number from 0 to 1073741824.
        # In an untrusted project file: can only make it stricter.
        disk_mb = 0
        # Jobs that a session may have. Takes a whole number from 1 to 65536.
        # In an untrusted project file: can only make it stricter.
        jobs_per_session = 64

        [output]
        # Whether long output is shortened for models, by rules for the program that wrote it. Takes one of `auto`, `off`.
        # In an untrusted project file: ignored.
        condense = "auto"

        [journal]
        # Refuse commands that can't be recorded. Takes `true` or `false`.
        # In an untrusted project file: can only make it stricter.
        required = true
        # Days that entries are kept; 0: for ever. Takes a whole number from 0 to 36500.
        # In an untrusted project file: ignored.
        keep_days = 30
        # Megabytes of output that are kept; 0: all. Takes a whole number from 0 to 1073741824.
        # In an untrusted project file: ignored.
        keep_mb = 2048

        [environment]
        # Which variables a command inherits. Takes one of `all`, `core`.
        # In an untrusted project file: can only make it stricter.
        inherit = "all"
        # Switch off pagers and prompts. Takes `true` or `false`.
        # In an untrusted project file: ignored.
        quiet = true
        # Hide variables that look like secrets. Takes `true` or `false`.
        # In an untrusted project file: can only make it stricter.
        hide_secrets = true
        # Variables that commands get even if they look like secrets. Takes a list of variable names.
        # In an untrusted project file: ignored.
        keep = []
        # Variables to set for every command. Takes a table of variable names and strings.
        # In an untrusted project file: ignored.
        set = {}
        # Variables to remove for every command. Takes a list of variable names.
        # In an untrusted project file: can add entries.
        remove = []

        [log]
        # Which events are logged; only `trace` has command text. Takes one of `off`, `error`, `warn`, `info`, `debug`, `trace`.
        # In an untrusted project file: ignored.
        level = "off"
        "#);
    }
}

//! The agents that `setup` knows. `docs/setup.md` says with which versions this was tested; the rest is from the agents'
//! documentation.

use super::agent::{Agent, File, Literal, Root, Setting, Shape, Start, Switch, Wanted};
use super::format::Format;
use super::location::FileLocation;

/// All agents, in the order of the list that people see.
pub(crate) const AGENTS: &[Agent] =
    &[GEMINI, QWEN, CLAUDE_CODE, CLAUDE_DESKTOP, CODEX, CURSOR, VS_CODE, ZED, OPENCODE, GOOSE];

/// The agent with this name or alias.
pub(crate) fn named(name: &str) -> Option<&'static Agent> {
    let name = name.to_ascii_lowercase();
    AGENTS.iter().find(|agent| agent.name == name || agent.aliases.contains(&name.as_str()))
}

const NO_SHELL_TOOL: Switch = Switch::No("it has no shell tool of its own");

const GEMINI: Agent = Agent {
    name: "gemini",
    aliases: &["gemini-cli"],
    title: "Gemini CLI",
    programs: &["gemini"],
    start: Start::Terminal,
    root: Root::Workspace,
    file: File {
        user: FileLocation::same_everywhere(&["~/.gemini"], &["settings.json"]),
        project: Some(".gemini/settings.json"),
        format: Format::Json,
    },
    servers: &["mcpServers"],
    shape: Shape::Plain,
    extra: &[],
    trust: Switch::Entry(&[("trust", Literal::Bool(true))]),
    shell_off: Switch::Here(&[Setting {
        path: &["tools", "exclude"],
        wanted: Wanted::Has("run_shell_command"),
    }]),
    note: "`gemini mcp list` shows it. It starts servers only in folders that it trusts",
};

const QWEN: Agent = Agent {
    name: "qwen",
    aliases: &["qwen-code"],
    title: "Qwen Code",
    programs: &["qwen"],
    start: Start::Terminal,
    root: Root::Workspace,
    file: File {
        user: FileLocation::same_everywhere(&["~/.qwen"], &["settings.json"]),
        project: Some(".qwen/settings.json"),
        format: Format::Json,
    },
    servers: &["mcpServers"],
    shape: Shape::Plain,
    // Without this, the model only sees the tools' names and must look up each tool before its first call.
    extra: &[("alwaysLoadTools", Literal::Bool(true))],
    trust: Switch::Entry(&[("trust", Literal::Bool(true))]),
    shell_off: Switch::Here(&[Setting {
        path: &["permissions", "deny"],
        wanted: Wanted::Has("run_shell_command"),
    }]),
    note: "`qwen mcp list` shows it",
};

const CLAUDE_SETTINGS: File = File {
    user: FileLocation::same_everywhere(&["$CLAUDE_CONFIG_DIR", "~/.claude"], &["settings.json"]),
    project: Some(".claude/settings.json"),
    format: Format::Json,
};

const CLAUDE_CODE: Agent = Agent {
    name: "claude",
    aliases: &["claude-code"],
    title: "Claude Code",
    programs: &["claude"],
    start: Start::Terminal,
    root: Root::Workspace,
    file: File {
        user: FileLocation::same_everywhere(&["$CLAUDE_CONFIG_DIR", "~"], &[".claude.json"]),
        project: Some(".mcp.json"),
        format: Format::Json,
    },
    servers: &["mcpServers"],
    shape: Shape::Typed,
    // Without this, the model only sees the tools' names and must look up each tool before its first call.
    extra: &[("alwaysLoad", Literal::Bool(true))],
    trust: Switch::Elsewhere(
        CLAUDE_SETTINGS,
        &[Setting { path: &["permissions", "allow"], wanted: Wanted::Has("mcp__shellgate") }],
    ),
    shell_off: Switch::Elsewhere(
        CLAUDE_SETTINGS,
        &[Setting { path: &["permissions", "deny"], wanted: Wanted::Has("Bash") }],
    ),
    note: "`claude mcp list` shows it. Close it before: it writes this file itself when it ends",
};

const CLAUDE_DESKTOP: Agent = Agent {
    name: "claude-desktop",
    aliases: &[],
    title: "Claude Desktop",
    programs: &["claude-desktop"],
    start: Start::Desktop,
    root: Root::Unknown,
    file: File {
        user: FileLocation {
            linux: &["$XDG_CONFIG_HOME/Claude", "~/.config/Claude"],
            mac: &["~/Library/Application Support/Claude"],
            windows: &["$APPDATA/Claude"],
            names: &["claude_desktop_config.json"],
        },
        project: None,
        format: Format::Json,
    },
    servers: &["mcpServers"],
    shape: Shape::Plain,
    extra: &[],
    trust: Switch::No("it asks in its own window, where you can say `Always allow`"),
    shell_off: NO_SHELL_TOOL,
    note: "Quit it and start it again",
};

const CODEX: Agent = Agent {
    name: "codex",
    aliases: &["codex-cli"],
    title: "Codex",
    programs: &["codex"],
    start: Start::Terminal,
    root: Root::Workspace,
    file: File {
        user: FileLocation::same_everywhere(&["$CODEX_HOME", "~/.codex"], &["config.toml"]),
        project: Some(".codex/config.toml"),
        format: Format::Toml,
    },
    servers: &["mcp_servers"],
    shape: Shape::Plain,
    // It passes only four variables to a server. Without these, the server could keep its state in another folder than
    // `shellgate approvals` in your terminal reads.
    extra: &[(
        "env_vars",
        Literal::Words(&[
            "SHELLGATE_HOME",
            "SHELLGATE_LOG",
            "SHELLGATE_SESSION",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "XDG_RUNTIME_DIR",
        ]),
    )],
    trust: Switch::Entry(&[("default_tools_approval_mode", Literal::Text("approve"))]),
    shell_off: Switch::Here(&[Setting {
        path: &["features", "shell_tool"],
        wanted: Wanted::Is(Literal::Bool(false)),
    }]),
    note: "`codex mcp list` shows it",
};

const CURSOR: Agent = Agent {
    name: "cursor",
    aliases: &[],
    title: "Cursor",
    programs: &["cursor", "cursor-agent"],
    start: Start::Desktop,
    root: Root::Variable("${workspaceFolder}"),
    file: File {
        user: FileLocation::same_everywhere(&["~/.cursor"], &["mcp.json"]),
        project: Some(".cursor/mcp.json"),
        format: Format::Json,
    },
    servers: &["mcpServers"],
    shape: Shape::Typed,
    extra: &[],
    trust: Switch::No("its allowlist is in its settings: Agents, MCP Allowlist, `shellgate:*`"),
    shell_off: Switch::No("no setting in a file disables its terminal tool; leave it out of the allowlist"),
    note: "Its settings show it under MCP",
};

const VS_CODE: Agent = Agent {
    name: "vscode",
    aliases: &["code", "vs-code", "copilot"],
    title: "VS Code",
    programs: &["code"],
    start: Start::Desktop,
    root: Root::Variable("${workspaceFolder}"),
    file: File {
        user: FileLocation {
            linux: &["$XDG_CONFIG_HOME/Code/User", "~/.config/Code/User"],
            mac: &["~/Library/Application Support/Code/User"],
            windows: &["$APPDATA/Code/User"],
            names: &["mcp.json"],
        },
        project: Some(".vscode/mcp.json"),
        format: Format::Json,
    },
    servers: &["servers"],
    shape: Shape::Typed,
    extra: &[],
    trust: Switch::No("it asks at the first call, where you can say `Always Allow`"),
    shell_off: Switch::No("untick `runInTerminal` in the chat's `Configure Tools`"),
    note: "`MCP: List Servers` shows it",
};

const ZED: Agent = Agent {
    name: "zed",
    aliases: &["zed-editor", "zeditor"],
    title: "Zed",
    programs: &["zed", "zeditor", "zed-editor"],
    start: Start::Desktop,
    root: Root::Workspace,
    file: File {
        user: FileLocation {
            linux: &["$XDG_CONFIG_HOME/zed", "~/.config/zed"],
            mac: &["~/.config/zed"],
            windows: &["$APPDATA/Zed"],
            names: &["settings.json"],
        },
        project: Some(".zed/settings.json"),
        format: Format::Json,
    },
    servers: &["context_servers"],
    shape: Shape::Plain,
    extra: &[],
    trust: Switch::No("it asks at the first call, where you can say `Always for this tool`"),
    shell_off: Switch::Here(&[Setting {
        path: &["agent", "tool_permissions", "tools", "terminal", "default"],
        wanted: Wanted::Is(Literal::Text("deny")),
    }]),
    note: "The Agent Panel's settings show it",
};

const OPENCODE: Agent = Agent {
    name: "opencode",
    aliases: &[],
    title: "opencode",
    programs: &["opencode"],
    start: Start::Terminal,
    root: Root::Workspace,
    file: File {
        user: FileLocation::same_everywhere(
            &["$XDG_CONFIG_HOME/opencode", "~/.config/opencode"],
            &["opencode.json", "opencode.jsonc"],
        ),
        project: Some("opencode.json"),
        format: Format::Json,
    },
    servers: &["mcp"],
    shape: Shape::Joined,
    // By default it gives up after a minute without a message.
    extra: &[("timeout", Literal::Number(600_000))],
    trust: Switch::No("it doesn't ask before it calls a server, unless your settings say so"),
    shell_off: Switch::Here(&[Setting {
        path: &["permission", "bash"],
        wanted: Wanted::Is(Literal::Text("deny")),
    }]),
    note: "`opencode mcp list` shows it",
};

const GOOSE: Agent = Agent {
    name: "goose",
    aliases: &["goose-cli"],
    title: "goose",
    programs: &["goose"],
    start: Start::Terminal,
    root: Root::Workspace,
    file: File {
        user: FileLocation {
            linux: &["$XDG_CONFIG_HOME/goose", "~/.config/goose"],
            mac: &["$XDG_CONFIG_HOME/goose", "~/.config/goose"],
            windows: &["$APPDATA/Block/goose/config"],
            names: &["config.yaml"],
        },
        project: None,
        format: Format::Yaml,
    },
    servers: &["extensions"],
    shape: Shape::Goose,
    extra: &[("envs", Literal::Table), ("env_keys", Literal::Words(&[])), ("timeout", Literal::Number(600))],
    trust: Switch::No("`GOOSE_MODE: auto` in its settings is for all of its tools"),
    shell_off: Switch::Here(&[Setting {
        path: &["extensions", "developer", "enabled"],
        wanted: Wanted::Is(Literal::Bool(false)),
    }]),
    note: "`goose info -v` shows it",
};

//! Qwen Code's `run_shell_command`: labelled text, and a required choice between foreground and background.

use super::field::{Field, Kind};
use super::fields::Arguments;
use super::labelled::answer;
use super::run_shell_command::{
    ABOUT_ANSWER, ABOUT_PROMPTS, ABOUT_RULES, ABOUT_STATE, ABOUT_TOOL, COMMAND, DESCRIPTION, DIRECTORY, TOOL,
    request,
};
use super::{DefaultApproval, DefaultPreset, DefaultRoot, Dialect, no_assistant_text, whole_report};
use crate::ErrorObject;
use crate::intake::request::{Format, Request, Substitutions, Words};

pub(super) static DIALECT: Dialect = Dialect {
    name: "qwen",
    tool: TOOL,
    about: &[
        ABOUT_TOOL,
        "`is_background` decides between background and foreground and must be given every time. In the background, or \
         with `&` in the command, the call returns at once, the process keeps running, and Background PIDs names it.",
        ABOUT_ANSWER,
        ABOUT_STATE,
        ABOUT_PROMPTS,
        ABOUT_RULES,
        "Commands see `QWEN_CODE=1`.",
    ],
    marks: &[("QWEN_CODE", "1")],
    words: Words::Free,
    substitutions: Substitutions::AsConfigured,
    default_root: DefaultRoot::Current,
    default_preset: DefaultPreset::None,
    default_approval: DefaultApproval::Ask,
    format: ("", Format::Json),
    fields: FIELDS,
    request: read,
    answer,
    structured: whole_report,
    over_mcp: None,
    assistant: no_assistant_text,
};

static FIELDS: &[Field] = &[COMMAND, IS_BACKGROUND, DESCRIPTION, DIRECTORY];

const IS_BACKGROUND: Field = Field::new(
    "is_background",
    Kind::Flag,
    "Whether to leave it running and continue. true for what runs until it is stopped: development servers (`npm run start`, \
     `npm run dev`, `yarn dev`), watchers (`npm run watch`, `webpack --watch`), databases (`mongod`, `mysql`, \
     `redis-server`), web servers (`python -m http.server`, `php -S localhost:8000`) and all else without an end of its \
     own. false for what ends and must be waited for: one-off commands (`ls`, `cat`, `grep`), builds (`npm run build`, \
     `make`), installs (`npm install`, `pip install`), Git (`git commit`, `git push`), tests (`npm test`, `pytest`). With \
     true, the description shown to the user ends in `[background]`.",
)
.required();

fn read(arguments: &mut Arguments) -> Result<Request, ErrorObject> {
    let background = arguments.flag("is_background")?.unwrap_or(false);
    Ok(Request { background, ..request(arguments)? })
}

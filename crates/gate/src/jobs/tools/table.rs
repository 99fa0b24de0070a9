//! The table of tools.
//!
//! A new tool is a row here and a function to run it. Models read the descriptions of tools and fields.

use super::{JobTool, input, output};
use crate::intake::dialect::{Field, Kind};

const JOB: Field = Field::new("job", Kind::Text, "The job's id.").required().or(&["id", "job_id"]);

/// The status in an answer about one job.
const STATUS: (&str, &str, &str) =
    ("status", "string", "queued, starting, running, completed, failed, canceled or timed_out");

/// All tools, in the order in which models see them.
pub static TOOLS: &[JobTool] = &[
    JobTool {
        name: "shell_jobs",
        title: "List jobs",
        about: "Lists running and lately ended jobs: commands in the background and what commands left running.",
        reads_only: true,
        destroys: false,
        fields: &[],
        answer: &[("jobs", "array", "The jobs, running ones first.")],
        run: super::list,
    },
    JobTool {
        name: "shell_output",
        title: "Read a job's output",
        about: "Reads output of a job or an earlier command: all, a range of lines, the last lines, or lines that match.",
        reads_only: true,
        destroys: false,
        fields: &[
            JOB,
            Field::new("from_line", Kind::Number, "From this line on; the first is 1."),
            Field::new("lines", Kind::Number, "So many lines: behind `from_line`, else the last ones."),
            Field::new("grep", Kind::Text, "Only lines that match this regular expression."),
            Field::new("context", Kind::Number, "With `grep`: so many lines around each match."),
            Field::new("stream", Kind::OneOf(&["stdout", "stderr", "both"]), "Which stream. Default: both.").rare(),
            Field::new("from", Kind::Number, "From this byte of the stream on. Default: 0.").rare(),
            Field::new("to", Kind::Number, "Up to this byte. Default: the end.").rare(),
            Field::new("since_ms", Kind::Milliseconds, "Only output of the last so many milliseconds.").rare(),
            Field::new("raw", Kind::Flag, "true keeps control codes. Default: false.").rare(),
        ],
        answer: &[
            STATUS,
            ("exit_code", "integer", "Its exit code, once it has exited."),
            ("stdout", "string", "Standard output."),
            ("stdout_next", "integer", "The byte after the last one read."),
            ("stderr", "string", "Standard error."),
            ("stderr_next", "integer", "The byte after the last one read."),
            ("truncated", "boolean", "Whether some of that part was left out."),
        ],
        run: output::run,
    },
    JobTool {
        name: "shell_wait",
        title: "Wait for a job",
        about: "Waits until a job ends, prints a line that matches `pattern`, or listens on `port`. Use it instead of polling.",
        reads_only: true,
        destroys: false,
        fields: &[
            JOB,
            Field::new("pattern", Kind::Text, "A regular expression."),
            Field::new("from", Kind::Number, "Where in standard output the search begins. Default: 0.").rare(),
            Field::new("port", Kind::Number, "A TCP port. 0: any."),
            Field::new("silence_ms", Kind::Milliseconds, "Milliseconds without output.").rare(),
            Field::new("timeout_ms", Kind::Milliseconds, "Default: 45000. The job continues after that; wait again."),
        ],
        answer: &[
            (
                "reason",
                "string",
                "ended, matched, listening, silent, timed_out (the wait, not the job) or canceled",
            ),
            STATUS,
            ("exit_code", "integer", "Its exit code, once it has exited."),
            ("line", "string", "The line that matched."),
            ("ports", "array", "The ports that the job listens on."),
        ],
        run: super::wait,
    },
    JobTool {
        name: "shell_input",
        title: "Type at a job",
        about: "Types at a job that was started with `pty`, and returns the new output or the screen. One command for a shell per \
                call.",
        reads_only: false,
        destroys: true,
        fields: &[
            JOB,
            Field::new("text", Kind::Text, "What to type. Enter is pressed after it.").or(&["input"]),
            Field::new("newline", Kind::Flag, "false does not press Enter after the text. Default: true.").rare(),
            Field::new("keys", Kind::Texts, "Keys after the text: C-c, C-d, Enter, Tab, Esc, Up, F5 and so on."),
            Field::new(
                "eof",
                Kind::Flag,
                "true ends the input after text and keys (Ctrl-D). Default: false.",
            )
            .rare(),
            Field::new(
                "wait_ms",
                Kind::Milliseconds,
                "How long to wait for output at most. Default: 1000. Answers sooner when the job waits for input again.",
            )
            .rare(),
        ],
        answer: &[
            STATUS,
            ("exit_code", "integer", "Its exit code, if it has exited."),
            ("waiting_for_input", "boolean", "Whether the job waits for input from its terminal."),
            ("screen", "boolean", "Whether `stdout` is the screen of a full-screen program."),
            ("stdout", "string", "The output since the input, or the screen."),
            ("stdout_next", "integer", "The byte after the last one read, for shell_output."),
        ],
        run: input::run,
    },
    JobTool {
        name: "shell_stop",
        title: "Stop a job",
        about: "Stops a job and every process that it started.",
        reads_only: false,
        destroys: true,
        fields: &[
            JOB,
            Field::new("now", Kind::Flag, "true kills at once, without time to clean up. Default: false.").rare(),
        ],
        answer: &[STATUS, ("exit_code", "integer", "Its exit code, if it has exited.")],
        run: super::stop,
    },
];

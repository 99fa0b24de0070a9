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
        about: "Lists the jobs of this session: commands in the background, processes that commands left running, and \
                jobs that ended lately. Each has id, status, age, CPU time, memory, ports and last line.",
        reads_only: true,
        destroys: false,
        fields: &[],
        answer: &[("jobs", "array", "The jobs, running ones first.")],
        run: super::list,
    },
    JobTool {
        name: "shell_output",
        title: "Read a job's output",
        about: "Reads the output of a job, all or a part, while it runs or after its end. To continue, give the `stdout_next` \
                of the last answer as `from`. To wait for more output, use shell_wait instead of reading again.",
        reads_only: true,
        destroys: false,
        fields: &[
            JOB,
            Field::new("stream", Kind::OneOf(&["stdout", "stderr", "both"]), "Which stream. Default: both."),
            Field::new("from", Kind::Number, "From this byte of the stream on. Default: 0."),
            Field::new("to", Kind::Number, "Up to this byte. Default: the end."),
            Field::new("lines", Kind::Number, "Only this many lines, the last ones."),
            Field::new("since_ms", Kind::Milliseconds, "Only output of the last so many milliseconds."),
            Field::new("grep", Kind::Text, "Only lines that match this regular expression."),
            Field::new("raw", Kind::Flag, "true keeps control codes. Default: false."),
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
        about: "Waits until a job ends, or earlier: until it prints a line that matches `pattern`, listens on a `port`, or is \
                silent for `silence_ms`. Answers at once if that has already happened. Use it instead of polling.",
        reads_only: true,
        destroys: false,
        fields: &[
            JOB,
            Field::new("pattern", Kind::Text, "A regular expression, looked for in each line."),
            Field::new("from", Kind::Number, "Where in standard output the search begins. Default: 0."),
            Field::new("port", Kind::Number, "A TCP port that the job should listen on. 0: any port."),
            Field::new("silence_ms", Kind::Milliseconds, "Milliseconds without output."),
            Field::new(
                "timeout_ms",
                Kind::Milliseconds,
                "How long to wait at most. Default: 45000. The job continues after that; wait again.",
            ),
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
        about: "Types at a job that was started with `pty`: an answer, a command for its shell, or keys. Then waits a moment and \
                returns the new output, or the screen of a full-screen program. A command for a shell must be whole: one call \
                per command. For input that another interpreter runs, the user is asked.",
        reads_only: false,
        destroys: true,
        fields: &[
            JOB,
            Field::new("text", Kind::Text, "What to type. Enter is pressed after it.").or(&["input"]),
            Field::new("newline", Kind::Flag, "false does not press Enter after the text. Default: true."),
            Field::new(
                "keys",
                Kind::Texts,
                "Keys to press after the text: C-c, C-d, Enter, Tab, Esc, Up, F5 and so on.",
            ),
            Field::new(
                "eof",
                Kind::Flag,
                "true ends the input after text and keys (Ctrl-D). Default: false.",
            ),
            Field::new(
                "wait_ms",
                Kind::Milliseconds,
                "How long to wait for output at most. Default: 1000. Answers sooner when the job waits for input again.",
            ),
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
        about: "Stops a job with every process that it started. Answers when all of them have ended.",
        reads_only: false,
        destroys: true,
        fields: &[
            JOB,
            Field::new("now", Kind::Flag, "true kills at once, without time to clean up. Default: false."),
        ],
        answer: &[STATUS, ("exit_code", "integer", "Its exit code, if it has exited.")],
        run: super::stop,
    },
];

//! A real terminal, with keys that the test presses.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::support::wait_until;

/// A program on a terminal of its own, 80 columns wide.
pub(crate) struct Terminal {
    child: Child,
    keys: Option<ChildStdin>,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    /// Starts `command` on a terminal that `script` makes. The shell inside sets its size.
    pub(crate) fn start(command: &Command) -> Self {
        let line = [command.get_program()].into_iter().chain(command.get_args());
        let line: Vec<String> =
            line.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''"))).collect();
        let mut script = Command::new("script");
        script.args(["-qec", &format!("stty cols 80 rows 24; exec {}", line.join(" ")), "/dev/null"]);
        script.env_clear().env("TERM", "xterm").env("SHELL", "/bin/sh");
        script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.current_dir(command.get_current_dir().unwrap());
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (keys, mut screen) = (child.stdin.take(), child.stdout.take().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, keys, seen, reader }
    }

    /// Waits until `text` is on the screen.
    pub(crate) fn wait_for(&self, text: &str) {
        wait_until(text, || self.screen().contains(text) || self.reader.is_finished());
        assert!(self.screen().contains(text), "it ended before {text:?}: {}", self.screen());
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end. Returns the output and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        let code = self.child.wait().unwrap().code();
        drop(self.keys.take());
        let seen = Arc::clone(&self.seen);
        self.reader.join().unwrap();
        let shown = String::from_utf8_lossy(&seen.lock().unwrap()).replace("\r\n", "\n");
        (shown, code)
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }
}

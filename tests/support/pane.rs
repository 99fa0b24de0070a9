//! A real terminal: a shell in a tmux of its own.

use std::path::PathBuf;
use std::time::Duration;

use crate::support::{PATIENCE, Place, shellgate, wait_until};

/// Longer than the time for which a new question ignores keys. The end of that time can't be seen on the screen.
const GUARD: Duration = Duration::from_millis(350);

/// A terminal with a shell in the root of a place.
pub(crate) struct Pane<'a> {
    pub(crate) place: &'a Place,
    socket: PathBuf,
    scripts: std::cell::Cell<u32>,
}

impl<'a> Pane<'a> {
    pub(crate) fn new(place: &'a Place, columns: u16, rows: u16) -> Self {
        let bin = place.home().join("bin");
        if !bin.exists() {
            std::fs::create_dir(&bin).unwrap();
            // Programs that no rule covers. They write their call to a file, then print it.
            for name in ["frob", "git"] {
                let script = "#!/bin/sh\necho \"${0##*/} $*\" >> \"$HOME/ran\"\necho \"ran: ${0##*/} $*\"\n";
                let path = bin.join(name);
                std::fs::write(&path, script).unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                std::fs::set_permissions(&path, mode).unwrap();
            }
        }
        let pane = Self { place, socket: place.home().join("tmux"), scripts: std::cell::Cell::new(0) };
        let mut tmux = place.program("tmux");
        tmux.arg("-S").arg(&pane.socket).args(["-f", "/dev/null", "new-session", "-d"]);
        tmux.args(["-x", &columns.to_string(), "-y", &rows.to_string()]);
        let greeting = place.home().join("rc");
        // No history: a shell that ends with its terminal would write it into a folder that is being removed.
        std::fs::write(&greeting, "PS1='$ '; unset HISTFILE\n").unwrap();
        tmux.arg(format!("exec bash --rcfile {}", greeting.display()));
        tmux.env("PATH", format!("{}:{}", bin.display(), crate::support::programs()));
        tmux.env("XDG_CONFIG_HOME", place.home().join("settings")).env("TERM", "xterm-256color");
        let output = tmux.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        pane.shows("$");
        pane
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = self.place.program("tmux").arg("-S").arg(&self.socket).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Copies every byte that the terminal gets from now on to `file`.
    pub(crate) fn copy_output_to(&self, file: &std::path::Path) {
        self.tmux(&["pipe-pane", &format!("exec cat > '{}'", file.display())]);
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// The screen with colour codes.
    pub(crate) fn coloured_screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"])
    }

    /// Waits until the screen has `text`, and returns it.
    pub(crate) fn shows(&self, text: &str) -> String {
        self.shows_that(text, |screen| screen.contains(text))
    }

    pub(crate) fn shows_that(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let until = std::time::Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(std::time::Instant::now() < until, "waited in vain for {what:?}:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses keys, by the names that tmux has for them.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Sends text in one piece, as a terminal does that doesn't mark pastes.
    pub(crate) fn send(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Pastes `text` as a bracketed paste.
    pub(crate) fn paste(&self, text: &str) {
        self.tmux(&["set-buffer", text]);
        self.tmux(&["paste-buffer", "-p", "-r"]);
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// Types a line at the shell.
    pub(crate) fn type_line(&self, line: &str) {
        self.send(line);
        self.press(&["Enter"]);
    }

    /// Starts `shellgate run ARGS` from the shell, after `before`.
    pub(crate) fn start_after(&self, before: &str, args: &[&str]) {
        let number = self.scripts.get() + 1;
        self.scripts.set(number);
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        let program = quoted(shellgate().to_str().unwrap());
        let script = format!("{before}\nexec {program} run {}\n", args.join(" "));
        std::fs::write(self.place.home().join(format!("{number}.sh")), script).unwrap();
        self.type_line(&format!("clear; sh ~/{number}.sh; echo ended {number}: $?"));
    }

    /// Starts `shellgate run ARGS` from the shell.
    pub(crate) fn start(&self, args: &[&str]) {
        self.start_after("", args);
    }

    /// Starts `shellgate run ARGS`, and waits until it asks and accepts keys.
    pub(crate) fn asks(&self, args: &[&str]) -> String {
        self.start(args);
        self.shows("── ");
        std::thread::sleep(GUARD);
        self.screen()
    }

    /// Presses a key after the time in which keys are ignored.
    pub(crate) fn press_calmly(&self, key: &str) {
        std::thread::sleep(GUARD);
        self.press(&[key]);
    }

    /// Waits for the end of `shellgate run`, with this code.
    pub(crate) fn ends(&self, code: u8) -> String {
        let mark = format!("ended {}: ", self.scripts.get());
        // Not the typed line, which doesn't have the code yet.
        let screen = self.shows_that(&mark, |screen| screen.lines().any(|line| line.starts_with(&mark)));
        assert!(screen.contains(&format!("{mark}{code}\n")), "{screen}");
        screen
    }

    /// Starts `shellgate run ARGS`, which runs unasked.
    pub(crate) fn runs_unasked(&self, args: &[&str]) {
        self.start(args);
        let screen = self.ends(0);
        assert!(!screen.contains("you said"), "{screen}");
    }

    /// Starts `shellgate run ARGS`, which asks, and answers no.
    pub(crate) fn asks_again(&self, args: &[&str]) {
        self.asks(args);
        self.press(&["n"]);
        self.ends(125);
    }

    /// The commands that have run.
    pub(crate) fn ran(&self) -> Vec<String> {
        let ran = std::fs::read_to_string(self.place.home().join("ran")).unwrap_or_default();
        ran.lines().map(str::to_owned).collect()
    }
}

impl Drop for Pane<'_> {
    fn drop(&mut self) {
        let _ = self.place.program("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
        if !std::thread::panicking() {
            wait_until("tmux is gone", || {
                crate::support::processes_with(self.socket.to_str().unwrap()).is_empty()
            });
        }
    }
}

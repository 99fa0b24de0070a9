//! `shellgate config show`: the settings in force, and where each comes from.

use std::process::ExitCode;

use serde_json::json;
use shellgate::Gate;
use shellgate::text::layout::wrap;
use shellgate::views::{RuleView, SettingsView, UnusedView};

use crate::args::{ConfigCommand, ConfigShowArgs};
use crate::error::{self, CliError};
use crate::output::{self, escape};
use crate::table;

/// The width where there is no terminal.
const DEFAULT_WIDTH: usize = 80;

pub(super) fn config(command: &ConfigCommand) -> ExitCode {
    let ConfigCommand::Show(args) = command;
    output::choose_color(args.shown.color);
    error::finish(show(args))
}

fn show(args: &ConfigShowArgs) -> Result<(), CliError> {
    let mut builder = Gate::builder();
    if let Some(root) = &args.root {
        builder = builder.root(root);
    }
    for file in &args.config {
        builder = builder.config(file);
    }
    let view = builder.judge()?.settings_view();
    match args.shown.json {
        true => output::print_json(&json!(view)),
        false => output::print(&text(&view, table::width().unwrap_or(DEFAULT_WIDTH))),
    }
}

fn text(view: &SettingsView, width: usize) -> String {
    let mut page = Page { text: String::new(), width };
    page.whole(&format!("root: {} ({})", view.root, view.root_from));
    page.head("Files, of which later ones win");
    for file in &view.files {
        page.whole(&format!("  {:<10}{:<9} {}", file.state, file.layer, file.path));
    }
    let (trust, other): (Vec<_>, Vec<_>) = view.unused.iter().partition(|unused| unused.needs_trust);
    if !trust.is_empty() {
        page.head("Not in force until you run `shellgate trust`");
        page.unused(&trust);
    }
    if !other.is_empty() {
        page.head("Without effect");
        page.unused(&other);
    }
    page.head("Settings that differ from the built-in ones");
    if view.settings.is_empty() {
        page.line(2, "none");
    }
    for set in &view.settings {
        page.line(2, &format!("{} = {}", set.key, set.value));
        page.from(&set.from);
    }
    page.head("Rules, in the order in which they count");
    page.rules(&view.rules);
    if !view.untrusted_rules.is_empty() {
        page.head("Rules of the untrusted project file: the stricter verdict counts");
        page.rules(&view.untrusted_rules);
    }
    page.text
}

/// Lines of at most `width` columns. Places stand in lines of their own, so that lines break at the same words everywhere.
struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn head(&mut self, words: &str) {
        self.text.push_str(&format!("\n\x1b[1m{words}\x1b[0m\n"));
    }

    /// A text at this column; further lines of it stand two columns deeper.
    fn line(&mut self, column: usize, text: &str) {
        let room = self.width.saturating_sub(column + 2).max(20);
        let lines = wrap(&escape(text), room).join(&format!("\n{}", " ".repeat(column + 2)));
        self.text.push_str(&format!("{}{lines}\n", " ".repeat(column)));
    }

    /// A line with a path, which is not broken.
    fn whole(&mut self, text: &str) {
        self.text.push_str(&format!("{}\n", escape(text)));
    }

    fn unused(&mut self, unused: &[&UnusedView]) {
        for one in unused {
            self.line(2, &one.message);
            self.from(&one.from);
        }
    }

    fn from(&mut self, place: &str) {
        self.text.push_str(&format!("\x1b[2m    {}\x1b[0m\n", escape(place)));
    }

    fn rules(&mut self, rules: &[RuleView]) {
        for rule in rules {
            self.line(2, &format!("{:<6} {}", rule.decision, rule.commands));
            self.from(&format!("{}: {}", rule.key, rule.from));
        }
    }
}

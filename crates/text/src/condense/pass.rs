//! The pass over the lines: what each becomes by the rules of a reducer.

use super::blocks::OpenBlock;
use super::forms::{grouped, names, run_mark, squeezed};
use super::frames::Backtrace;
use super::line::{Kind, Line};
use super::lists::{Listing, PathRun};
use super::records::OpenRecord;
use super::reducer::{CompiledRule, Reducer};
use super::rules::{Action, fill, group};
use super::search::{Match, SearchLimits, SearchRun};
use super::tree::DrawnTree;

/// Where in the output a part begins.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The offset of its first byte.
    pub(super) source: usize,
    /// How many lines are before it.
    lines: usize,
    /// While lines stay as they are: the rule whose `until` ends that.
    verbatim: Option<usize>,
    /// The block that the last line was in or opened.
    block: Option<OpenBlock>,
}

/// How many lines of long runs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Usual,
    Tight,
}

/// The lines of `text`, a part of some output, after the rules of `reducer`. `place` is where it begins, and then where it ends.
pub(super) fn reduced<'t>(
    text: &'t str,
    reducer: &Reducer,
    detail: Detail,
    place: &mut Place,
) -> Vec<Line<'t>> {
    let mut pass = Pass {
        reducer,
        detail,
        lines: Vec::new(),
        open: Open::Nothing,
        gathered: Vec::new(),
        last_remark: String::new(),
        verbatim: place.verbatim,
        block: place.block,
    };
    for whole in text.split_inclusive('\n') {
        place.lines += 1;
        pass.take(Line::new(whole.strip_suffix('\n').unwrap_or(whole), place.source, place.lines));
        place.source += whole.len();
    }
    (place.verbatim, place.block) = (pass.verbatim, pass.block);
    pass.close();
    pass.close_gathered();
    pass.lines
}

struct Pass<'r, 't> {
    reducer: &'r Reducer,
    detail: Detail,
    lines: Vec<Line<'t>>,
    /// What the last lines belong to.
    open: Open<'t>,
    /// Lines that are counted together.
    gathered: Vec<Gathered>,
    /// What the last record says behind its title.
    last_remark: String,
    /// While lines stay as they are: the rule whose `until` ends that.
    verbatim: Option<usize>,
    /// The block that the last line was in or opened.
    block: Option<OpenBlock>,
}

/// Lines that become something together.
enum Open<'t> {
    Nothing,
    /// Of a rule that drops all but the first lines: how many were shown, and those that are counted.
    Run {
        rule: usize,
        label: &'static str,
        shown: usize,
        says_where: bool,
        dropped: Vec<Line<'t>>,
    },
    Group {
        file: String,
        rows: Vec<(Line<'t>, String)>,
    },
    Search(SearchRun<'t>),
    Backtrace(Backtrace<'t>),
    Paths {
        rule: usize,
        run: PathRun<'t>,
    },
    Listing(Listing<'t>),
    Tree {
        rule: usize,
        tree: DrawnTree<'t>,
    },
    Record(OpenRecord<'t>),
}

/// Lines that are counted at the place of the first of them.
struct Gathered {
    label: &'static str,
    /// The index of the mark in the lines.
    at: usize,
    count: usize,
}

impl<'t> Pass<'_, 't> {
    fn take(&mut self, line: Line<'t>) {
        let change = self.reducer.block_after(self.block, &line.text);
        let block = change.of_line;
        self.block = change.next;
        let rule = self.reducer.rule(&line.text, block);
        if self.verbatim.is_none()
            && let Some((number, rule)) = rule.filter(|(_, rule)| rule.rule.action.keeps_words())
        {
            return self.apply(number, rule, line);
        }
        if self.reducer.is_error(&line.text) {
            self.close();
            self.verbatim = self.verbatim.filter(|rule| !self.ends_verbatim(*rule, &line));
            return self.push(line, Kind::Verbatim);
        }
        if self.take_frame(&line) {
            return;
        }
        if let Some((number, rule)) = self.reducer.rule_anywhere(&line.text, block) {
            return self.apply(number, rule, line);
        }
        if let Some(rule) = self.verbatim {
            self.close();
            self.verbatim = (!self.ends_verbatim(rule, &line)).then_some(rule);
            return self.push(line, Kind::Verbatim);
        }
        if let Some(record) = &self.reducer.record {
            if let Open::Record(open) = &mut self.open
                && record.add(open, &line)
            {
                return;
            }
            if let Some(started) = record.start(&line) {
                self.close();
                self.open = Open::Record(started);
                return;
            }
        }
        if line.text.trim().is_empty() {
            self.close_gathered();
        } else if let Open::Listing(listing) = &mut self.open
            && listing.add(&line)
        {
            return;
        }
        match rule {
            Some((number, rule)) => self.apply(number, rule, line),
            None => {
                self.close();
                let kind = if self.reducer.may_be_error(&line.text) { Kind::Verbatim } else { Kind::Plain };
                self.push(line, kind);
            }
        }
    }

    /// Takes a line of a backtrace. `false`: it is none.
    fn take_frame(&mut self, line: &Line<'t>) -> bool {
        let Some(frames) = &self.reducer.frames else { return false };
        if let Open::Backtrace(open) = &mut self.open
            && frames.add(open, line)
        {
            return true;
        }
        let Some(started) = frames.start(line) else { return false };
        self.close();
        self.open = Open::Backtrace(started);
        true
    }

    /// Whether lines behind this one may be changed again.
    fn ends_verbatim(&self, rule: usize, line: &Line<'_>) -> bool {
        let until = self.reducer.rule_numbered(rule).and_then(|rule| rule.until.as_ref());
        until.is_none_or(|until| until.is_match(line.text.as_bytes()))
    }

    fn apply(&mut self, number: usize, rule: &CompiledRule, line: Line<'t>) {
        let label = rule.rule.label;
        match &rule.rule.action {
            Action::Keep => {
                self.close();
                self.push(line, Kind::Verbatim);
            }
            Action::Verbatim(_) => {
                self.close();
                self.close_gathered();
                self.push(line, Kind::Verbatim);
                self.verbatim = Some(number);
            }
            Action::Gather => self.gather(label, &line),
            Action::Drop => self.extend_run(number, label, 0, line),
            Action::First(limits) => {
                let max = if self.detail == Detail::Tight { limits.tight } else { limits.usual };
                self.extend_run(number, label, max, line);
            }
            Action::Once => {
                self.close();
                let name = rule.captures(&line.text).map(|captures| group(&captures, "name"));
                if !name.is_some_and(|name| self.has_shown(&name)) {
                    self.push(line, Kind::Verbatim);
                }
            }
            Action::Rewrite(to) => {
                self.close();
                let shown = rule.captures(&line.text).map(|captures| fill(to, &captures));
                let shown = shown.map_or_else(|| line.clone(), |text| line.saying(text));
                self.push(shown, Kind::Plain);
            }
            Action::Squeeze => {
                self.close();
                let text = squeezed(&line.text);
                self.push(line.saying(text), Kind::Verbatim);
            }
            Action::Group(to) => self.group(rule, line, to),
            Action::Search(limits, to) => self.search(rule, *limits, line, to),
            Action::Paths => {
                let Some(captures) = rule.captures(&line.text) else { return self.push(line, Kind::Plain) };
                let (what, path) = (group(&captures, "what"), group(&captures, "path"));
                if !matches!(&self.open, Open::Paths { rule, .. } if *rule == number) {
                    self.close();
                    self.open = Open::Paths { rule: number, run: PathRun::default() };
                }
                if let Open::Paths { run, .. } = &mut self.open {
                    run.add(line, what, path);
                }
            }
            Action::Listing => {
                self.close();
                self.open = Open::Listing(Listing::new(line));
            }
            Action::Tree => {
                let Some(captures) = rule.captures(&line.text) else { return self.push(line, Kind::Plain) };
                let (branch, name) = (group(&captures, "branch"), group(&captures, "name"));
                if !matches!(&self.open, Open::Tree { rule, .. } if *rule == number) {
                    self.close();
                    self.open = Open::Tree { rule: number, tree: DrawnTree::default() };
                }
                if let Open::Tree { tree, .. } = &mut self.open {
                    tree.add(line, &branch, name);
                }
            }
        }
    }

    /// Counts a line at the place of the first of its label.
    fn gather(&mut self, label: &'static str, line: &Line<'t>) {
        self.close();
        if let Some(gathered) = self.gathered.iter_mut().find(|gathered| gathered.label == label) {
            gathered.count += 1;
            return;
        }
        self.gathered.push(Gathered { label, at: self.lines.len(), count: 1 });
        self.push(line.clone(), Kind::Plain);
    }

    /// Shows the first lines of a run, and counts the others.
    fn extend_run(&mut self, number: usize, label: &'static str, max: usize, line: Line<'t>) {
        let is_same = |open: &Open<'_>| match open {
            Open::Run { rule, label: of, .. } => *rule == number || max == 0 && *of == label,
            _ => false,
        };
        if !is_same(&self.open) {
            self.close();
            let says_where = max > 0 && !label.is_empty();
            self.open = Open::Run { rule: number, label, shown: 0, says_where, dropped: Vec::new() };
        }
        if let Open::Run { shown, dropped, .. } = &mut self.open {
            if *shown < max {
                *shown += 1;
                self.push(line, Kind::Plain);
            } else {
                dropped.push(line);
            }
        }
    }

    fn group(&mut self, rule: &CompiledRule, line: Line<'t>, to: &str) {
        let Some(captures) = rule.captures(&line.text) else { return self.push(line, Kind::Plain) };
        let (name, row) = (group(&captures, "file"), fill(to, &captures));
        if !matches!(&self.open, Open::Group { file, .. } if *file == name) {
            self.close();
            self.open = Open::Group { file: name, rows: Vec::new() };
        }
        if let Open::Group { rows, .. } = &mut self.open {
            rows.push((line, row));
        }
    }

    /// Adds a match to its file. A rule without `file` is for lines between the matches of one search.
    fn search(&mut self, rule: &CompiledRule, limits: SearchLimits, line: Line<'t>, to: &str) {
        let Some(captures) = rule.captures(&line.text) else { return self.push(line, Kind::Plain) };
        let is_open = matches!(&self.open, Open::Search(_));
        if captures.name("file").is_none() {
            if !is_open {
                self.close();
                self.push(line, Kind::Plain);
            }
            return;
        }
        if !is_open {
            self.close();
            self.open = Open::Search(SearchRun::new(limits));
        }
        let (file, row) = (group(&captures, "file"), fill(to, &captures));
        let is_context = captures.name("context").is_some();
        if let Open::Search(run) = &mut self.open {
            run.add(&file, Match { line, row, is_context });
        }
    }

    /// Whether one of the last lines names this.
    fn has_shown(&self, name: &str) -> bool {
        const LAST_LINES: usize = 5_000;
        self.lines.iter().rev().take(LAST_LINES).any(|line| names(&line.text, name))
    }

    fn push(&mut self, line: Line<'t>, kind: Kind) {
        self.lines.push(Line { kind, ..line });
    }

    /// Ends what the last lines belong to.
    fn close(&mut self) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Run { label, shown, says_where, dropped, .. } => {
                self.lines.extend(run_mark(dropped, label, shown, says_where));
            }
            Open::Group { file, rows } => self.lines.extend(grouped(&file, rows)),
            Open::Search(run) => self.lines.extend(run.close()),
            Open::Backtrace(backtrace) => {
                let lines = backtrace.close(&self.lines);
                self.lines.extend(lines);
            }
            Open::Paths { run, .. } => self.lines.extend(run.close()),
            Open::Listing(listing) => self.lines.extend(listing.close()),
            Open::Tree { tree, .. } => self.lines.extend(tree.close()),
            Open::Record(record) => match record.counted_as() {
                Some((label, first)) => self.gather(label, &first),
                None => self.lines.extend(record.close(&mut self.last_remark)),
            },
        }
    }

    /// Writes how many lines were counted together.
    fn close_gathered(&mut self) {
        for Gathered { label, at, count } in self.gathered.drain(..) {
            if let Some(first) = self.lines.get_mut(at).filter(|_| count > 1) {
                *first = first.mark(count, label, false);
            }
        }
    }
}

//! What answers cost, as a table with bars.

use shellgate_text::{Style, StyledLine, escape, layout, with_commas};

use crate::record::{Gain, TokenCount};

/// The longest bar.
const BAR_COLUMNS: u64 = 20;

/// The longest name of a program that is not cut.
const MAX_NAME_COLUMNS: usize = 20;

/// So many programs are listed.
const MAX_PROGRAMS: usize = 15;

/// What answers cost, with a title.
#[derive(Clone, Copy, Debug)]
pub struct GainView<'a> {
    title: &'a str,
    gain: &'a Gain,
}

impl<'a> GainView<'a> {
    /// The view with this title, such as "this session".
    #[must_use]
    pub const fn new(title: &'a str, gain: &'a Gain) -> Self {
        Self { title, gain }
    }

    /// Its lines: the title, and a line for each program. In a bar, full blocks are tokens that were paid and light ones tokens
    /// that were saved.
    #[must_use]
    pub fn lines(&self) -> Vec<StyledLine> {
        let all = &self.gain.all;
        let mut lines = vec![StyledLine::default().with(Style::Strong, escape::line(self.title))];
        if all.answers == 0 {
            lines.push("  no answers yet".to_owned().into());
            return lines;
        }
        let head = format!("  {:<20} {:>7} {:>10} {:>10} {:>5}", "program", "answers", "tokens", "saved", "");
        lines.push(StyledLine::default().with(Style::Faint, head.trim_end()));
        let longest = self.gain.programs.first().map_or(0, |program| program.count.whole());
        for program in self.gain.programs.iter().take(MAX_PROGRAMS) {
            lines.push(row(&program.program, &program.count, longest));
        }
        let more = self.gain.programs.len().saturating_sub(MAX_PROGRAMS);
        if more > 0 {
            lines.push(format!("  and {more} more programs").into());
        }
        lines.push(row("all", all, 0));
        lines
    }
}

fn row(name: &str, count: &TokenCount, longest: u64) -> StyledLine {
    let name = layout::cut(&escape::line(name), MAX_NAME_COLUMNS);
    let blanks = " ".repeat(MAX_NAME_COLUMNS.saturating_sub(layout::columns(&name)));
    let percent = count.saved.saturating_mul(100).checked_div(count.whole()).unwrap_or(0);
    let percent = if count.saved == 0 { String::new() } else { format!("{percent} %") };
    let (tokens, saved) = (with_commas(count.tokens), with_commas(count.saved));
    let line = StyledLine::from(format!(
        "  {name}{blanks} {:>7} {tokens:>10} {saved:>10} {percent:>5}",
        count.answers
    ));
    let cells = |tokens: u64| tokens.saturating_mul(BAR_COLUMNS).checked_div(longest).unwrap_or(0);
    // What is there is never without a cell.
    let whole = cells(count.whole()).max(u64::from(longest > 0));
    let paid = cells(count.tokens).max(u64::from(longest > 0)).min(whole);
    let bar = |block: &str, cells: u64| block.repeat(usize::try_from(cells).unwrap_or(0));
    if whole == 0 {
        return line;
    }
    line.with(Style::Plain, format!("  {}", bar("█", paid))).with(Style::Good, bar("░", whole - paid))
}

#[cfg(test)]
mod tests {
    use shellgate_text::plain_text;

    use super::*;
    use crate::record::ProgramGain;

    #[test]
    fn programs_have_bars_of_what_was_paid_and_saved() {
        let count = |answers, tokens, saved| TokenCount { answers, condensed: 0, tokens, saved };
        let program = |name: &str, count| ProgramGain { program: name.to_owned(), count };
        let gain = Gain {
            all: count(16, 2_650, 9_100),
            programs: vec![
                program("cargo test", count(4, 1_000, 9_000)),
                program("git log", count(2, 1_400, 100)),
                program("ls", count(10, 250, 0)),
            ],
        };
        insta::assert_snapshot!(plain_text(&GainView::new("this session", &gain).lines()), @r"
        this session
          program              answers     tokens      saved
          cargo test                 4      1,000      9,000  90 %  ██░░░░░░░░░░░░░░░░░░
          git log                    2      1,400        100   6 %  ██░
          ls                        10        250          0        █
          all                       16      2,650      9,100  77 %
        ");
        let none = Gain::default();
        assert_eq!(
            plain_text(&GainView::new("last 7 days", &none).lines()),
            "last 7 days\n  no answers yet\n"
        );
    }
}

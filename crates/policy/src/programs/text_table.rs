//! Rows of programs as one text: the form that the build gives to tables with thousands of words, so that none of them is a
//! pointer to relocate whenever a process starts.

/// A table. Each program's part begins with its name on a line; its rows follow, a line each.
pub(super) struct TextTable {
    pub(super) text: &'static str,
    /// Where each program's part begins, in the order of the names.
    pub(super) starts: &'static [u32],
}

impl TextTable {
    /// The programs, each with its rows.
    pub(super) fn programs(&self) -> impl ExactSizeIterator<Item = (&'static str, &'static str)> {
        (0..self.starts.len()).map(|place| self.program_at(place))
    }

    /// The rows of a program.
    pub(super) fn rows_of(&self, name: &str) -> Option<&'static str> {
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.program_at(middle).0 < name { low = middle + 1 } else { high = middle }
        }
        let (program, rows) = self.program_at(low);
        (program == name).then_some(rows)
    }

    /// The program at a place of the table, and its rows.
    fn program_at(&self, place: usize) -> (&'static str, &'static str) {
        let start = |place: usize| self.starts.get(place).and_then(|at| usize::try_from(*at).ok());
        let begin = start(place).unwrap_or(self.text.len());
        let all = self.text.get(begin..start(place + 1).unwrap_or(self.text.len())).unwrap_or_default();
        all.split_once('\n').unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_its_whole_name() {
        let table = TextTable { text: "a\nx\nab\ny\nz\n", starts: &[0, 4] };
        for (name, rows) in
            [("a", Some("x\n")), ("ab", Some("y\nz\n")), ("", None), ("aa", None), ("b", None)]
        {
            assert_eq!(table.rows_of(name), rows, "{name}");
        }
        assert_eq!(table.programs().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "ab"]);
    }
}

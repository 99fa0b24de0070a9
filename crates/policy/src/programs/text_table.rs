//! Rows of programs as one text: the form that the build gives to tables with thousands of words, so that none of them is a
//! pointer to relocate whenever a process starts.

use super::name_slot::{candidates, hash, mark};

/// A table. Each program's part begins with its name on a line; its rows follow, a line each.
pub(super) struct TextTable {
    pub(super) text: &'static str,
    /// Where each program's part begins, in the order of the names.
    pub(super) starts: &'static [u32],
    /// The programs by the hashes of their names ([`name_slot`](super::name_slot)). A judge looks up dozens of names for each text,
    /// and most are in no table.
    pub(super) slots: &'static [u32],
}

impl TextTable {
    /// The programs, each with its rows.
    pub(super) fn programs(&self) -> impl ExactSizeIterator<Item = (&'static str, &'static str)> {
        (0..self.starts.len()).map(|place| self.program_at(place))
    }

    /// The rows of a program.
    pub(super) fn rows_of(&self, name: &str) -> Option<&'static str> {
        let hash = hash(name);
        for slot in candidates(hash, self.slots.len()) {
            let slot = *self.slots.get(slot)?;
            // Slots are filled without gaps behind the first that a name may have.
            let place = usize::try_from(slot & !mark(u32::MAX)).ok()?.checked_sub(1)?;
            if mark(slot) == mark(hash) {
                let (program, rows) = self.program_at(place);
                if program == name {
                    return Some(rows);
                }
            }
        }
        None
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

    /// The slots of a table with these names, as the build makes them.
    fn slots(names: &[&str], count: usize) -> &'static [u32] {
        let mut slots = vec![0; count];
        for (place, name) in (1..).zip(names) {
            let free = candidates(hash(name), count).find(|slot| slots[*slot] == 0).unwrap();
            slots[free] = mark(hash(name)) | place;
        }
        slots.leak()
    }

    #[test]
    fn a_program_is_found_by_its_whole_name() {
        for count in [4, 2] {
            let table =
                TextTable { text: "a\nx\nab\ny\nz\n", starts: &[0, 4], slots: slots(&["a", "ab"], count) };
            for (name, rows) in
                [("a", Some("x\n")), ("ab", Some("y\nz\n")), ("", None), ("aa", None), ("b", None)]
            {
                assert_eq!(table.rows_of(name), rows, "{name}, {count} slots");
            }
            assert_eq!(table.programs().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "ab"]);
        }
    }

    #[test]
    fn an_empty_table_holds_nothing() {
        assert_eq!(TextTable { text: "", starts: &[], slots: &[] }.rows_of("a"), None);
    }
}

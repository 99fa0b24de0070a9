//! `/proc/PID/stat`.

use super::ProcessFolder;

/// One process, as it was when we looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The state: `R` runs or wants to, `S` sleeps, `D` waits for a disk, `T` is suspended, `Z` is dead and not reaped.
    pub letter: u8,
    /// Its parent.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// The device of its controlling terminal, major and minor number in the kernel's own packing; 0 without one.
    pub terminal: u32,
    /// The kernel's flags.
    pub flags: u64,
    /// Clock ticks of processor time that it has used.
    pub ticks: u64,
    /// Clock ticks that those of its children used which it has waited for, and theirs.
    pub reaped_ticks: u64,
    /// How many threads it has.
    pub threads: u64,
    /// When it started, in clock ticks since the boot.
    pub started: u64,
    /// Pages of its memory that are not swapped out.
    pub resident_pages: u64,
}

/// More than such a line has: 52 numbers and a name.
pub(super) const MAX_STAT_BYTES: u64 = 4 << 10;

impl Stat {
    /// Whether it has ended. A process whose first thread has ended looks dead; it lives as long as another thread does.
    #[must_use]
    pub const fn is_dead(&self) -> bool {
        matches!(self.letter, b'Z' | b'X') && self.threads <= 1
    }

    /// Whether it wants the CPU and had none to speak of: it has probably not called `exec` yet.
    #[must_use]
    pub const fn is_unborn(&self) -> bool {
        matches!(self.letter, b'R' | b'D') && self.ticks < 2
    }

    /// Whether it is about to end: the kernel shows nothing of what such a process does.
    #[must_use]
    pub const fn is_exiting(&self) -> bool {
        const PF_EXITING: u64 = 4;
        self.flags & PF_EXITING != 0
    }

    /// The name and the rest of a line. The name is in parentheses and may hold blanks, parentheses and line ends of its
    /// own, so the fields are counted from its end.
    pub(super) fn parse(line: &str) -> Option<(&str, Self)> {
        let (before, after) = line.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let fields: Vec<&str> = after.split_ascii_whitespace().collect();
        // Numbered as in proc(5); the state is field 3.
        let field = |number: usize| fields.get(number - 3).copied();
        let number = |at: usize| field(at)?.parse::<u64>().ok();
        let small = |at: usize| field(at)?.parse::<u32>().ok();
        let stat = Self {
            letter: *field(3)?.as_bytes().first()?,
            parent: small(4)?,
            group: small(5)?,
            terminal: field(7)?.parse::<i32>().ok()?.cast_unsigned(),
            flags: number(9)?,
            ticks: number(14)? + number(15)?,
            reaped_ticks: number(16)? + number(17)?,
            threads: number(20)?,
            started: number(22)?,
            resident_pages: number(24)?,
        };
        Some((name, stat))
    }
}

impl ProcessFolder {
    /// The numbers about it.
    #[must_use]
    pub fn stat(self) -> Option<Stat> {
        let line = self.read_text("stat", MAX_STAT_BYTES)?;
        Stat::parse(&line).map(|(_, stat)| stat)
    }

    /// Its short name, which it may have chosen itself, and the numbers about it.
    #[must_use]
    pub fn name_and_stat(self) -> Option<(String, Stat)> {
        let line = self.read_text("stat", MAX_STAT_BYTES)?;
        Stat::parse(&line).map(|(name, stat)| (name.to_owned(), stat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a `bash` on Linux 6.18, without its number and name.
    const FIELDS: &str = "S 4321 8765 8765 34817 8801 4194304 3126 14207 0 1 12 7 30 41 20 0 1 0 123456 8019968 1337 \
                          18446744073709551615 1 1 0 0 0 0 65536 3670020 1266777851 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn every_field_is_where_the_manual_says() {
        let expected = Stat {
            letter: b'S',
            parent: 4321,
            group: 8765,
            terminal: 34817,
            flags: 4_194_304,
            ticks: 19,
            reaped_ticks: 71,
            threads: 1,
            started: 123_456,
            resident_pages: 1337,
        };
        assert_eq!(Stat::parse(&format!("8765 (bash) {FIELDS}")), Some(("bash", expected)));
    }

    #[test]
    fn a_name_may_hold_anything() {
        let names = ["a b", "a) R 1 (b", "((", "))", ") Z 1 1", "", "x\ny", "tmux: server", "\u{fffd}"];
        for name in names {
            let line = format!("8765 ({name}) {FIELDS}");
            let (seen, stat) = Stat::parse(&line).unwrap();
            assert_eq!((seen, stat.parent, stat.letter), (name, 4321, b'S'), "{line}");
        }
    }

    #[test]
    fn a_truncated_line_is_not_parsed() {
        let line = format!("8765 (bash) {FIELDS}");
        for cut in ["", "8765", "8765 (bash", "8765 (bash)", "8765 (bash) S 4321 8765"] {
            assert_eq!(Stat::parse(cut), None, "{cut}");
        }
        assert!(Stat::parse(line.trim_end()).is_some());
    }

    #[test]
    fn a_process_with_a_living_thread_is_not_dead() {
        let with = |letter: &str, threads: u64| {
            let fields =
                FIELDS.replacen('S', letter, 1).replacen(" 20 0 1 0 ", &format!(" 20 0 {threads} 0 "), 1);
            Stat::parse(&format!("1 (x) {fields}")).unwrap().1
        };
        assert!(with("Z", 1).is_dead() && with("X", 0).is_dead());
        assert!(!with("Z", 2).is_dead() && !with("S", 1).is_dead());
    }

    #[test]
    fn our_own_parent_and_name_are_found() {
        let (name, stat) = super::super::own().name_and_stat().unwrap();
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get().unsigned_abs();
        assert_eq!((stat.parent, stat.is_dead(), stat.is_exiting()), (parent, false, false));
        assert_eq!(Some(name), super::super::of(std::process::id()).name_and_stat().map(|(name, _)| name));
        assert_eq!(super::super::of(u32::MAX).stat(), None);
    }
}

//! Compares modes of `chmod` by the permissions that they give.

/// All permissions that a class has.
const CLASSES: [(char, u32); 3] = [('u', 0o4700), ('g', 0o2070), ('o', 0o1007)];

/// Each kind of permission, for all classes.
const KINDS: [u32; 5] = [0o444, 0o222, 0o111, 0o6000, 0o1000];

const READ_WRITE_EXECUTE: u32 = 0o777;
const ALL: u32 = 0o7777;

/// What a mode gives.
struct Mode {
    given: u32,
    /// Whether it is a number, which says everything about the permissions.
    is_number: bool,
    /// Whether it names no class: `+x`.
    is_for_any: bool,
}

/// Whether a call with the mode `ours` gives what a rule with the mode `wanted` is about.
pub(super) fn gives(ours: &str, wanted: &str) -> bool {
    let (Some(ours), Some(wanted)) = (read(ours), read(wanted)) else { return false };
    let given = ours.given & wanted.given;
    if wanted.given == 0 {
        false
    } else if wanted.is_number {
        ours.given & READ_WRITE_EXECUTE == wanted.given & READ_WRITE_EXECUTE && given == wanted.given
    } else if wanted.is_for_any {
        KINDS.iter().filter(|kind| wanted.given & *kind != 0).all(|kind| given & kind != 0)
    } else {
        given == wanted.given
    }
}

fn read(mode: &str) -> Option<Mode> {
    if !mode.is_empty() && mode.chars().all(|c| c.is_digit(8)) {
        let given = u32::from_str_radix(mode, 8).ok()? & ALL;
        return Some(Mode { given, is_number: true, is_for_any: false });
    }
    let (mut given, mut is_for_any) = (0, false);
    for clause in mode.split(',') {
        let start = clause.find(['+', '-', '='])?;
        let (classes, mut actions) = clause.split_at(start);
        let classes = match classes {
            "" => {
                is_for_any = true;
                ALL
            }
            classes if classes.contains('a') => ALL,
            classes => {
                let named = CLASSES.iter().filter(|(letter, _)| classes.contains(*letter));
                named.fold(0, |all, (_, bits)| all | bits)
            }
        };
        // `u+r-w`
        while let Some(sign) = actions.chars().next() {
            let rest = actions.get(1..)?;
            let end = rest.find(['+', '-', '=']).unwrap_or(rest.len());
            let (letters, left) = rest.split_at(end);
            for letter in letters.chars() {
                let bits = match letter {
                    'r' => 0o444,
                    'w' => 0o222,
                    'x' | 'X' => 0o111,
                    's' => 0o6000,
                    't' => 0o1000,
                    // The permissions of another class.
                    'u' | 'g' | 'o' => READ_WRITE_EXECUTE,
                    digit => digit.to_digit(8).map(|_| READ_WRITE_EXECUTE)?,
                };
                given |= if sign == '-' { 0 } else { bits & classes };
            }
            actions = left;
        }
    }
    Some(Mode { given, is_number: false, is_for_any })
}

#[cfg(test)]
mod tests {
    use super::gives;

    #[test]
    fn a_mode_gives_what_another_spelling_of_it_gives() {
        for (ours, wanted) in [
            ("+s", "u+s"),
            ("4755", "u+s"),
            ("u=rwx,go=u", "777"),
            ("a=rw,a+x", "777"),
            ("1777", "777"),
            ("+rx", "+x"),
            ("u+rx", "+x"),
            ("755", "+x"),
            ("u-w+x", "+x"),
        ] {
            assert!(gives(ours, wanted), "{ours} {wanted}");
        }
        for (ours, wanted) in [
            ("644", "+x"),
            ("755", "777"),
            ("g+s", "u+s"),
            ("u-x", "+x"),
            ("755", "u+s"),
            ("x", "+x"),
            ("-w", "-w"),
        ] {
            assert!(!gives(ours, wanted), "{ours} {wanted}");
        }
    }
}

//! Patterns of names, as find and bash read them.

/// Whether a name fits a pattern with `*`, `?` and `[ ]`, all of which also stand for dots and slashes.
pub(super) fn fits_glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // `fits[i]`: whether the pattern so far stands for the first `i` characters.
    let mut fits = vec![false; name.len() + 1];
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    let mut rest = pattern.as_slice();
    let mut may_close = true;
    while let Some((sign, behind)) = rest.split_first() {
        // What doesn't fit so far never will: long patterns cost no more than the name is long.
        if !fits.contains(&true) {
            return false;
        }
        rest = behind;
        if *sign == '*' {
            let mut reached = false;
            for one in &mut fits {
                reached |= *one;
                *one = reached;
            }
            continue;
        }
        let set: Option<&[char]> = match sign {
            '[' if may_close => {
                let end = rest.iter().skip(1).position(|c| *c == ']').map(|at| at + 1);
                // Behind a `[` that nothing closes, nothing closes another.
                may_close = end.is_some();
                end.and_then(|end| {
                    let (set, behind) = rest.split_at_checked(end)?;
                    rest = behind.get(1..)?;
                    Some(set)
                })
            }
            _ => None,
        };
        let stands = |c: char| match (sign, set) {
            ('?', _) => true,
            (_, Some(set)) => is_in_set(set, c),
            (sign, None) => *sign == c,
        };
        let next =
            std::iter::once(false).chain(fits.iter().zip(&name).map(|(before, c)| *before && stands(*c)));
        fits = next.collect();
    }
    fits.last().copied().unwrap_or(false)
}

fn is_in_set(set: &[char], c: char) -> bool {
    let (is_other, set) = match set {
        ['!' | '^', rest @ ..] => (true, rest),
        set => (false, set),
    };
    let in_range = |range: &[char]| matches!(range, [low, '-', high] if (*low..=*high).contains(&c));
    (set.contains(&c) || set.windows(3).any(in_range)) != is_other
}

#[cfg(test)]
mod tests {
    use super::fits_glob;

    #[test]
    fn patterns_stand_for_names() {
        for (pattern, name, fits) in [
            (".git", ".git", true),
            (".g*", ".git", true),
            ("*git", ".git", true),
            ("?git", ".git", true),
            (".[a-h]it", ".git", true),
            (".[!g]it", ".git", false),
            ("*", ".git", true),
            ("./.git*", "./.git/x", true),
            ("*/.git/*", "./.git/x", true),
            ("*.pyc", ".git", false),
            (".gitignore", ".git", false),
            ("[", "[", true),
            ("[a[b", "[a[b", true),
            ("[a]*", "b", false),
        ] {
            assert_eq!(fits_glob(pattern, name), fits, "{pattern} {name}");
        }
    }
}

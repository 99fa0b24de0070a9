//! What `${x%.git}`, `${x:3}`, `${x/a/b}` and `${x,,}` make of a value that is known.

use super::globs::fits_glob;

/// The value after a change as it is written behind the name. `None`: the change isn't known here.
pub(super) fn changed(value: &str, change: &str) -> Option<String> {
    let text = |text: &str| Some(text.to_owned());
    match change.chars().next()? {
        '%' => text(without_end(value, change)),
        '#' => text(without_begin(value, change)),
        ':' => part(value, change),
        '/' => replaced(value, change),
        ',' | '^' => Some(in_case(value, change)),
        _ => None,
    }
}

/// The number of the first parameter that `${@:2}` stands for.
pub(super) fn first_parameter(change: &str) -> Option<usize> {
    change.strip_prefix(':')?.split(':').next()?.trim().parse().ok()
}

/// `%x` takes the shortest end that fits, `%%x` the longest.
fn without_end<'v>(value: &'v str, change: &str) -> &'v str {
    let pattern = change.trim_start_matches('%');
    let mut ends = value.char_indices().map(|(at, _)| at).chain([value.len()]);
    let fits = |at: &usize| value.get(*at..).is_some_and(|end| fits_glob(pattern, end));
    let found = match change.starts_with("%%") {
        true => ends.find(fits),
        false => ends.collect::<Vec<_>>().into_iter().rev().find(fits),
    };
    found.and_then(|at| value.get(..at)).unwrap_or(value)
}

/// `#x` takes the shortest beginning that fits, `##x` the longest.
fn without_begin<'v>(value: &'v str, change: &str) -> &'v str {
    let pattern = change.trim_start_matches('#');
    let mut begins = value.char_indices().map(|(at, _)| at).chain([value.len()]);
    let fits = |at: &usize| value.get(..*at).is_some_and(|begin| fits_glob(pattern, begin));
    let found = match change.starts_with("##") {
        true => begins.collect::<Vec<_>>().into_iter().rev().find(fits),
        false => begins.find(fits),
    };
    found.and_then(|at| value.get(at..)).unwrap_or(value)
}

/// `:3` and `:3:2`, also counted from the end.
fn part(value: &str, change: &str) -> Option<String> {
    let mut numbers = change.strip_prefix(':')?.split(':').map(|number| number.trim().parse::<i64>());
    let count = i64::try_from(value.chars().count()).ok()?;
    let from_begin = |number: i64| if number < 0 { (count + number).max(0) } else { number.min(count) };
    let first = from_begin(numbers.next()?.ok()?);
    let end = match numbers.next() {
        None => count,
        Some(length) => match length.ok()? {
            length if length < 0 => from_begin(length),
            length => (first + length).min(count),
        },
    };
    let (first, end) = (usize::try_from(first).ok()?, usize::try_from(end).ok()?);
    Some(value.chars().take(end).skip(first).collect())
}

/// `/a/b` replaces the first, `//a/b` all. Only plain texts are looked for.
fn replaced(value: &str, change: &str) -> Option<String> {
    let all = change.starts_with("//");
    let rest = change.trim_start_matches('/');
    let (wanted, other) = rest.split_once('/').unwrap_or((rest, ""));
    let is_plain = !wanted.is_empty() && !wanted.contains(['*', '?', '[', '$', '\\', '#', '%']);
    is_plain.then(|| if all { value.replace(wanted, other) } else { value.replacen(wanted, other, 1) })
}

fn in_case(value: &str, change: &str) -> String {
    let is_lower = change.starts_with(',');
    let one = |c: char| if is_lower { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    match change {
        ",," | "^^" => value.chars().map(one).collect(),
        _ => value.chars().enumerate().map(|(at, c)| if at == 0 { one(c) } else { c }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn values_are_changed_as_bash_does() {
        for (value, change, wanted) in [
            (".gitt", "%t", ".git"),
            ("a.b.c", "%.*", "a.b"),
            ("a.b.c", "%%.*", "a"),
            ("a.b.c", "#*.", "b.c"),
            ("a.b.c", "##*.", "c"),
            ("abc", "%x", "abc"),
            ("abc.git", ":3", ".git"),
            ("abc.git", ":3:2", ".g"),
            ("abc.git", ": -4", ".git"),
            (".gxt", "/x/i", ".git"),
            ("aXbX", "//X", "ab"),
            (".GIT", ",,", ".git"),
            ("git", "^", "Git"),
        ] {
            assert_eq!(changed(value, change).as_deref(), Some(wanted), "{value} {change}");
        }
        assert_eq!(changed("x", "@Q"), None);
    }
}

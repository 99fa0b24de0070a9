//! Canonical JSON: one text for each value, so that other programs can compute its hash.
//!
//! UTF-8, no blanks between tokens, the keys of every object sorted by their bytes, absent values left out. In
//! strings `"` and `\` are escaped by a backslash, the control characters U+0000 to U+001F as `\b \t \n \f \r` or else
//! as `\u00xx` with lower-case digits, and nothing else. Numbers are integers in decimal. This is what Python writes
//! with `json.dumps(x, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`.

use serde::Serialize;

/// `value` in canonical form.
pub(crate) fn to_string<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(value)?;
    value.sort_all_objects();
    serde_json::to_string(&value)
}

/// `text` as it is written inside a canonical string, without the quotes around it.
pub(crate) fn escaped(text: &str) -> Result<String, serde_json::Error> {
    let quoted = serde_json::to_string(text)?;
    Ok(quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{escaped, to_string};

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({"b": [{"z": 1, "a": 2}], "a": {"é": 1, "z": 2, "Z": 3}});
        assert_eq!(to_string(&value).unwrap(), r#"{"a":{"Z":3,"z":2,"é":1},"b":[{"a":2,"z":1}]}"#);
    }

    #[test]
    fn strings_are_escaped_as_little_as_json_allows() {
        let value = "\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\"\\/\u{7f}\u{2028}é😀";
        let written = to_string(&value).unwrap();
        assert_eq!(written, "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\u{7f}\u{2028}é😀\"");
        assert_eq!(escaped("a\"b").unwrap(), "a\\\"b");
    }
}

//! Name, value and exceptions together.

use super::{super::build::Why, name, tables, value};

/// Why this variable is a secret, if it is.
pub(in super::super) fn judge(name: &[u8], value: &[u8]) -> Option<Why> {
    let is_handle = tables::HANDLES.iter().any(|(handle, _)| handle.as_bytes() == name);
    match name::find(name) {
        Some(pattern) if !is_handle && !is_switch(value) => Some(Why::SecretName(pattern)),
        _ => value::find(value).map(Why::SecretValue),
    }
}

/// Whether a value only turns something on or off, or is empty: `REQUIRE_PASSWORD=true` tells no secret.
fn is_switch(value: &[u8]) -> bool {
    let number = value.len() <= 2 && value.iter().all(u8::is_ascii_digit);
    number || tables::SWITCHES.iter().any(|switch| value.eq_ignore_ascii_case(switch.as_bytes()))
}

//! Detects secrets by name and value, with the exceptions.

use super::{super::build::HiddenReason, name, tables, value};

/// Why this variable looks like a secret. `None`: it doesn't.
pub(in super::super) fn detect(name: &[u8], value: &[u8]) -> Option<HiddenReason> {
    let is_handle = tables::HANDLES.iter().any(|(handle, _)| handle.as_bytes() == name);
    match name::find(name) {
        Some(pattern) if !is_handle && !is_switch(value) => Some(HiddenReason::SecretName(pattern)),
        _ => value::find(value).map(HiddenReason::SecretValue),
    }
}

/// Whether a value only switches something on or off, or is empty: `REQUIRE_PASSWORD=true` contains no secret.
fn is_switch(value: &[u8]) -> bool {
    let number = value.len() <= 2 && value.iter().all(u8::is_ascii_digit);
    number || tables::SWITCHES.iter().any(|switch| value.eq_ignore_ascii_case(switch.as_bytes()))
}

//! The builtins that bash's own grammar treats apart, by how their name is written.

/// Builtins whose arguments may be arrays: `declare a=( … )`.
const TAKING_ARRAYS: &[&str] = &["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

/// Builtins whose arguments of the form `name=value` are not split into words.
const ASSIGNING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Whether the arguments of this builtin may be arrays.
pub(crate) fn takes_arrays(name: &str) -> bool {
    TAKING_ARRAYS.contains(&name)
}

/// Whether bash doesn't split arguments of this builtin that have the form `name=value`.
pub(crate) fn assigns(name: &str) -> bool {
    ASSIGNING.contains(&name)
}

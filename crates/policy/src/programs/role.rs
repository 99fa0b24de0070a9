//! What a word is to a program.

/// Makes the enum of the list.
macro_rules! roles {
    ($($(#[$doc:meta])* $name:literal = $role:ident,)*) => {
        /// What a value or an operand is to the program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Role {
            $($(#[$doc])* $role,)*
        }
    };
}

include!("role_list.rs");

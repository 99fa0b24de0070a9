//! Faults in the keeper.

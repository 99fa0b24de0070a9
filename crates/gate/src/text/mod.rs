//! Output bytes to text for a model.

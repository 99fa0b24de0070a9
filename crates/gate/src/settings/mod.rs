//! Settings: see the module that owns each layer.

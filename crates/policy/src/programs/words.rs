//! Lists of words that special functions need (settings of git, options of ssh, names of python's modules), from the
//! `[words]` of the tables.

include!(concat!(env!("OUT_DIR"), "/words.rs"));

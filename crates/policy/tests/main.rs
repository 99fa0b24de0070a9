//! The judge from outside: corpora of texts and calls with the verdicts that they must get.

mod attacks;
mod effects;
mod everyday;
mod judging;
mod oracle;
mod paths;
mod policy_vectors;
mod presets;
mod ruin;
mod rules;
mod scope_vectors;

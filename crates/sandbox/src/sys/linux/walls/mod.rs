//! The walls that a launcher puts around itself, once, before it starts commands. Every command inherits them.
//!
//! Each module is one wall and knows nothing of the others. None can be taken down again. A launcher that has entered
//! its namespaces and made its mounts puts them up in this order:
//!
//! 1. [`capabilities::drop_all_but_shield`]: no capability is left that a command has, `no_new_privs` is on. The next two need
//!    the latter from a process without `CAP_SYS_ADMIN`.
//! 2. [`landlock::Ruleset::apply`]: files outside the writable places can't be changed. Prepare the ruleset earlier, so
//!    that a path that doesn't exist is an error while nothing is confined yet.
//! 3. [`seccomp::load()`], last: the filter also holds for the launcher, and the two steps above use system calls that a
//!    narrower filter might refuse.
//! 4. [`verify::Held::read`]: what the kernel says about the calling process, compared before anything runs.
//!
//! ```no_run
//! use shellgate_sandbox::walls::{capabilities, landlock, seccomp, verify};
//!
//! let rules = landlock::PathRules { writable: vec!["/home/u/project".into(), "/dev/null".into()], readable: None };
//! let scopes = landlock::Scopes { abstract_sockets: landlock::Scope::Domain, signals: landlock::Scope::Domain };
//! let ruleset = landlock::Ruleset::prepare(&rules, scopes)?;
//! let arch = seccomp::Arch::CURRENT.ok_or("no table for this architecture")?;
//! let program = seccomp::Program::compile(arch, &seccomp::rules(&[]), 0)?;
//! capabilities::drop_all()?;
//! ruleset.apply()?;
//! seccomp::load(&program)?;
//! assert!(verify::Held::read()?.is_confined());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod capabilities;
pub mod landlock;
pub mod seccomp;
pub mod verify;

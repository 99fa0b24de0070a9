//! Attack texts from data files. None may be allowed, and each really does what the rules forbid when bash runs it: it makes
//! the file `P` in its folder or outside. A text that can't show this here says why (`unseen`), so a harmless text can't
//! pass for an attack.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use shellgate_policy::{CommandContext, Decision, Machine, Redirects, Rules, judge};

use super::entries;

/// One data file: rules, and the texts that they must stop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "everything")]
    core: Vec<String>,
    #[serde(default = "touch")]
    exclude: Vec<String>,
    /// Preparations that several texts share, by their names.
    #[serde(default)]
    setups: BTreeMap<String, String>,
    attack: Vec<Attack>,
    /// Texts that look alike and are allowed.
    #[serde(default)]
    harmless: Vec<Attack>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    text: String,
    /// Bash commands that prepare the folder, or the name of such. They are not judged.
    #[serde(default)]
    setup: String,
    /// Rules for this text in place of the file's.
    core: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    /// The folder below the root that the text starts in.
    #[serde(default)]
    directory: String,
    /// A folder below the root that is the first of PATH.
    path: Option<String>,
    /// The text on standard input.
    stdin: Option<String>,
    /// Whether redirects may write inside the root.
    #[serde(default)]
    inside_root: bool,
    /// Why the effect can't be seen here, for example because the program isn't installed.
    unseen: Option<String>,
}

fn everything() -> Vec<String> {
    vec!["*".to_owned()]
}

fn touch() -> Vec<String> {
    vec!["touch".to_owned()]
}

/// The user that runs the texts if the tests run as the superuser.
const ORDINARY_USER: u32 = 12345;

fn is_superuser() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// The folders of one attack: `outside/root` is the root.
fn folders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("outside/root")).unwrap();
    for path in ["", "outside", "outside/root"] {
        std::fs::set_permissions(folder.path().join(path), Permissions::from_mode(0o777)).unwrap();
        // Git trusts only folders of its user.
        if is_superuser() {
            std::os::unix::fs::chown(folder.path().join(path), Some(ORDINARY_USER), Some(ORDINARY_USER))
                .unwrap();
        }
    }
    folder
}

/// Runs `text` by bash in namespaces of its own, as an ordinary user, with the folders `outside/root` as its world.
fn run(text: &str, directory: &Path, stdin: Option<&str>, path: &OsStr) {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "20"]);
    if is_superuser() {
        command.args(["setpriv", &format!("--reuid={ORDINARY_USER}"), &format!("--regid={ORDINARY_USER}")]);
        command.arg("--clear-groups");
    }
    command.args(["unshare", "--user", "--map-current-user", "--mount", "--pid", "--fork", "--mount-proc"]);
    command.args(["--net", "--kill-child", "bash", "-c", text]);
    // No text depends on the caller's environment. Make, for example, runs nothing from its command line without a SHELL.
    command.env_clear().env("PATH", path).env("SHELL", "/bin/sh");
    command.current_dir(directory).env("HOME", directory.join("../home"));
    let input = match stdin {
        Some(text) => {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.rewind().unwrap();
            Stdio::from(file)
        }
        None => Stdio::null(),
    };
    command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.status().unwrap();
}

/// PATH for an attack.
fn search_path(attack: &Attack, root: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap();
    let own = attack.path.iter().map(|folder| root.join(folder));
    std::env::join_paths(own.chain(std::env::split_paths(&path))).unwrap()
}

fn prepare(attack: &Attack, file: &File, root: &Path) {
    let setup = file.setups.get(&attack.setup).unwrap_or(&attack.setup);
    if !setup.is_empty() {
        run(setup, root, None, &search_path(attack, root));
    }
}

fn allowed(attack: &Attack, file: &File, root: &Path) -> bool {
    let core = attack.core.as_ref().unwrap_or(&file.core);
    let exclude = attack.exclude.as_ref().unwrap_or(&file.exclude);
    let redirects = if attack.inside_root { Redirects::InsideRoot } else { Redirects::Ask };
    let rules = Rules { core: Some(entries(core)), exclude: entries(exclude), redirects, ..Rules::default() };
    let directory = root.join(&attack.directory);
    let machine = Machine::new(root, &directory, Some(root.join("../home")), search_path(attack, root));
    let context = CommandContext { stdin: attack.stdin.clone(), ..CommandContext::default() };
    judge(&attack.text, &context, &rules, &machine).decision() == Decision::Allow
}

/// Every attack of a data file is stopped and real; every harmless text is allowed.
fn holds(content: &str) {
    let file: File = toml_edit::de::from_str(content).unwrap();
    let mut wrong = Vec::new();
    for attack in &file.attack {
        let folder = folders();
        let root = folder.path().join("outside/root").canonicalize().unwrap();
        prepare(attack, &file, &root);
        if allowed(attack, &file, &root) {
            wrong.push(format!("allowed: {}", attack.text));
        }
        if attack.unseen.is_none() {
            let path = search_path(attack, &root);
            run(&attack.text, &root.join(&attack.directory), attack.stdin.as_deref(), &path);
            if !["P", "../P"].iter().any(|marker| root.join(marker).symlink_metadata().is_ok()) {
                wrong.push(format!("does nothing: {}", attack.text));
            }
        }
    }
    for harmless in &file.harmless {
        let folder = folders();
        let root = folder.path().join("outside/root").canonicalize().unwrap();
        prepare(harmless, &file, &root);
        if !allowed(harmless, &file, &root) {
            wrong.push(format!("not allowed: {}", harmless.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn against_awk() {
    holds(include_str!("awk.toml"));
}

#[test]
fn against_other_spellings_by_meaning() {
    holds(include_str!("meanings.toml"));
}

#[test]
fn against_sed() {
    holds(include_str!("sed.toml"));
}

#[test]
fn against_find() {
    holds(include_str!("find.toml"));
}

#[test]
fn against_other_small_languages() {
    holds(include_str!("small-languages.toml"));
}

#[test]
fn against_the_reader() {
    holds(include_str!("reader.toml"));
}

#[test]
fn against_programs_without_an_entry() {
    holds(include_str!("programs.toml"));
}

#[test]
fn against_variables_that_programs_run() {
    holds(include_str!("variables.toml"));
}

#[test]
fn against_synonyms_of_what_is_excluded() {
    holds(include_str!("synonyms.toml"));
}

#[test]
fn against_files_that_hold_secrets() {
    holds(include_str!("secrets.toml"));
}

#[test]
fn against_inline_code_and_options() {
    holds(include_str!("inline.toml"));
}

#[test]
fn through_what_outlives_a_call() {
    holds(include_str!("state.toml"));
}

#[test]
fn through_words_numbers_and_errors() {
    holds(include_str!("words.toml"));
}

#[test]
fn through_options_and_exports_of_shells() {
    holds(include_str!("shell-state.toml"));
}

#[test]
fn through_links_that_the_text_makes() {
    holds(include_str!("links.toml"));
}

#[test]
fn through_settings_of_git() {
    holds(include_str!("git-folders.toml"));
}

#[test]
fn through_submodules_of_git() {
    holds(include_str!("git-submodules.toml"));
}

#[test]
fn through_pushes_of_git() {
    holds(include_str!("git-pushes.toml"));
}

#[test]
fn through_patches() {
    holds(include_str!("git-patches.toml"));
}

#[test]
fn through_arithmetic() {
    holds(include_str!("arithmetic.toml"));
}

#[test]
fn against_options_that_seem_to_be_others() {
    holds(include_str!("options.toml"));
}

#[test]
fn where_a_program_works() {
    holds(include_str!("place.toml"));
}

#[test]
fn through_files_that_the_text_writes() {
    holds(include_str!("planted.toml"));
}

#[test]
fn through_content_that_programs_obey() {
    holds(include_str!("content.toml"));
}

#[test]
fn through_files_that_git_runs() {
    holds(include_str!("git-files.toml"));
}

#[test]
fn through_files_that_the_text_makes_for_others() {
    holds(include_str!("made-files.toml"));
}

#[test]
fn beside_everyday_texts() {
    holds(include_str!("needless.toml"));
}

#[test]
fn against_entries_that_do_not_list_all_options() {
    holds(include_str!("loose.toml"));
}

#[test]
fn through_names_of_files_that_perl_takes_for_commands() {
    holds(include_str!("perl-opens.toml"));
}

#[test]
fn that_write_outside_the_root_by_parts_of_words() {
    holds(include_str!("outside.toml"));
}

#[test]
fn code_that_the_text_brings_is_not_a_file_of_the_project() {
    holds(include_str!("text-code.toml"));
}

#[test]
fn unlisted_programs_are_given_no_path_outside_the_root() {
    holds(include_str!("outside-words.toml"));
}

#[test]
fn files_that_options_name() {
    holds(include_str!("option-values.toml"));
}

#[test]
fn against_other_names_of_an_excluded_option() {
    holds(include_str!("option-names.toml"));
}

#[test]
fn through_commands_on_standard_input() {
    holds(include_str!("input.toml"));
}

#[test]
fn through_quotes_inside_expansions() {
    holds(include_str!("quoted-expansions.toml"));
}

#[test]
fn through_names_of_descriptors() {
    holds(include_str!("tied-files.toml"));
}

#[test]
fn against_programs_that_run_what_they_are_given() {
    holds(include_str!("runners.toml"));
}

#[test]
fn against_options_that_unlike_programs_share() {
    holds(include_str!("unlike-programs.toml"));
}

#[test]
fn against_other_roots_builders_and_debuggers() {
    holds(include_str!("other-places.toml"));
}

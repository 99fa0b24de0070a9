//! Tests of merging layers.

use super::{Folder, is_file, prefixes};
use crate::{
    ApprovalMode, Asker, Decision, Flags, Grants, LayerName, LayerState, Loaded, Network, OnMissing, Prefix,
    PresetChoice, RootSource, SandboxMode, Settings, Sources, Trust,
};

#[test]
fn later_layers_win() {
    let text = |ms: u64| format!("[limits]\ntimeout_ms = {ms}\n");
    let check = |folder: &Folder, ms, origin: &str| {
        let settings = folder.load().unwrap();
        assert_eq!(settings.limits.timeout_ms, ms);
        assert_eq!(folder.origin(&settings, "limits.timeout_ms"), origin);
    };
    let folder = Folder::new();
    check(&folder, 600_000, "built in");
    let folder = folder.system(&text(1));
    check(&folder, 1, "system.toml:2:1");
    let folder = folder.user(&text(2));
    check(&folder, 2, "user.toml:2:1");
    let folder = folder.project(Trust::Trusted, &text(3));
    check(&folder, 3, ".shellgate.toml:2:1");
    let folder = folder.extra("a.toml", &text(4));
    check(&folder, 4, "a.toml:2:1");
    let folder = folder.extra("b.toml", &text(5));
    check(&folder, 5, "b.toml:2:1");
    let folder = folder.flags(Flags { timeout_ms: Some(6), ..Flags::default() });
    check(&folder, 6, "`--timeout`");
}

#[test]
fn exclusions_add_up_and_core_lists_do_not() {
    let folder = Folder::new()
        .system("[policy]\ncore = [\"a\"]\nexclude = [\"x\"]\n")
        .user("[policy]\ncore = [\"b\", \"c d\"]\nexclude = [\"y\"]\n")
        .project(Trust::Trusted, "[policy]\nexclude = []\n")
        .extra("a.toml", "policy.exclude = [\"z\"]\n")
        .flags(Flags { core: vec!["e f".into()], exclude: vec!["w".into()], ..Flags::default() });
    let settings = folder.load().unwrap();
    assert_eq!(
        prefixes(&folder, settings.policy.core.as_ref().unwrap()),
        ["b (user.toml:2:9)", "c d (user.toml:2:14)", "e f (`--core`)"]
    );
    assert_eq!(
        prefixes(&folder, &settings.policy.exclude),
        ["x (system.toml:3:12)", "y (user.toml:3:12)", "z (a.toml:1:19)", "w (`--exclude`)"]
    );
    let words = |words: &[&str]| Prefix::Words(words.iter().map(|word| (*word).to_owned()).collect());
    assert_eq!(settings.policy.core.unwrap()[1].value, words(&["c", "d"]));
}

#[test]
fn an_empty_core_list_is_no_core_list() {
    let folder = Folder::new().system("policy.core = [\"a\"]\n").user("policy.core = []\n");
    let settings = folder.load().unwrap();
    assert_eq!(settings.policy.core, None);
    assert_eq!(folder.origin(&settings, "policy.core"), "user.toml:1:8");
    let folder = folder.flags(Flags { core: vec!["*".into()], ..Flags::default() });
    assert_eq!(folder.load().unwrap().policy.core.unwrap()[0].value, Prefix::Everything);
}

#[test]
fn rules_add_up() {
    let folder = Folder::new()
        .system("[[policy.rule]]\nprefix = [\"git\", \"push\"]\ndecision = \"ask\"\nreason = \"publishes\"\n\
                 grants = { network = true, read = [\"~/.ssh\"], write = [], env = [\"GH_TOKEN\"], sockets = [\"$SSH_AUTH_SOCK\"] }\n")
        .user("[policy]\nrule = [{ prefix = \"npm  ci\", decision = \"allow\" }]\n\n")
        .extra("a.toml", "[[policy.rule]]\nprefix = [\"*\"]\ndecision = \"deny\"\n[policy.rule.grants]\nwrite = [\"a\"]\n");
    let rules = folder.load().unwrap().policy.rules;
    let shown: Vec<_> = rules
        .iter()
        .map(|rule| folder.plain(&format!("{}: {} ({})", rule.prefix, rule.decision, rule.origin)))
        .collect();
    assert_eq!(
        shown,
        ["git push: ask (system.toml:1:1)", "npm ci: allow (user.toml:2:9)", "*: deny (a.toml:1:1)"]
    );
    assert_eq!(rules[0].reason.as_deref(), Some("publishes"));
    let expected = Grants {
        network: true,
        read: vec!["~/.ssh".into()],
        write: vec![],
        env: vec!["GH_TOKEN".into()],
        sockets: vec!["$SSH_AUTH_SOCK".into()],
    };
    assert_eq!(rules[0].grants, expected);
    assert!(rules[1].grants.is_empty());
    assert_eq!(rules[2].grants.write, ["a"]);
}

#[test]
fn other_lists_are_replaced_and_tables_are_set_entry_by_entry() {
    let folder = Folder::new()
        .system("[environment]\nkeep = [\"A\"]\nset = { X = \"1\", Y = \"2\" }\n")
        .user("[environment]\nkeep = [\"B\"]\n[environment.set]\nY = \"3\"\n");
    let settings = folder.load().unwrap();
    assert_eq!(settings.shown("environment.keep").unwrap(), "[\"B\"]");
    let set: Vec<_> = settings
        .environment
        .set
        .iter()
        .map(|(name, value)| folder.plain(&format!("{name}={} ({})", value.value, value.origin)))
        .collect();
    assert_eq!(set, ["X=1 (system.toml:3:9)", "Y=3 (user.toml:4:1)"]);
}

#[test]
fn flags_set_what_they_name() {
    let flags = Flags {
        core: vec![],
        exclude: vec![],
        preset: Some(PresetChoice::Open),
        allow: vec!["npm run *".to_owned()],
        deny: vec!["rm -rf".to_owned()],
        default: Some(Decision::Deny),
        approve: Some(ApprovalMode::OnNeed),
        ask: Some(Asker::Queue),
        sandbox: Some(SandboxMode::Strict),
        network: Some(Network::Deny),
        on_missing: Some(OnMissing::Warn),
        timeout_ms: Some(1500),
    };
    let folder = Folder::new().flags(flags);
    let settings = folder.load().unwrap();
    let cases = [
        ("policy.preset", "\"open\"", "`--preset`"),
        ("policy.allow", "[\"npm run *\"]", "`--allow`"),
        ("policy.deny", "[\"rm -rf\"]", "`--deny`"),
        ("policy.default", "\"deny\"", "`--default`"),
        ("approval.mode", "\"on-need\"", "`--approve`"),
        ("approval.from", "[\"queue\"]", "`--ask`"),
        ("sandbox.mode", "\"strict\"", "`--sandbox`"),
        ("sandbox.network", "\"deny\"", "`--network`"),
        ("sandbox.on_missing", "\"warn\"", "`--on-missing`"),
        ("limits.timeout_ms", "1500", "`--timeout`"),
        ("policy.core", "[]", "built in"),
    ];
    for (path, value, origin) in cases {
        assert_eq!(settings.shown(path).as_deref(), Some(value), "{path}");
        assert_eq!(folder.origin(&settings, path), origin, "{path}");
    }
}

#[test]
fn the_working_directory() {
    let cases = [
        ("\"/work\"", Some("/work")),
        ("\"~/work\"", Some("/home/ada/work")),
        ("\"~\"", Some("/home/ada")),
        ("\"\"", None),
    ];
    for (written, expected) in cases {
        let folder = Folder::new().user(&format!("workspace.working_directory = {written}\n"));
        let settings = folder.load().unwrap();
        assert_eq!(
            settings.workspace.working_directory.as_deref(),
            expected.map(std::path::Path::new),
            "{written}"
        );
    }
}

#[test]
fn the_root_can_come_from_a_layer_above_the_project() {
    let mut folder = Folder::new().project(Trust::Untrusted, "[limits]\ntimeout_ms = 5\n");
    let root = folder.folder.path().to_owned();
    folder.sources.project = None;
    let folder = folder.user(&format!("workspace.working_directory = {:?}\n", root.to_str().unwrap()));
    let Loaded { root: chosen, root_source, settings, files } =
        Settings::load_for_root(&folder.sources, None, || unreachable!("a layer names it")).unwrap();
    let root = root.canonicalize().unwrap();
    assert_eq!((chosen.as_path(), root_source), (root.as_path(), RootSource::Settings));
    assert_eq!(settings.limits.timeout_ms, 5);
    let states: Vec<_> = files.iter().map(|file| (file.layer, file.state)).collect();
    assert_eq!(states, [(LayerName::User, LayerState::Read), (LayerName::Project, LayerState::Untrusted)]);
    assert!(is_file(settings.origin("limits.timeout_ms"), &root.join(".shellgate.toml")));
}

#[test]
fn a_trusted_project_file_can_name_the_root_unless_the_caller_or_a_later_layer_does() {
    for (written, below) in [("\".\"", ""), ("\"\"", "a/b"), ("\"a\"", "a")] {
        let text = format!("workspace.working_directory = {written}\n");
        let folder = Folder::new().project(Trust::Trusted, &text);
        let base = folder.folder.path().canonicalize().unwrap();
        let start = base.join("a/b");
        std::fs::create_dir_all(&start).unwrap();
        std::fs::create_dir(base.join(".git")).unwrap();
        let load = |sources: &Sources, named: Option<&std::path::Path>| {
            let named = named.map(std::path::Path::to_owned);
            Settings::load_for_root(sources, named, || start.clone()).unwrap().root
        };
        assert_eq!(load(&folder.sources, None), base.join(below), "{written}");
        assert_eq!(load(&folder.sources, Some(&start)), start, "the caller's word counts: {written}");
        let untrusted = Sources { trust: Trust::Untrusted, ..folder.sources.clone() };
        assert_eq!(load(&untrusted, None), start, "an untrusted file moves nothing: {written}");
        let named = format!("workspace.working_directory = {:?}\n", start.to_str().unwrap());
        let folder = folder.extra("later.toml", &named);
        assert_eq!(load(&folder.sources, None), start, "a later layer wins: {written}");
    }
}

#[test]
fn allow_ask_and_deny_add_up_over_all_layers() {
    let folder = Folder::new()
        .system("[policy]\nallow = [\"a\"]\ndeny = [\"x\"]\n")
        .user("[policy]\nallow = [\"b *\"]\nask = [\"y\"]\npreset = \"open\"\n")
        .flags(Flags { deny: vec!["z".to_owned()], ..Flags::default() });
    let settings = folder.load().unwrap();
    for (path, value) in [
        ("policy.allow", "[\"a\", \"b *\"]"),
        ("policy.ask", "[\"y\"]"),
        ("policy.deny", "[\"x\", \"z\"]"),
        ("policy.preset", "\"open\""),
    ] {
        assert_eq!(settings.shown(path).as_deref(), Some(value), "{path}");
    }
}

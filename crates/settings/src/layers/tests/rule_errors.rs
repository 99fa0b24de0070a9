//! The text of every error that a rule can make.

use super::{Folder, errors};
use crate::Prefix;

#[test]
fn a_rule_can_be_for_exactly_its_words_if_it_allows() {
    let rule = |more: &str| format!("[[policy.rule]]\nprefix = [\"rm\", \"x\"]\n{more}\n");
    let read = |more: &str| Folder::new().user(&rule(more)).load().unwrap().policy.rules.remove(0).prefix;
    let words = || vec!["rm".to_owned(), "x".to_owned()];
    assert_eq!(read("decision = \"allow\"\nexact = true"), Prefix::Exactly(words()));
    assert_eq!(read("decision = \"allow\"\nexact = false"), Prefix::Words(words()));
    let texts = [
        rule("decision = \"deny\"\nexact = true"),
        rule("decision = \"allow\"\nexact = 1"),
        "[[policy.rule]]\nprefix = \"*\"\nexact = true\ndecision = \"allow\"\n".to_owned(),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let shown = errors(&texts);
    for words in [
        "4:9: policy.rule.exact must be `false` where the decision isn't `allow`",
        "4:9: policy.rule.exact must be `true` or `false`, found the whole number 1",
        "3:9: policy.rule.exact must be `false` where the prefix is every command",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn rules() {
    let texts = [
        "[policy.rule]\nprefix = [\"a\"]\n",
        "[policy]\nrule = 5\n",
        "[policy]\nrule = [5]\n",
        "[[policy.rule]]\n",
        "[[policy.rule]]\nprefix = [\"git\"]\n",
        "[[policy.rule]]\nprefix = [\"git\"]\ndecision = \"maybe\"\n",
        "[[policy.rule]]\nprefix = []\ndecision = \"ask\"\n",
        "[[policy.rule]]\nprefix = [\"git\", \"\"]\n",
        "[[policy.rule]]\nprefix = 5\n",
        "[[policy.rule]]\nprefix = \"\"\n",
        "[[policy.rule]]\nreason = 5\n",
        "[[policy.rule]]\nprefixes = []\n",
        "[[policy.rule]]\ngrant = {}\n",
        "[[policy.rule]]\ngrants = true\n",
        "[[policy.rule]]\ngrants = { network = \"yes\" }\n",
        "[[policy.rule]]\ngrants = { net = true }\n",
        "[[policy.rule]]\ngrants = { read = [\"a\", 5] }\n",
        "[[policy.rule]]\ngrants = { env = \"GH_TOKEN\" }\n",
    ];
    insta::assert_snapshot!(errors(&texts), @r#"
    | [policy.rule]
    | prefix = ["a"]
    user.toml:1:1: policy.rule must be a list of tables, each `[[policy.rule]]`, found a table
      write `[[policy.rule]]`, with two brackets

    | [policy]
    | rule = 5
    user.toml:2:8: policy.rule must be a list of tables, each `[[policy.rule]]`, found the whole number 5

    | [policy]
    | rule = [5]
    user.toml:2:9: policy.rule must be a list of tables, each `[[policy.rule]]`, found the whole number 5 in it

    | [[policy.rule]]
    user.toml:1:1: policy.rule.prefix is missing
      a rule needs a prefix or an effect, and a decision: add `prefix = ["git", "push"]`

    | [[policy.rule]]
    | prefix = ["git"]
    user.toml:1:1: policy.rule.decision is missing
      a rule needs a prefix or an effect, and a decision: add `decision = "ask"`

    | [[policy.rule]]
    | prefix = ["git"]
    | decision = "maybe"
    user.toml:3:12: policy.rule.decision must be one of `allow`, `ask`, `deny`, found the string "maybe"

    | [[policy.rule]]
    | prefix = []
    | decision = "ask"
    user.toml:2:10: a command prefix must have at least one word, this one is empty
      name a command like `git status`, or `*` for every command

    | [[policy.rule]]
    | prefix = ["git", ""]
    user.toml:2:18: policy.rule.prefix must be a list of non-empty strings, found the string "" in it

    | [[policy.rule]]
    | prefix = 5
    user.toml:2:10: policy.rule.prefix must be a list of non-empty strings, found the whole number 5

    | [[policy.rule]]
    | prefix = ""
    user.toml:2:10: a command prefix must have at least one word, this one is empty
      name a command like `git status`, or `*` for every command

    | [[policy.rule]]
    | reason = 5
    user.toml:2:10: policy.rule.reason must be a string, found the whole number 5

    | [[policy.rule]]
    | prefixes = []
    user.toml:2:1: there is no setting policy.rule.prefixes
      did you mean `policy.rule.prefix`?

    | [[policy.rule]]
    | grant = {}
    user.toml:2:1: there is no setting policy.rule.grant
      did you mean `policy.rule.grants`?

    | [[policy.rule]]
    | grants = true
    user.toml:2:10: policy.rule.grants must be a table, found `true`

    | [[policy.rule]]
    | grants = { network = "yes" }
    user.toml:2:22: policy.rule.grants.network must be `true` or `false`, found the string "yes"

    | [[policy.rule]]
    | grants = { net = true }
    user.toml:2:12: there is no setting policy.rule.grants.net
      did you mean `policy.rule.grants.network`?

    | [[policy.rule]]
    | grants = { read = ["a", 5] }
    user.toml:2:25: policy.rule.grants.read must be a list of non-empty strings, found the whole number 5 in it

    | [[policy.rule]]
    | grants = { env = "GH_TOKEN" }
    user.toml:2:18: policy.rule.grants.env must be a list of non-empty strings, found the string "GH_TOKEN"
    "#);
}

#[test]
fn rules_by_effect() {
    let texts = [
        "[[policy.rule]]\neffect = \"writes\"\n",
        "[[policy.rule]]\neffect = \"unknown\"\n",
        "[[policy.rule]]\neffect = \"write\"\n",
        "[[policy.rule]]\neffect = \"write\"\nprefix = [\"a\"]\ndecision = \"ask\"\n",
        "[[policy.rule]]\neffect = \"write\"\nhost = [\"a\"]\ndecision = \"ask\"\n",
        "[[policy.rule]]\neffect = \"publish\"\nhost = [\"a\"]\ndecision = \"ask\"\n",
        "[[policy.rule]]\neffect = \"network\"\nhost = [\"https://a.example.org/x\"]\ndecision = \"ask\"\n",
        "[[policy.rule]]\neffect = \"write\"\npath = [\"../x\"]\ndecision = \"ask\"\n",
        "[[policy.rule]]\nprefix = [\"a\"]\npath = [\"x\"]\ndecision = \"ask\"\n",
        "[[policy.rule]]\neffect = \"write\"\ngrants = { network = true }\ndecision = \"ask\"\n",
        "[[policy.rule]]\nprefix = \"rm\"\nexcept = [\"*\"]\ndecision = \"ask\"\n",
        "[[policy.rule]]\nprefix = \"rm; ls\"\ndecision = \"ask\"\n",
        "[policy]\nallow = [\"git log\", \"Bash(npm run test:*)\"]\n",
        "[policy]\ndeny = [\"* *\"]\n",
        "[policy]\nexclude = [\"rm *\"]\n",
        "[policy]\nask = \"git push\"\n",
        "[policy]\npreset = \"balancd\"\n",
    ];
    insta::assert_snapshot!(errors(&texts));
}

#[test]
fn what_never_matches_says_what_to_write() {
    for (text, hint) in [
        ("effect = \"read\"\npath = []", "an empty list matches nothing"),
        ("effect = \"read\"\npath = [\"~bob/x\"]", "write \"/home/bob/x\""),
        ("effect = \"read\"\npath = [\"$FOO/x\"]", "write the path out"),
        ("effect = \"read\"\npath = [\"{a,b}\"]", "write each path as an entry of its own"),
        ("effect = \"read\"\npath = [\"a?\"]", "only `*` and `**` are known here"),
        ("effect = \"read\"\npath = [\"x\"]\nexcept = [\"$FOO\"]", "write the path out"),
        ("effect = \"publish\"\nexcept = [\"x\"]", "`publish` has no target to except"),
        ("effect = \"network\"\nhost = []", "an empty list matches nothing"),
        ("prefix = \"rm\"\nexcept = [\"ls x\"]", "`ls x` is no case of `rm`"),
        ("prefix = \"rm\"\nexcept = []", "an empty list excepts nothing"),
    ] {
        let shown = errors(&[&format!("[[policy.rule]]\n{text}\ndecision = \"ask\"\n")]);
        assert!(shown.contains(hint), "{text}: {shown}");
    }
    for text in [
        "effect = \"read\"\npath = [\"~/x\", \"$HOME/y\", \"**/.env\", \"a b\"]",
        "prefix = \"rm -rf\"\nexcept = [\"rm -rf /tmp/*\"]",
        "prefix = \"* --force\"\nexcept = [\"git push --force\"]",
    ] {
        let rule = format!("[[policy.rule]]\n{text}\ndecision = \"ask\"\n");
        assert!(Folder::new().user(&rule).load().is_ok(), "{text}");
    }
}

//! The tree as people see it.

use shellgate_syntax::{HazardKind, read_arithmetic, read_script};

#[test]
fn a_tree_in_lines() {
    let text = "A=1 git -C \"$dir\" log | head -n $((n+1)) > out &\nif [[ -f x ]]; then rm \"$(cat <<E\n${y:-`z`}\nE\n)\"; fi";
    let rendered = read_script(text).unwrap().render(text);
    insta::assert_snapshot!(rendered);
}

#[test]
fn an_expression_is_read_as_bash_evaluates_it() {
    let findings = read_arithmetic("a[$(c1)] + b * ${c} + 0x1f").unwrap();
    let names: Vec<_> = findings.arithmetic.iter().flat_map(|one| one.names.clone()).collect();
    assert_eq!(names, ["c", "a", "b"]);
    assert_eq!(findings.invocations.len(), 1);
    assert_eq!(findings.invocations.first().unwrap().words.first().unwrap().value.known(), Some("c1"));
    let findings = read_arithmetic("${x@P}").unwrap();
    assert_eq!(findings.hazards.first().unwrap().kind, HazardKind::PromptExpansion);
    assert!(read_arithmetic("a[$(c1]").is_err());
}

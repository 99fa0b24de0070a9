//! Everyday work in a workspace.

use super::{for_each_user, run, succeeds, write};

const GIT: &str = "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main";

#[test]
fn repositories_can_be_worked_in() {
    for_each_user(|place| {
        let repository = format!(
            "{GIT} init -q . && echo x > a && {GIT} add a && {GIT} commit -qm one && {GIT} branch b && {GIT} checkout -q b \
             && echo y > b && {GIT} add b && {GIT} commit -qm two && {GIT} checkout -q main && {GIT} rebase -q b"
        );
        assert_eq!(run(place, "off", &repository)["status"], "completed");
        let more = format!(
            "echo z > c && {GIT} add c && {GIT} commit -qm three && {GIT} log --oneline | cut -d' ' -f2"
        );
        assert_eq!(succeeds(place, "workspace", &more), "three\ntwo\none\n");
        let nested = format!(
            "{GIT} clone -q . ../root/nested && cd nested && echo w > d && {GIT} add d && {GIT} commit -qm four"
        );
        succeeds(place, "workspace", &nested);
        let answer = run(place, "workspace", &format!("{GIT} remote add origin /nowhere"));
        assert_eq!(answer["status"], "failed", "what would change `.git/config` is refused: {answer}");
    });
}

#[test]
fn a_linked_worktree_can_be_committed_in() {
    for_each_user(|place| {
        write(place, "main/a", "");
        let work = place.root();
        let make = format!(
            "cd ../main && {GIT} init -q . && {GIT} add a && {GIT} commit -qm one && {GIT} worktree add -q -f {}",
            work.display()
        );
        let made = place.program("bash").args(["-c", &make]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let commit = format!(
            "echo y > b && {GIT} add b && {GIT} commit -qm two && {GIT} log --oneline | cut -d' ' -f2"
        );
        assert_eq!(succeeds(place, "workspace", &commit), "two\none\n");
        for attack in
            ["echo x > ../main/.git/hooks/post-commit", "echo x > ../main/.git/config", "echo x > ../main/a"]
        {
            assert_eq!(run(place, "workspace", attack)["status"], "failed", "{attack}");
        }
    });
}

#[test]
fn programs_are_compiled_and_run() {
    for_each_user(|place| {
        write(place, "root/m.c", "int main(void) { return 42; }");
        write(place, "root/Makefile", "m: m.c\n\tcc -o m m.c\n");
        let answer = run(place, "workspace", "make >&2 && ./m");
        assert_eq!(answer["exit_code"], 42, "{answer}");
        let pool = "python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, 2]))'";
        assert_eq!(succeeds(place, "workspace", pool), "[1, 2]\n");
        let node =
            "node -e 'console.log(require(\"child_process\").execSync(\"echo hi\").toString().trim())'";
        assert_eq!(succeeds(place, "workspace", node), "hi\n");
        assert_eq!(succeeds(place, "workspace", "f=$(mktemp) && echo x > $f && cat $f && rm $f"), "x\n");
    });
}

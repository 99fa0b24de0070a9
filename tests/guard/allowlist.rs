//! An allowlist binds the command's shell, and the shells and wrappers that it starts.

use serde_json::json;

use super::for_each_user;

#[test]
fn what_an_allowed_program_starts_is_free() {
    for_each_user(|place| {
        place.write("Makefile", "all:\n\t@touch made; ls made | tr m M\n");
        place.write(
            "script.py",
            "import subprocess; print(subprocess.check_output(['ls', 'script.py']).decode())",
        );
        let flags = [
            "--sandbox",
            "workspace",
            "--core",
            "make",
            "--core",
            "python3 script.py",
            "--core",
            "git",
            "--core",
            "timeout",
            "--core",
            "env",
            "--core",
            "bash",
            "--core",
            "sh",
            "--core",
            "cd",
        ];
        for (command, output) in [
            ("make", "Made\n"),
            ("timeout 20 env A=1 make", "Made\n"),
            ("bash -c 'sh -c make'", "Made\n"),
            ("python3 script.py", "script.py\n\n"),
            ("cd . && git hash-object --stdin < Makefile | git stripspace -c > out; make", "Made\n"),
        ] {
            let answer = place.call_with(&flags, &json!({"command": command}));
            assert_eq!(answer["stdout"], output, "{command}: {answer}");
        }
        let answer = place.call_with(&flags, &json!({"command": "ls"}));
        assert_eq!(answer["error"]["code"], "denied_by_policy", "{answer}");
    });
}

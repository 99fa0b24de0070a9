//! What a held call costs. Printed, not judged: machines differ.

use std::process::Command;

use shellgate_sandbox::launcher::Launcher;

use crate::Test;
use crate::place::{as_each_user, launcher, run};

pub(crate) const TESTS: &[Test] = &[("creating_thousands_of_files_works", creating_thousands_of_files_works)];

const FILES: &str = r#"
import os, shutil, time
COUNT = 5000
os.mkdir("many")
os.chdir("many")
times = []
def measure(name, body):
    start = time.perf_counter()
    for number in range(COUNT):
        body(number)
    times.append("%s %.1f" % (name, (time.perf_counter() - start) / COUNT * 1e6))
measure("create", lambda n: os.close(os.open("f%d" % n, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o644)))
measure("overwrite", lambda n: os.close(os.open("f%d" % n, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)))
measure("mkdir", lambda n: os.mkdir(os.getcwd() + "/d%d" % n))
measure("rename", lambda n: os.rename("f%d" % n, "g%d" % n))
names = os.listdir(".")
assert len(names) == 2 * COUNT, len(names)
os.chdir("..")
shutil.rmtree("many")
print("microseconds:", ", ".join(times))
"#;

fn creating_thousands_of_files_works() {
    as_each_user(|place| {
        place.write("many.py", FILES);
        place.write("free/x", "");
        let free =
            Command::new("python3").arg("../many.py").current_dir(place.path("free")).output().unwrap();
        assert!(free.status.success());
        print!("without a broker: {}", String::from_utf8_lossy(&free.stdout));
        let start = std::time::Instant::now();
        let (mut launcher, mut pod) = launcher(&place.confinement());
        let first = start.elapsed();
        let start = std::time::Instant::now();
        let others: Vec<_> =
            (0..10).map(|_| Launcher::start(&place.confinement(), &mut pod).unwrap()).collect();
        println!("starting a pod and a launcher: {first:?}, a further launcher: {:?}", start.elapsed() / 10);
        drop(others);
        let (code, output) = run(&mut launcher, place, "python3 ../many.py");
        assert_eq!(code, 0, "{output}");
        print!("through a broker: {output}");
        let (mut unconfined, mut confined) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            let start = std::time::Instant::now();
            let mut bash = Command::new("/bin/bash");
            bash.args(["-c", "true"])
                .env_clear()
                .env("PATH", "/usr/bin:/bin")
                .current_dir(place.path("root"));
            assert!(bash.output().unwrap().status.success());
            unconfined.push(start.elapsed());
            let start = std::time::Instant::now();
            assert_eq!(run(&mut launcher, place, "true").0, 0);
            confined.push(start.elapsed());
        }
        let median = |times: &mut Vec<std::time::Duration>| {
            times.sort();
            times[times.len() / 2]
        };
        println!("bash -c true: {:?}, confined {:?}", median(&mut unconfined), median(&mut confined));
    });
}

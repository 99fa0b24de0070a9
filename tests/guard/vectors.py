import json, os, shutil, subprocess, sys
SCRATCH = os.path.join(os.getcwd(), "scratch")
READ_ONLY = False
try:
    os.makedirs(SCRATCH, exist_ok=True)
    open(os.path.join(SCRATCH, "tried"), "w")
except OSError:
    READ_ONLY = True
FILES = {
    "x": "x\n", "a.txt": "a\n", "list.txt": "x\n", "cmds.txt": "rm x\n", "s.sh": "rm x\n",
    "src/main.py": "print(1)\n", "src/app.js": "console.log(1)\n",
}
def fill(folder):
    for name, text in FILES.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
for line in open("policy.jsonl"):
    row = json.loads(line)
    if "rm" not in (row.get("exclude") or []):
        continue
    if READ_ONLY:
        # The folder was filled before, and can't be changed.
        folder = SCRATCH
    else:
        folder = SCRATCH
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        fill(folder)
    environment = dict(os.environ, SHELL=shutil.which("bash") or "/bin/bash", HOME=folder)
    text = (row.get("setup", "") + "\n" if row.get("setup") else "") + row["command"]
    try:
        subprocess.run(["bash", "-c", text], cwd=folder, env=environment, timeout=15, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    except (subprocess.TimeoutExpired, OSError):
        pass
    print(json.dumps([row["command"], os.path.exists(os.path.join(folder, "x"))]))
if not READ_ONLY:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    fill(SCRATCH)

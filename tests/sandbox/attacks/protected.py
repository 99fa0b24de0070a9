# Attacks on names in the root that make other programs run something.
EXISTING = {
    ".git/HEAD": "ref: refs/heads/main", ".git/hooks/pre-commit": "hook", ".git/config": "config",
    ".git/modules/sub/config": "config", ".vscode/tasks.json": "tasks", ".mcp.json": "{}",
    ".github/workflows/ci.yml": "on: push", ".bashrc": "", "githooks/post-merge": "linked", "evil/file": "evil",
    "evil/hooks/pre-push": "evil", "evil/workflows/evil.yml": "evil",
}
ABSENT = [".envrc", ".husky", ".idea", ".claude", ".gemini", ".codex", ".cursor", ".shellgate.toml", ".zshrc", ".gitconfig",
          ".pre-commit-config.yaml"]
FEW = ABSENT[:4]
os.chdir(HERE)


def fixture():
    for name in list({name.split("/")[0] for name in EXISTING}) + ABSENT + [".config", "soft"]:
        remove(name)
    for name, content in EXISTING.items():
        text(HERE + "/" + name, content)
    os.symlink("../githooks", ".git/hooks/linked")
    os.symlink("../../../githooks", ".git/modules/sub/hooks")
    os.symlink(".git", "soft")


def overwrite(path, flags=0):
    os.write(os.open(path, os.O_WRONLY | flags), b"evil")


def every(names, function, fixture=lambda: None):
    """Tries an attack on each name, in processes of their own. All must be stopped, and all succeed where none is confined."""
    results = {}
    for name in names:
        if sys.argv[1] == "control":
            fixture()
        results[name] = attempt(lambda: function(name))
    done = [name for name, result in results.items() if result == "done"]
    broken = [result for result in results.values() if result.startswith("broken")]
    if broken or done and len(done) < len(names):
        raise Exception(results)
    if not done:
        raise Refused


PROTECTED = [".git/hooks/pre-commit", ".git/config", ".git/modules/sub/config", ".vscode/tasks.json", ".mcp.json",
             ".github/workflows/ci.yml", ".bashrc"]
FOLDERS = [".git/hooks", ".vscode", ".github/workflows", ".git/modules/sub/hooks"]
ABOVE = [".git", ".github", ".git/modules", ".git/modules/sub"]


@attack
def write(): every(PROTECTED, overwrite)

@attack
def write_with_creat(): every(PROTECTED, lambda name: overwrite(name, os.O_CREAT | os.O_TRUNC))

@attack
def truncate(): every(PROTECTED, lambda name: os.truncate(name, 1))

@attack
def unlink(): every(PROTECTED, os.unlink)

@attack
def chmod(): every(PROTECTED + FOLDERS, lambda name: os.chmod(name, 0o777))

@attack
def utimes(): every(PROTECTED + FOLDERS, lambda name: os.utime(name, (1, 1)))

@attack
def setxattr(): every(PROTECTED, lambda name: os.setxattr(name, "user.evil", b"1"))

@attack
def rename_away(): every(PROTECTED + FOLDERS + ABOVE, lambda name: os.rename(name, WORK + "/other"), fixture)

@attack
def replace(): every(PROTECTED, lambda name: os.rename("evil/file", name), fixture)

@attack
def replace_folder(): every(FOLDERS + ABOVE, lambda name: (remove(name), os.rename("evil", name)), fixture)

@attack
def exchange(): every(FOLDERS + ABOVE, lambda name: call(316, -100, ctypes.c_char_p(name.encode()), -100, ctypes.c_char_p(b"evil"), 2), fixture)

@attack
def exchange_backwards(): every(FOLDERS + ABOVE, lambda name: call(316, -100, ctypes.c_char_p(b"evil"), -100, ctypes.c_char_p(name.encode()), 2), fixture)

@attack
def create_in_folder(): every(FOLDERS, lambda name: overwrite(name + "/new", os.O_CREAT))

@attack
def create_in_folder_by_descriptor(): every(FOLDERS, lambda name: os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=os.open(name, os.O_RDONLY)))

@attack
def create_in_folder_by_process(): every(FOLDERS, lambda name: (os.chdir(name), overwrite("/proc/self/cwd/new", os.O_CREAT)))

@attack
def make_folder_in_folder(): every(FOLDERS, lambda name: os.mkdir(name + "/new"))

@attack
def hard_link_of_it(): every(PROTECTED, lambda name: (os.link(name, WORK + "/other"), overwrite(WORK + "/other")))

@attack
def through_link(): every(PROTECTED, lambda name: (os.symlink(HERE + "/" + name, WORK + "/other"), overwrite(WORK + "/other")))

@attack
def through_link_to_folder(): overwrite("soft/config")

@attack
def create_through_link_to_folder(): overwrite("soft/config.worktree", os.O_CREAT)

@attack
def target_of_link(): overwrite("githooks/post-merge")

@attack
def create_in_target_of_link(): overwrite("githooks/new", os.O_CREAT)

@attack
def rename_target_of_link(): os.rename("githooks", WORK + "/other")

@attack
def remove_above(): every(ABOVE, shutil.rmtree, fixture)

@attack
def create_absent(): every(ABSENT, lambda name: overwrite(name, os.O_CREAT))

@attack
def create_absent_by_descriptor(): every(FEW, lambda name: os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=os.open(".", os.O_PATH)))

@attack
def create_absent_by_process(): every(FEW, lambda name: overwrite("/proc/self/cwd/" + name, os.O_CREAT))

@attack
def create_absent_in_other_case(): every([".Envrc", ".HUSKY"], lambda name: overwrite(name, os.O_CREAT))

@attack
def make_absent_folder(): every(FEW, os.makedirs)

@attack
def make_absent_pipe(): every(FEW, os.mkfifo)

@attack
def make_absent_socket(): every(FEW, lambda name: socket.socket(socket.AF_UNIX).bind(name))

@attack
def link_absent(): every(FEW, lambda name: os.symlink("evil/file", name))

@attack
def hard_link_absent(): every(FEW, lambda name: os.link("evil/file", name))

@attack
def nameless_absent(): every(FEW, lambda name: link_descriptor(os.open(".", os.O_TMPFILE | os.O_WRONLY), name))

@attack
def rename_absent(): every(FEW, lambda name: os.rename("evil/file", name), fixture)

@attack
def rename_folder_absent(): every(FEW, lambda name: os.rename("evil", name), fixture)

@attack
def through_dangling_link(): every(FEW, lambda name: (os.symlink(HERE + "/" + name, WORK + "/other"), overwrite(WORK + "/other", os.O_CREAT)))

@attack
def link_as_folder_above(): os.symlink("evil", ".config"); text(HERE + "/evil/fish/config.fish", "evil")

@attack
def rename_as_folder_above(): os.mkdir("evil/fish"); os.rename("evil", ".config")

@attack
def make_in_new_folder_above(): os.makedirs(".config/fish")

@attack
def file_of_git():
    os.rename(".git", WORK + "/.git")
    text(HERE + "/.git", "gitdir: evil")

@attack
def race_of_names():
    # One process swaps a harmless and a protected name in memory while another call is held.
    import threading
    path = ctypes.create_string_buffer(b".envrd")
    def swap():
        for now in itertools.cycle([b".envrc\0", b".envrd\0"]):
            path.raw = now
    threading.Thread(target=swap, daemon=True).start()
    until = time.time() + 0.5
    while time.time() < until and not os.path.lexists(".envrc"):
        handle = C.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
        if handle >= 0:
            os.close(handle)
    remove(".envrd")
    if not os.path.lexists(".envrc"):
        raise Refused


main()

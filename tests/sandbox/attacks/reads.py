# Attacks on files that must not be read. An attack is done when it has the secret.
HOME, DEEP = PLAN["home"], HERE + "/deep"
FILE, FOLDER = HOME + "/.netrc", HOME + "/.ssh"


def fixture():
    text(FILE, "secret")
    text(FOLDER + "/id_ed25519", "secret")
    text(HOME + "/.config/gh/hosts.yml", "secret")
    text(DEEP + "/er/secret", "secret")
    os.chmod(FILE, 0o755)


def has(found):
    if "secret" not in (found if isinstance(found, str) else found.decode()):
        raise Refused


def content(handle):
    has(os.read(handle, 100))


@unseen_attack
def cat(): has(read(FILE))

@unseen_attack
def cat_in_folder(): has(read(FOLDER + "/id_ed25519"))

@unseen_attack
def cat_in_root(): has(read(DEEP + "/er/secret"))

@unseen_attack
def list_folder(): os.listdir(FOLDER)

@unseen_attack
def enter_folder(): os.chdir(FOLDER); has(read("id_ed25519"))

@unseen_attack
def exists_in_folder(): os.stat(FOLDER + "/id_ed25519")

@unseen_attack
def size():
    if os.stat(FILE).st_size == 0:
        raise Refused

@unseen_attack
def copy(): shutil.copy(FILE, WORK + "/copy"); has(read(WORK + "/copy"))

@unseen_attack
def copy_folder(): shutil.copytree(FOLDER, WORK + "/copy"); has(read(WORK + "/copy/id_ed25519"))

@unseen_attack
def by_link(): os.symlink(FILE, WORK + "/link"); has(read(WORK + "/link"))

@unseen_attack
def by_link_to_folder(): os.symlink(FOLDER, WORK + "/link"); has(read(WORK + "/link/id_ed25519"))

@unseen_attack
def by_hard_link(): os.link(FILE, WORK + "/hard"); has(read(WORK + "/hard"))

@unseen_attack
def by_hard_link_of_descriptor():
    link_descriptor(os.open(FILE, os.O_PATH), WORK + "/hard")
    has(read(WORK + "/hard"))

@unseen_attack
def by_rename(): os.rename(FILE, WORK + "/taken"); has(read(WORK + "/taken"))

@unseen_attack
def by_rename_of_parent(): os.rename(DEEP, WORK + "/other"); has(read(WORK + "/other/er/secret"))

@unseen_attack
def by_chmod(): os.chmod(FILE, 0o777); has(read(FILE))

@unseen_attack
def by_removal_of_cover(): remove(FOLDER + "/id_ed25519"); text(FOLDER + "/id_ed25519", "secret")

@unseen_attack
def by_root_of_process(): has(read("/proc/self/root" + FILE))

@unseen_attack
def by_root_of_thread(): has(read("/proc/thread-self/root" + FILE))

@unseen_attack
def by_root_of_child():
    child = os.fork()
    if child == 0:
        os.closerange(3, 100)
        time.sleep(1)
        os._exit(0)
    try:
        has(read("/proc/%d/root%s" % (child, FILE)))
    finally:
        os.kill(child, 9)

@unseen_attack
def by_folder_of_process(): os.chdir(HOME); has(read("/proc/self/cwd/.netrc"))

@unseen_attack
def by_folder_descriptor(): content(os.open(".netrc", os.O_RDONLY, dir_fd=os.open(HOME, os.O_RDONLY)))

@unseen_attack
def by_path_descriptor(): content(os.open("/proc/self/fd/%d" % os.open(FILE, os.O_PATH), os.O_RDONLY))

@unseen_attack
def by_folder_path_descriptor(): content(os.open("id_ed25519", os.O_RDONLY, dir_fd=os.open(FOLDER, os.O_PATH)))

@unseen_attack
def by_openat2():
    how = struct.pack("QQQ", os.O_RDONLY, 0, 0)
    content(call(437, os.open(HOME, os.O_PATH), ctypes.c_char_p(b".netrc"), ctypes.c_char_p(how), len(how)))

@unseen_attack
def by_open_with_creat(): content(os.open(FILE, os.O_RDONLY | os.O_CREAT))

@unseen_attack
def by_parents(): has(read(FOLDER + "/../.netrc"))

@unseen_attack
def by_truncating_path(): has(read(HOME + "/.config/gh/../gh/./hosts.yml"))

@unseen_attack
def by_running_it():
    if os.spawnv(os.P_WAIT, FILE, [FILE]) == 127 and not os.access(FILE, os.X_OK):
        raise Refused

@unseen_attack
def by_another_program():
    import subprocess
    has(subprocess.run(["tail", "-c", "9", FILE], capture_output=True).stdout)

@unseen_attack
def by_mount_list_of_covers():
    # What lies under a cover can't be seen by any path of the cover itself.
    for line in read("/proc/self/mountinfo").splitlines():
        place = line.split()[4]
        if place.endswith("/.hidden") or place.endswith("/.netrc"):
            has(read(place))
    has(read(FILE))


main()

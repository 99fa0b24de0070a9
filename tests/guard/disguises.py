import os, shutil, subprocess
os.makedirs("bin", exist_ok=True)
rm, loader = shutil.which("rm"), "/lib64/ld-linux-x86-64.so.2"
def put(name, text):
    with open(name, "w") as file: file.write(text)
    os.chmod(name, 0o755)
def attempt(name, argv, **more):
    put("victim", "x")
    try: code = subprocess.run(argv, capture_output=True, timeout=30, **more).returncode
    except OSError as error: code = error.errno
    print(name, os.path.exists("victim"), code)
def descriptor():
    file = os.memfd_create("x")
    os.write(file, open(rm, "rb").read())
    if os.fork() == 0:
        try: os.execve(file, ["x", "victim"], {})
        except OSError: os._exit(13)
    return os.waitstatus_to_exitcode(os.wait()[1])
attempt("plain", [rm, "victim"])
os.path.lexists("bin/soft") or os.symlink(os.path.realpath(rm), "bin/soft")
attempt("soft_link", ["bin/soft", "victim"])
os.path.exists("bin/copy") or shutil.copy(rm, "bin/copy")
attempt("copy", ["bin/copy", "victim"])
put("bin/script", "#!" + os.path.realpath(rm) + "\n")
attempt("interpreter", ["bin/script", "victim"])
attempt("loader", [loader, os.path.realpath(rm), "victim"])
attempt("loader_options", [loader, "--argv0", "ls", "--inhibit-cache", "bin/copy", "victim"])
os.path.exists("bin/ld") or shutil.copy(loader, "bin/ld")
attempt("loader_copy", ["bin/ld", "bin/copy", "victim"])
attempt("other_name", ["bash", "-c", "exec -a ls rm victim"])
attempt("env", ["env", "-i", rm, "victim"])
attempt("find", ["find", ".", "-name", "victim", "-exec", "rm", "{}", ";"])
attempt("xargs", ["xargs", "rm"], input=b"victim")
attempt("make", ["make", "-f", "-", "x"], input=b"x:\n\trm victim\n")
attempt("busybox", ["busybox", "rm", "victim"])
attempt("busybox_xargs", ["busybox", "xargs", "rm"], input=b"victim")
attempt("busybox_shell", ["busybox", "sh", "-c", "rm victim"])
os.path.lexists("bin/busybox-x") or shutil.copy(shutil.which("busybox"), "bin/busybox-x")
attempt("busybox_copy", ["bin/busybox-x", "rm", "victim"])
attempt("descriptor", ["bash", "-c", f"exec 3<{rm}; /proc/self/fd/3 victim"])
attempt("setsid", ["setsid", "-w", "nohup", "rm", "victim"])
put("victim", "x"); code = descriptor(); print("memory", os.path.exists("victim"), code)
attempt("own_calls", ["python3", "-c", "import os; os.unlink('victim')"])
attempt("other_program", ["ls", "victim"])

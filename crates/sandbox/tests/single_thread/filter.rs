//! System calls that a kernel doesn't have, for this process and its children.

/// Has the kernel answer the system calls of these numbers with `errno` from now on.
pub(crate) fn refuse(calls: &[libc::c_long], errno: libc::c_int) {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let number_at = 0;
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, number_at)];
    for call in calls {
        // Equal: the next statement, else the one behind it.
        let equal = statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32);
        program.push(libc::sock_filter { jt: 0, jf: 1, ..equal });
        program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno as u32));
    }
    program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: no memory is involved. Only then may a user without privileges filter.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: the program is alive and as long as `filter` says; the kernel copies it.
    let set =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, &raw const filter) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

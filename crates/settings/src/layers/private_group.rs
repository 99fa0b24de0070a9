//! Whether a group has only one user in it.
//!
//! Many systems give each user a group of the same name, and a umask that lets this group write. A file with mode 0664 of
//! such a group can be written by its owner alone. What the system's lists don't say (users of a directory service) is not
//! known, and then the group counts as shared.

use std::path::Path;

use rustix::fd::AsFd;

/// Whether `gid` is the private group of the user `uid`, by the system's lists.
pub(super) fn is_private(uid: u32, gid: u32) -> bool {
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).unwrap_or_default();
    is_private_in(&read("/etc/passwd"), &read("/etc/group"), uid, gid)
}

/// Whether an access control list may let others write the file. In its mode, the bits of the group are then the most that
/// any entry of the list gives.
pub(super) fn has_access_list(file: impl AsFd) -> bool {
    // A file system without such lists has none.
    let mut nothing: [u8; 0] = [];
    rustix::fs::fgetxattr(file, "system.posix_acl_access", &mut nothing).is_ok()
}

fn is_private_in(passwd: &str, group: &str, uid: u32, gid: u32) -> bool {
    let users: Vec<Vec<&str>> = passwd.lines().map(|line| line.split(':').collect()).collect();
    let groups: Vec<Vec<&str>> = group.lines().map(|line| line.split(':').collect()).collect();
    let number = |fields: &[&str], at: usize| fields.get(at).and_then(|text| text.parse::<u32>().ok());
    let mut owners = users.iter().filter(|user| number(user, 2) == Some(uid));
    let (Some(owner), None) = (owners.next().and_then(|user| user.first()), owners.next()) else {
        return false;
    };
    let primary = users.iter().filter(|user| number(user, 3) == Some(gid));
    let only_the_owner = primary.map(|user| number(user, 2)).eq([Some(uid)]);
    let mut named = groups.iter().filter(|group| number(group, 2) == Some(gid));
    let (Some(group), None) = (named.next(), named.next()) else { return false };
    let members = group.get(3).copied().unwrap_or_default().split(',');
    let mut others = members.map(str::trim).filter(|member| !member.is_empty() && member != owner);
    only_the_owner && group.first() == Some(owner) && others.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n\
        ada:x:1000:1000::/home/ada:/bin/bash\n\
        bob:x:1001:1001::/home/bob:/bin/bash\n\
        eve:x:1002:100::/home/eve:/bin/bash\n\
        kim:x:1003:1003::/home/kim:/bin/bash\n\
        kim2:x:1004:1003::/home/kim:/bin/bash\n";
    const GROUP: &str =
        "root:x:0:\nusers:x:100:\nada:x:1000:\nbob:x:1001:bob,eve\nkim:x:1003:\nstaff:x:50:ada\n";

    #[test]
    fn only_a_group_of_the_same_name_without_others_is_private() {
        for (uid, gid, expected, why) in [
            (1000, 1000, true, "a group of her own"),
            (0, 0, true, "also root has one"),
            (1001, 1001, false, "eve is a member"),
            (1002, 100, false, "it has another name"),
            (1003, 1003, false, "another user's first group"),
            (1000, 50, false, "not her first group"),
            (1000, 1001, false, "another user's group"),
            (1000, 7, false, "an unknown group"),
            (4242, 4242, false, "an unknown user"),
        ] {
            assert_eq!(is_private_in(PASSWD, GROUP, uid, gid), expected, "{uid} {gid}: {why}");
        }
        assert!(!is_private_in("", "", 1000, 1000), "nothing is known");
        assert!(is_private_in(PASSWD, &GROUP.replace("ada:x:1000:", "ada:x:1000:ada"), 1000, 1000));
    }
}

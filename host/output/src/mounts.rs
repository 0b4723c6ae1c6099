//! What is mounted where: a folder that is thrown away must not take with it what is only shown in it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The first mount point that `folder` (resolved) is or has in it. Linux only: elsewhere, and where the list cannot be read, `None`.
pub(crate) fn within(folder: &Path) -> Option<PathBuf> {
    let list = fs::read("/proc/self/mountinfo").ok()?;
    list.split(|byte| *byte == b'\n').filter_map(place).find(|place| place.starts_with(folder))
}

// The fifth field, in which white space and backslashes stand as three octal digits (proc_pid_mountinfo(5)).
fn place(line: &[u8]) -> Option<PathBuf> {
    let field = line.split(|byte| *byte == b' ').nth(4)?;
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, more @ ..] = rest {
        let code = (*first == b'\\').then(|| more.get(..3)).flatten().and_then(octal);
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &more[3..] } else { more };
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

fn octal(digits: &[u8]) -> Option<u8> {
    let digits = std::ffi::OsStr::from_bytes(digits).to_str()?;
    u8::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_mount_is_read_with_its_white_space() {
        let line = br"36 35 98:0 /mnt1 /a/b\040c\134d rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(place(line), Some(PathBuf::from(r"/a/b c\d")));
        assert_eq!(place(b""), None);
    }

    #[test]
    fn what_is_mounted_below_is_found() {
        if cfg!(target_os = "linux") {
            assert!(within(Path::new("/proc")).is_some());
        }
        assert_eq!(within(tempfile::tempdir().unwrap().path()), None);
    }
}

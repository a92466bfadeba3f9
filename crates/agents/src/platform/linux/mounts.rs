//! What is mounted where, as `/proc/self/mountinfo` tells it, and by which other paths a folder is reached.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// The file system, as a number of a device.
    device: String,
    /// Its kind.
    pub(super) kind: String,
    /// Which of its folders is mounted.
    root: PathBuf,
    /// Where.
    pub(super) at: PathBuf,
    /// Options of the file system.
    options: String,
}

/// All mounts, in the order in which they were made.
pub(super) fn mounts() -> io::Result<Vec<Mount>> {
    Ok(fs::read_to_string("/proc/self/mountinfo")?.lines().filter_map(Mount::parse).collect())
}

impl Mount {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (front, back) = line.split_once(" - ")?;
        let front: Vec<&str> = front.split(' ').collect();
        let mut back = back.split(' ');
        Some(Self {
            device: (*front.get(2)?).to_owned(),
            kind: back.next()?.to_owned(),
            root: path(front.get(3)?),
            at: path(front.get(4)?),
            options: back.nth(1).unwrap_or_default().to_owned(),
        })
    }

    /// Whether its file system has this option.
    pub(super) fn has_option(&self, option: &str) -> bool {
        self.options.split(',').any(|other| other == option)
    }

    /// Where a path of its file system is found; `None` outside of what is mounted.
    pub(super) fn inside(&self, path: &Path) -> Option<PathBuf> {
        let rest = path.strip_prefix(&self.root).ok()?;
        let stays = rest.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        stays.then(|| self.at.components().chain(rest.components()).collect())
    }
}

/// A path with blanks and the like as three octal digits.
fn path(escaped: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = escaped.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        let octal = more.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.filter(|_| byte == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(meant) => {
                bytes.push(meant);
                rest = &more[3..];
            }
            None => {
                bytes.push(byte);
                rest = more;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// Another path by which a folder, or a part of it, is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// The other path.
    pub(super) at: PathBuf,
    /// What it leads to, by the folder's own path.
    pub(super) to: PathBuf,
}

/// The other ways to a folder, but for those that lead into its part `but` alone. Some may be covered by later mounts.
pub(super) fn ways(mounts: &[Mount], folder: &Path, but: &Path) -> Vec<Way> {
    let carries = |mount: &&Mount| folder.starts_with(&mount.at);
    let Some(own) = mounts.iter().filter(carries).max_by_key(|mount| mount.at.components().count()) else {
        return Vec::new();
    };
    let inside = |path: &Path| path.strip_prefix(&own.at).map(|rest| own.root.join(rest)).unwrap_or_default();
    let (folder_inside, but_inside) = (inside(folder), inside(but));
    let alike = mounts.iter().filter(|mount| mount.device == own.device);
    let ways = alike.filter_map(|mount| {
        if let Ok(rest) = folder_inside.strip_prefix(&mount.root) {
            return Some(Way { at: mount.at.join(rest), to: folder.to_owned() });
        }
        let part = mount.root.strip_prefix(&folder_inside).ok()?;
        let is_own = but.starts_with(folder) && mount.root.starts_with(&but_inside);
        (!is_own).then(|| Way { at: mount.at.clone(), to: folder.join(part) })
    });
    ways.filter(|way| !way.at.starts_with(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw - proc proc rw
24 22 254:16 / /srv/big\\040disk rw - ext4 /dev/vdb rw
25 22 254:16 /highwater /var/lib/highwater rw - ext4 /dev/vdb rw
26 22 254:0 /var/lib/other /mnt rw - ext4 /dev/vda rw
27 22 254:16 /highwater/data/agents /srv/agents rw - ext4 /dev/vdb rw
28 22 254:16 /highwater/data/agents/b-me/work /srv/mine rw - ext4 /dev/vdb rw
29 22 254:16 /highwater/data/highwater.db /srv/db rw master:3 - ext4 /dev/vdb rw
30 22 254:16 /highwater/data/agents/b-me /var/lib/highwater/data/agents/b-you rw - ext4 /dev/vdb rw
no mount";

    #[test]
    fn a_folder_is_found_by_its_other_paths() {
        let mounts: Vec<Mount> = MOUNTS.lines().filter_map(Mount::parse).collect();
        assert_eq!(mounts.len(), 9);
        let check = |folder: &str, but: &str, expect: &[(&str, &str)]| {
            let expect: Vec<Way> =
                expect.iter().map(|(at, to)| Way { at: at.into(), to: to.into() }).collect();
            assert_eq!(ways(&mounts, Path::new(folder), Path::new(but)), expect, "{folder}");
        };
        let data = "/var/lib/highwater/data";
        check(
            data,
            &format!("{data}/agents/b-me"),
            &[
                ("/srv/big disk/highwater/data", data),
                ("/srv/agents", &format!("{data}/agents")),
                ("/srv/db", &format!("{data}/highwater.db")),
            ],
        );
        check("/home/me/data", "/home/me/data/agents/b-me", &[]);
        check("/var/lib/other/data", "/elsewhere", &[("/mnt/data", "/var/lib/other/data")]);
        assert_eq!(ways(&[], Path::new("/d"), Path::new("/d/a")), Vec::new());
    }
}

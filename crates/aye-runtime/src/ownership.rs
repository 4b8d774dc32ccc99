//! Whose a file is, and who else can change it.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::error::Error;
use crate::fmt::shell_word;

const STICKY: u32 = 0o1000;

/// Someone besides this user and root who can change a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// The one it belongs to.
    Owner,
    /// Those of this group.
    Group(u32),
    /// Everyone.
    Everyone,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("belongs to another user"),
            Self::Group(group) => write!(f, "can be written by group {group}, which is not yours"),
            Self::Everyone => f.write_str("can be written by everyone"),
        }
    }
}

impl Other {
    /// Who can change what this is about, if anyone.
    pub fn of(about: &Metadata) -> Option<Self> {
        match is_ours(about.uid()) {
            true => Self::by_mode(about),
            false => Some(Self::Owner),
        }
    }

    fn by_mode(about: &Metadata) -> Option<Self> {
        let can = |bit: u32| about.mode() & bit != 0;
        if can(0o002) {
            return Some(Self::Everyone);
        }
        let foreign = about.gid() != rustix::process::getegid().as_raw();
        (can(0o020) && foreign).then(|| Self::Group(about.gid()))
    }

    /// Who can exchange a file of ours in this directory.
    pub fn in_directory(about: &Metadata) -> Option<Self> {
        if !is_ours(about.uid()) && has_name(about.uid()) {
            return Some(Self::Owner);
        }
        Self::by_mode(about).filter(|_| about.mode() & STICKY == 0)
    }

    fn remedy(self, path: &Path, mode: &str) -> String {
        let path = shell_word(&path.display().to_string());
        match self {
            Self::Owner => {
                "run it as that user; or set `AYE_HOME` to a directory of your own".into()
            }
            Self::Group(_) | Self::Everyone => format!(
                "look at what is in it, then `chmod {mode} {path}`; or set `AYE_HOME` to a \
                 directory of your own"
            ),
        }
    }
}

/// Whether a file of this user number is ours, or root's.
pub fn is_ours(uid: u32) -> bool {
    [0, rustix::process::geteuid().as_raw()].contains(&uid)
}

/// Whether the number is that of a user. In a user namespace every user from
/// outside, root too, has the same number, which is nobody's in there.
fn has_name(uid: u32) -> bool {
    std::fs::read_to_string("/proc/self/uid_map").map_or(true, |map| is_mapped(uid, &map))
}

fn is_mapped(uid: u32, map: &str) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(first)), Some(Ok(_)), Some(Ok(count))) => {
                (first..first + count).contains(&uid.into())
            }
            // What cannot be read excuses nobody.
            _ => true,
        }
    })
}

/// Refuses an `AYE_HOME` that is not a directory, or that another user could
/// change or exchange: what was agreed to is kept there.
pub fn require_private_home(home: &Path) -> Result<(), Error> {
    if home.metadata().is_ok_and(|about| !about.is_dir()) {
        return Err(Error::usage(
            format!("`{}` is not a directory", home.display()),
            "set `AYE_HOME` or `--home` to the directory to keep the journal in",
        ));
    }
    let files = [("", "700"), ("journal.db", "600"), ("journal.db-wal", "600")];
    for (name, mode) in files {
        let path = if name.is_empty() { home.to_path_buf() } else { home.join(name) };
        if let Some(other) = path.metadata().ok().as_ref().and_then(Other::of) {
            let message = format!("`{}` {other}; Aye keeps your agreements there", path.display());
            return Err(Error::Refused { message, hint: Some(other.remedy(&path, mode)) });
        }
    }
    // Of a home that is still to be made, what is there of the way to it.
    let real = |path: &Path| path.canonicalize().ok();
    let mut above = home.ancestors().skip(1);
    let real = match real(home) {
        Some(home) => home.parent().map(Path::to_path_buf),
        None => above.find_map(real),
    };
    for directory in real.iter().flat_map(|path| path.ancestors()) {
        if let Some(other) = directory.metadata().ok().as_ref().and_then(Other::in_directory) {
            let (shown, home) = (directory.display(), home.display());
            let message = format!(
                "`{shown}` {other}; `{home}`, where Aye keeps what you agreed to, is in it"
            );
            return Err(Error::Refused { message, hint: Some(other.remedy(directory, "go-w")) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_mapped;

    #[test]
    fn outside_of_namespaces_everybody_has_a_name() {
        let every_user = "         0          0 4294967295\n";
        assert!(is_mapped(65_534, every_user) && is_mapped(0, every_user));
        assert!(!is_mapped(65_534, "         0       1000          1\n"));
        assert!(is_mapped(65_534, "0 1000 1\n1 100000 65536\n"));
        assert!(is_mapped(65_534, "?\n"));
    }
}

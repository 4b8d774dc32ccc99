//! Which files are skills, and for whom.

use std::path::{Path, PathBuf};

use aye_core::diagnostic::did_you_mean;
use aye_core::skill;

use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::settings::Settings;

use super::{SkillFile, read_text, skill_name};

/// How many files and directories are looked at below the skill directories
/// of a project: `skills = ["/"]` may not keep anyone waiting.
const MOST_ENTRIES: usize = 50_000;
/// How many of them may be skills.
const MOST_FILES: usize = 2_000;
/// How deep directories may lie in each other.
const DEEPEST: usize = 32;

/// Who names a skill decides which files can be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Any file: a person typed it, or wrote it into a skill.
    AnyFile,
    /// Only what is listed, with its real path inside a skill directory of the
    /// project: an assistant named it, or a value of a run did.
    Listed,
}

/// The skills of a project.
#[derive(Debug, Clone)]
pub struct Library<'a> {
    /// Where relative paths begin.
    pub directory: &'a Path,
    /// Where the skill directories stand.
    pub settings: &'a Settings,
    /// `AYE_HOME`: nothing below it is a skill. What steps print is there, and
    /// what steps print may look like one.
    pub home: &'a Path,
    /// Who looks.
    pub reach: Reach,
    /// Real paths of skill directories outside of the project that count as inside.
    pub outside: Vec<PathBuf>,
}

impl Library<'_> {
    /// Finds the file of a skill, given its name or a path; `FILE#NAME` picks
    /// one of several in a file. A file whose path has a `#` in it comes first.
    pub fn find(&self, wanted: &str) -> Result<(PathBuf, Option<String>), Error> {
        let is_path =
            |text: &str| text.contains('/') || text.ends_with(".yaml") || text.ends_with(".yml");
        if wanted.contains('#')
            && is_path(wanted)
            && let Ok(path) = self.file(wanted)
        {
            return Ok((relative_to(&path, self.directory), None));
        }
        let (file, name) = match wanted.rsplit_once('#') {
            Some((file, name)) => (file, Some(name.to_owned())),
            None => (wanted, None),
        };
        if is_path(file) {
            return Ok((relative_to(&self.file(file)?, self.directory), name));
        }
        let listing = self.listing();
        let files = &listing.files;
        let named: Vec<&PathBuf> =
            files.iter().filter(|path| path.file_stem().is_some_and(|stem| stem == file)).collect();
        if let Some(path) = only_one(&named, file, self.directory)? {
            return Ok((relative_to(path, self.directory), name));
        }
        // The name may be one of several in a file, or differ from the file's.
        let mut known = Vec::new();
        let mut holding = Vec::new();
        for path in files {
            let Ok(read) = SkillFile::read(path) else { continue };
            known.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
            // One with errors is found too: what is wrong with it is said then.
            let mut names: Vec<&str> = read.flows.iter().map(skill_name).collect();
            let declared = read.declared.iter().map(|skill| skill.as_str());
            names.extend(declared.filter(|name| !name.is_empty()));
            names.dedup();
            if names.contains(&file) {
                holding.push(path);
            }
            known.extend(names.into_iter().map(str::to_owned));
        }
        if let Some(path) = only_one(&holding, file, self.directory)? {
            return Ok((relative_to(path, self.directory), Some(file.to_owned())));
        }
        if let Some(warning) = listing.warnings().next() {
            return Err(Error::not_found(format!("there is no skill `{file}`"), warning));
        }
        let hint = match did_you_mean(file, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => {
                "no skills found; `aye init` makes a first one, or give a path".to_owned()
            }
            None => "`aye list` shows the skills that are there".to_owned(),
        };
        Err(Error::not_found(format!("there is no skill `{file}`"), hint))
    }

    /// The file at a path, if it may be a skill.
    fn file(&self, written: &str) -> Result<PathBuf, Error> {
        let path = self.directory.join(written);
        match self.reach {
            Reach::AnyFile if !path.is_file() => {
                let hint = "check the path, or give the name of a skill that `aye list` shows";
                Err(Error::not_found(format!("there is no file `{written}`"), hint))
            }
            Reach::AnyFile => self.outside_home(&path).map(|()| path),
            // The same words whether there is such a file or not.
            Reach::Listed => {
                let real = path.canonicalize().ok();
                let same = |listed: &PathBuf| listed.canonicalize().ok() == real;
                let listed = real.is_some().then(|| self.files().into_iter().find(same)).flatten();
                listed.ok_or_else(|| {
                    let hint = "give the name of a skill that `aye list` shows; other files are \
                                not skills here";
                    Error::not_found(format!("there is no skill `{written}`"), hint)
                })
            }
        }
    }

    /// Refuses what is below `AYE_HOME`.
    pub fn outside_home(&self, path: &Path) -> Result<(), Error> {
        match (path.canonicalize(), self.home.canonicalize()) {
            (Ok(real), Ok(home)) if real.starts_with(&home) => Err(Error::usage(
                format!("`{}` is below `AYE_HOME`: nothing there is a skill", path.display()),
                "copy it to a directory of your own if it really is one",
            )),
            _ => Ok(()),
        }
    }

    /// Every skill file of the project, in order.
    pub fn files(&self) -> Vec<PathBuf> {
        self.listing().files
    }

    /// The same, with the directories that are too large to be looked at whole.
    pub fn listing(&self) -> Listing {
        let Settings { skills, user_skills, .. } = self.settings;
        let of_project = skills.iter().filter(|directory| self.may_list(directory));
        let mut listing = self.look(of_project);
        // A large project leaves the user's own skills where they are.
        let own = self.look(user_skills.iter());
        listing.files.extend(own.files);
        listing.cut.extend(own.cut);
        listing
    }

    /// Whether skills may be listed from a directory that the project names.
    fn may_list(&self, directory: &Path) -> bool {
        let inside = |real: PathBuf| {
            let root = self.settings.root.canonicalize();
            root.is_ok_and(|root| real.starts_with(root)) || self.outside.contains(&real)
        };
        self.reach == Reach::AnyFile || directory.canonicalize().is_ok_and(inside)
    }

    /// The YAML files below a directory, in order.
    pub fn below(&self, directory: &Path) -> Listing {
        self.look(std::iter::once(directory))
    }

    fn look<P: AsRef<Path>>(&self, directories: impl Iterator<Item = P>) -> Listing {
        let home = self.home.canonicalize().ok();
        let mut listing = Listing::default();
        let mut left = Left { entries: MOST_ENTRIES, files: MOST_FILES };
        for directory in directories {
            let directory = directory.as_ref();
            let Ok(real) = directory.canonicalize() else { continue };
            let within = match self.reach {
                Reach::AnyFile => None,
                Reach::Listed => Some(real.as_path()),
            };
            let limits = Limits { within, home: home.as_deref() };
            if !walk(directory, &real, DEEPEST, &limits, &mut left, &mut listing.files) {
                listing.cut.push(directory.to_path_buf());
            }
        }
        listing
    }

    /// The names of the project's skills, as `aye run` takes them.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for path in self.files() {
            let Ok(read) = read_text(&path) else { continue };
            let held = names.len();
            // Only names are wanted: what else there is to say costs more than all the rest.
            if let Ok(text) = read {
                let parsed = skill::parse(&path.to_string_lossy(), &text);
                let whole = parsed.skills.into_iter().map(|skill| skill.name.value);
                let declared = parsed.declared.into_iter().map(|skill| skill.value);
                names.extend(whole.chain(declared).filter(|name| !name.is_empty()));
                let own = names.split_off(held);
                for name in own {
                    if !names[held..].contains(&name) {
                        names.push(name);
                    }
                }
            }
            // One with errors is there all the same.
            if names.len() == held {
                names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
            }
        }
        names
    }
}

/// The skill files of some directories.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The files, in order.
    pub files: Vec<PathBuf>,
    /// Directories that are too large: not all of what is in them was looked at.
    pub cut: Vec<PathBuf>,
}

impl Listing {
    /// What to say about directories that are too large.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.cut.iter().map(|directory| {
            format!(
                "`{}` is too large for a skill directory, and part of it was not looked at \
                 (limits: {MOST_ENTRIES} entries, {MOST_FILES} skill files, {DEEPEST} levels); \
                 name a smaller one in `skills` of `aye.toml`",
                escape_control_line(&directory.to_string_lossy())
            )
        })
    }
}

/// What may still be looked at.
struct Left {
    entries: usize,
    files: usize,
}

/// What a walk leaves out, as real paths.
struct Limits<'a> {
    /// Links that lead out of this directory.
    within: Option<&'a Path>,
    /// Everything below `AYE_HOME`.
    home: Option<&'a Path>,
}

impl Limits<'_> {
    fn allow(&self, real: &Path) -> bool {
        self.within.is_none_or(|within| real.starts_with(within))
            && !self.home.is_some_and(|home| real.starts_with(home))
    }
}

/// Whether everything that counts was looked at.
fn walk(
    directory: &Path,
    real: &Path,
    deeper: usize,
    limits: &Limits<'_>,
    left: &mut Left,
    files: &mut Vec<PathBuf>,
) -> bool {
    if !limits.allow(real) {
        return true;
    }
    let Some(deeper) = deeper.checked_sub(1) else { return false };
    let Ok(entries) = std::fs::read_dir(directory) else { return true };
    let mut entries: Vec<std::fs::DirEntry> = entries.flatten().take(left.entries + 1).collect();
    let mut whole = entries.len() <= left.entries;
    entries.truncate(left.entries);
    left.entries -= entries.len();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        // A link to a directory may lead round in a circle; one to a file is fine.
        if kind.is_dir() {
            let real = real.join(entry.file_name());
            whole &= walk(&path, &real, deeper, limits, left, files);
            continue;
        }
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        let allowed =
            || !kind.is_symlink() || path.canonicalize().is_ok_and(|real| limits.allow(&real));
        if is_yaml && allowed() && path.is_file() {
            let Some(rest) = left.files.checked_sub(1) else { return false };
            left.files = rest;
            files.push(path);
        }
    }
    whole
}

/// The wrong runbook is worse than none: a name that stands for several is refused.
fn only_one<'a>(
    found: &[&'a PathBuf],
    name: &str,
    directory: &Path,
) -> Result<Option<&'a PathBuf>, Error> {
    match found {
        [] => Ok(None),
        [path] => Ok(Some(path)),
        several => {
            let shown: Vec<String> = several
                .iter()
                .map(|path| relative_to(path, directory).display().to_string())
                .collect();
            let message = format!("`{name}` stands for several skills: {}", shown.join(", "));
            Err(Error::usage(message, format!("give the file: `aye run {}`", shown[0])))
        }
    }
}

/// The path as people would write it from where they are.
pub fn relative_to(path: &Path, directory: &Path) -> PathBuf {
    path.strip_prefix(directory).unwrap_or(path).to_path_buf()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What is found with these limits, and whether that is all.
    fn found(directory: &Path, entries: usize, files: usize, deepest: usize) -> (usize, bool) {
        let mut list = Vec::new();
        let limits = Limits { within: None, home: None };
        let mut left = Left { entries, files };
        let whole = walk(directory, directory, deepest, &limits, &mut left, &mut list);
        (list.len(), whole)
    }

    #[test]
    fn a_walk_has_an_end() {
        let place = tempfile::tempdir().expect("a directory");
        let at = place.path();
        fs::create_dir_all(at.join("a/b")).expect("made");
        for file in ["one.yaml", "a/two.yaml", "a/b/three.yaml"] {
            fs::write(at.join(file), "").expect("written");
        }
        std::os::unix::fs::symlink(at, at.join("a/again")).expect("linked");
        assert_eq!(found(at, 6, 3, 3), (3, true));
        assert!(!found(at, 6, 2, 3).1);
        assert_eq!(found(at, 6, 3, 2), (2, false));
        assert!(!found(at, 3, 3, 3).1);
        assert_eq!(found(at, 0, 3, 3), (0, false));
    }

    #[test]
    fn names_do_not_read_what_is_too_large() {
        let place = tempfile::tempdir().expect("a directory");
        let skills = place.path().join("skills");
        fs::create_dir(&skills).expect("made");
        fs::write(skills.join("good.yaml"), "name: fine\nsteps: [{ name: a, shell: x }]\n")
            .expect("written");
        // Takes no room on the disk, and more memory than there is.
        let huge = fs::File::create(skills.join("huge.yaml")).expect("made");
        huge.set_len(1 << 42).expect("a file with a hole");
        let settings = Settings::load(place.path(), None, |_| false).expect("settings");
        let library = Library {
            directory: place.path(),
            settings: &settings,
            home: Path::new(""),
            reach: Reach::AnyFile,
            outside: Vec::new(),
        };
        assert_eq!(library.names(), ["fine", "huge"]);
    }
}

//! Which files are skills, and for whom.

use std::path::{Path, PathBuf};

use aye_core::diagnostic::did_you_mean;
use aye_core::skill;

use crate::error::Error;
use crate::settings::Settings;

use super::{SkillFile, skill_name};

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
    /// one of several in a file.
    pub fn find(&self, wanted: &str) -> Result<(PathBuf, Option<String>), Error> {
        let (file, name) = match wanted.rsplit_once('#') {
            Some((file, name)) => (file, Some(name.to_owned())),
            None => (wanted, None),
        };
        if file.contains('/') || file.ends_with(".yaml") || file.ends_with(".yml") {
            return Ok((relative_to(&self.file(file)?, self.directory), name));
        }
        let files = self.files();
        let named: Vec<&PathBuf> =
            files.iter().filter(|path| path.file_stem().is_some_and(|stem| stem == file)).collect();
        if let Some(path) = only_one(&named, file, self.directory)? {
            return Ok((relative_to(path, self.directory), name));
        }
        // The name may be one of several in a file, or differ from the file's.
        let mut known = Vec::new();
        let mut holding = Vec::new();
        for path in &files {
            let Ok(read) = SkillFile::read(path) else { continue };
            known.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
            for flow in &read.flows {
                if skill_name(flow) == file {
                    holding.push(path);
                }
                known.push(skill_name(flow).to_owned());
            }
        }
        if let Some(path) = only_one(&holding, file, self.directory)? {
            return Ok((relative_to(path, self.directory), Some(file.to_owned())));
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
        let Settings { skills, user_skills, .. } = self.settings;
        let of_project = skills.iter().filter(|directory| self.may_list(directory));
        of_project.chain(user_skills).flat_map(|directory| self.below(directory)).collect()
    }

    /// Whether a directory that the project names may have skills for whoever looks.
    fn may_list(&self, directory: &Path) -> bool {
        let inside = |real: PathBuf| {
            let root = self.settings.root.canonicalize();
            root.is_ok_and(|root| real.starts_with(root)) || self.outside.contains(&real)
        };
        self.reach == Reach::AnyFile || directory.canonicalize().is_ok_and(inside)
    }

    /// The YAML files below a directory, in order.
    pub fn below(&self, directory: &Path) -> Vec<PathBuf> {
        let Ok(real) = directory.canonicalize() else { return Vec::new() };
        let within = match self.reach {
            Reach::AnyFile => None,
            Reach::Listed => Some(real.as_path()),
        };
        let home = self.home.canonicalize().ok();
        let mut files = Vec::new();
        walk(directory, &real, &Limits { within, home: home.as_deref() }, &mut files);
        files
    }

    /// The names of the project's skills, as `aye run` takes them.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for path in self.files() {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            // Only names are wanted: what else there is to say costs more than all the rest.
            let parsed = skill::parse(&path.to_string_lossy(), &text);
            let held = names.len();
            names.extend(parsed.skills.into_iter().map(|skill| skill.name.value));
            // One with errors is there all the same.
            if names.len() == held {
                names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
            }
        }
        names
    }
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

fn walk(directory: &Path, real: &Path, limits: &Limits<'_>, files: &mut Vec<PathBuf>) {
    if !limits.allow(real) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut entries: Vec<std::fs::DirEntry> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        // A link to a directory may lead round in a circle; one to a file is fine.
        if kind.is_dir() {
            walk(&path, &real.join(entry.file_name()), limits, files);
            continue;
        }
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        let allowed =
            || !kind.is_symlink() || path.canonicalize().is_ok_and(|real| limits.allow(&real));
        if is_yaml && allowed() && path.is_file() {
            files.push(path);
        }
    }
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

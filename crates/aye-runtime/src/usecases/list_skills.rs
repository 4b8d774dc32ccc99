//! The skills of a project as every front end lists and reads them: with what the
//! project's settings say about them, and with those that have errors.

use std::path::{Path, PathBuf};

use aye_core::flow::Flow;
use aye_core::span::Span;

use crate::error::Error;
use crate::runtime::Runtime;
use crate::skills::{Listing, SkillFile, relative_to, skill_name};

use super::prepare::SkillError;

/// A skill in a list.
pub struct ListedSkill {
    /// Its name, as `aye run` takes it; that of the file, where it has none.
    pub name: String,
    /// Where it is, as people would write it from where they are.
    pub file: PathBuf,
    /// What it does; `None` if it cannot be read.
    pub flow: Option<Flow>,
    /// How many errors keep it from being run; those of its siblings do not.
    pub errors: usize,
}

/// The skills of a project.
pub struct SkillList {
    /// In the order of their files.
    pub skills: Vec<ListedSkill>,
    /// Where they were looked for.
    pub listing: Listing,
}

/// A skill that was found; it may have errors.
pub struct FoundSkill {
    /// Its file, with what is to be said about this skill of it.
    pub file: SkillFile,
    /// Which one, where the file has several.
    pub name: Option<String>,
}

impl Runtime {
    /// Every skill of the project.
    pub fn list_skills(&self) -> SkillList {
        let listing = self.library().listing();
        let mut skills = Vec::new();
        for path in &listing.files {
            let shown = relative_to(path, &self.directory);
            match SkillFile::read(path) {
                Ok(file) => skills.extend(listed(self.as_set(file), &shown)),
                Err(_) => skills.push(ListedSkill {
                    name: name_of(&shown),
                    file: shown,
                    flow: None,
                    errors: 1,
                }),
            }
        }
        SkillList { skills, listing }
    }

    /// Finds a skill by its name or path and reads it, whether it can be run or not.
    pub fn read_skill(&self, wanted: &str) -> Result<FoundSkill, Error> {
        let (path, name) = self.library().find(wanted)?;
        let file = self.as_set(SkillFile::read(&self.directory.join(&path))?);
        let file = SkillFile { path, ..file }.only(name.as_deref());
        Ok(FoundSkill { file, name })
    }

    /// A file as the project's settings have it.
    fn as_set(&self, file: SkillFile) -> SkillFile {
        file.or_lenient(self.settings.lenient).marked(&self.settings.tools)
    }
}

impl FoundSkill {
    /// What it does, as far as that can be read; it may have errors.
    pub fn into_flow(self) -> Result<Flow, SkillError> {
        let Self { file, name } = self;
        let is_meant = |one: &str| name.as_deref().is_none_or(|name| name == one);
        let is_declared = file.declared.iter().any(|skill| is_meant(skill));
        let is_readable = file.flows.iter().any(|flow| is_meant(skill_name(flow)));
        if !is_readable && (is_declared || name.is_none()) {
            return Err(SkillError::Invalid(Box::new(file)));
        }
        Ok(file.into_flow(name.as_deref())?.0)
    }
}

/// The skills of a file.
fn listed(mut file: SkillFile, shown: &Path) -> Vec<ListedSkill> {
    let named = |name: &str| match name {
        "" => name_of(shown),
        name => name.to_owned(),
    };
    let one =
        |name: String, flow, errors| ListedSkill { name, file: shown.to_path_buf(), flow, errors };
    let mut skills = Vec::new();
    for declared in file.declared.clone() {
        let found = file.flows.iter().position(|flow| skill_name(flow) == declared.value);
        let flow = found.map(|index| file.flows.remove(index));
        let errors = errors_of(&file, declared.span);
        if flow.is_some() || errors > 0 {
            skills.push(one(named(&declared.value), flow, errors));
        }
    }
    let errors = file.errors();
    if skills.is_empty() && errors > 0 {
        skills.push(one(name_of(shown), None, errors));
    }
    skills
}

/// How many errors keep the skill at this place from being run.
fn errors_of(file: &SkillFile, own: Span) -> usize {
    let others = || file.declared.iter().map(|skill| skill.span).filter(|span| *span != own);
    let errors = file.diagnostics.iter().filter(|found| found.is_error());
    errors.filter(|found| !others().any(|other| other.holds(found.span()))).count()
}

fn name_of(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

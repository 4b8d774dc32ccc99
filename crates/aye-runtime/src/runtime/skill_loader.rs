//! Finding the skills that steps call.

use std::path::Path;

use aye_core::flow::Flow;
use aye_core::skill::{InputSpec, Inputs};

use crate::driver::Skills;
use crate::error::Error;
use crate::invalid_skill::InvalidSkill;
use crate::skills::{self, Library, Reach, SkillFile};
use crate::store::Source;

use super::Runtime;

impl Runtime {
    /// The skill of the same file that is meant, by its name or as `#NAME`.
    fn in_same_file(&self, wanted: &str, file: &Path) -> Result<Option<(Flow, Source)>, Error> {
        let (name, sure) = match wanted.strip_prefix('#') {
            Some(name) => (name, true),
            None => (wanted, false),
        };
        if name.contains(['/', '#', '.']) {
            return Ok(None);
        }
        let path = self.directory.join(file);
        let mut read = match SkillFile::read(&path) {
            Ok(read) => read.or_lenient(self.settings.lenient),
            Err(error) if sure => return Err(error),
            Err(_) => return Ok(None),
        };
        if !sure && !read.flows.iter().any(|flow| skills::skill_name(flow) == name) {
            return Ok(None);
        }
        let shown = skills::relative_to(&path, &self.directory);
        read.path.clone_from(&shown);
        let (flow, text) = read.into_flow(Some(name))?;
        Ok(Some((flow, Source::new(shown.to_string_lossy(), text))))
    }
}

impl Skills for Runtime {
    fn load(&self, wanted: &str, file: &Path, reach: Reach) -> Result<(Flow, Source), Error> {
        // A skill of the same file needs no file, and goes before all others.
        if let Some(found) = self.in_same_file(wanted, file)? {
            return Ok(found);
        }
        // A path is meant from the file that says it, and from where the run began.
        let beside = file.parent().map(|folder| self.directory.join(folder));
        let directory = beside
            .filter(|folder| folder.join(wanted.split('#').next().unwrap_or(wanted)).is_file())
            .unwrap_or_else(|| self.directory.clone());
        let mut library = Library { directory: &directory, ..self.library() };
        if reach == Reach::Listed {
            library.reach = reach;
        }
        let (path, name) = library.find(wanted)?;
        let path = directory.join(path);
        let read = SkillFile::read(&path)?.or_lenient(self.settings.lenient);
        let read = read.only(name.as_deref());
        if read.has_errors() {
            let shown = skills::relative_to(&path, &self.directory);
            let why = InvalidSkill::called(&shown.to_string_lossy(), &read.text, &read.diagnostics);
            return Err(Error::InvalidSkill(why));
        }
        let shown = skills::relative_to(&path, &self.directory);
        let (flow, text) = read.into_flow(name.as_deref())?;
        Ok((flow, Source::new(shown.to_string_lossy(), text)))
    }

    fn fill_secrets(&self, specs: &[InputSpec], inputs: &mut Inputs) -> Result<(), Error> {
        Self::fill_secrets(self, specs, inputs)
    }

    fn lenient(&self) -> bool {
        self.settings.lenient
    }
}

//! Looking things up.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use super::agreement::{self, AGREED, Agreed};
use super::cache::Cache;
use super::confidence::WARN;
use super::documents::{Documents, FileDocuments};
use super::error::{MemoryError, Problem};
use super::failure::Failure;
use super::fingerprint::fingerprint;
use super::fix::{Fix, PREFIX, SHORTEST, Standing};
use super::issue::{self, Issue, Rank};
use super::keep::Mask;
use super::memory_file::MemoryFile;
use super::names::{Fit, about_tool};
use super::original::{self, OriginalChoice};
use super::pattern::SearchText;
use super::preference::{EnvironmentRule, Preference, PreferenceQuery};
use super::proposal::{self, Proposal};
use super::query::{Layer, Placed, Query};
use super::reading::{checked, read_fixes, read_issues, read_rules, read_usage};
use super::usage::{UsagePattern, Warning, shapes};

/// Known issues, by people.
pub(super) const PATTERNS: &str = "learned/patterns.yaml";
/// Fixes.
pub(super) const FIXES: &str = "learned/fixes.yaml";
/// Preferences.
pub(super) const CONFIRMATIONS: &str = "learned/confirmations.yaml";
/// Patterns of use.
pub(super) const USAGE: &str = "learned/usage.yaml";
/// The last failures.
pub(super) const FAILURES: &str = "failures.yaml";

/// The project's memory over the user's. Opening it touches no file; each file
/// is read when it is needed, and again only when it has changed.
#[derive(Debug)]
pub struct Memory {
    pub(super) project: Option<Project>,
    user: Arc<dyn Documents>,
    issues: Cache<Issue>,
    fixes: Cache<Fix>,
    agreed: Cache<Agreed>,
    preferences: Cache<Preference>,
    rules: Cache<(String, EnvironmentRule)>,
    original: Cache<(String, OriginalChoice)>,
    usage: Cache<UsagePattern>,
    failures: Cache<Failure>,
    proposals: Cache<Proposal>,
    problems: Mutex<Vec<Problem>>,
    /// When it was last seen that nothing is known about how tools are used.
    pub(super) no_usage: Mutex<Option<Instant>>,
}

/// Every step looks twice; what another process learns counts this much later.
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

#[derive(Debug)]
pub(super) struct Project {
    /// The directory of `aye.toml`, as entries of the user's memory name it.
    pub(super) name: String,
    documents: Arc<dyn Documents>,
}

impl Memory {
    /// The files of the project at this directory, over the user's in that.
    pub fn open(project_root: Option<&Path>, user_dir: &Path) -> Self {
        let project = project_root.map(|root| {
            let documents = FileDocuments::shared(root.join(".aye/memory"));
            (root, Arc::new(documents) as Arc<dyn Documents>)
        });
        Self::over(project, Arc::new(FileDocuments::private(user_dir.to_path_buf())))
    }

    /// The memory of a project, which has this directory, over the user's.
    pub fn over(project: Option<(&Path, Arc<dyn Documents>)>, user: Arc<dyn Documents>) -> Self {
        let project = project.map(|(root, documents)| Project {
            name: root.to_string_lossy().into_owned(),
            documents,
        });
        Self {
            project,
            user,
            issues: Cache::default(),
            fixes: Cache::default(),
            agreed: Cache::default(),
            preferences: Cache::default(),
            rules: Cache::default(),
            original: Cache::default(),
            usage: Cache::default(),
            failures: Cache::default(),
            proposals: Cache::default(),
            problems: Mutex::default(),
            no_usage: Mutex::default(),
        }
    }

    /// What was passed over in the files read so far.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a memory is kept in.
    pub fn documents(&self, layer: Layer) -> Option<&dyn Documents> {
        match layer {
            Layer::Project => self.project.as_ref().map(|project| project.documents.as_ref()),
            Layer::User => Some(self.own()),
        }
    }

    /// The same where something is written.
    pub(super) fn writable(&self, layer: Layer) -> &dyn Documents {
        self.documents(layer).unwrap_or_else(|| self.own())
    }

    /// What the user's own memory is kept in.
    pub(super) fn own(&self) -> &dyn Documents {
        self.user.as_ref()
    }

    /// What is known about a failure, best first.
    pub fn known_issues(&self, query: &Query<'_>) -> Vec<(Rank, Placed<Issue>)> {
        let all = self.issues();
        let found = issue::find(&all, query).into_iter();
        found.map(|(rank, issue)| (rank, issue.clone())).collect()
    }

    /// What is known about these tools before a run: two for each family, five
    /// in all; [`super::SHOWN`] of them are worth showing.
    pub fn issues_before(&self, tools: &[&str]) -> Vec<Placed<Issue>> {
        issue::before(&self.issues(), tools).into_iter().cloned().collect()
    }

    /// The best fix for a failure, of those that are used.
    pub fn fix_for(&self, query: &Query<'_>) -> Option<Fix> {
        let fixes = self.fixes_for(query).into_iter();
        fixes.map(|fix| fix.value).find(|fix| fix.standing() == Standing::Active)
    }

    /// Every fix for a failure, best first, whether it is used or not.
    pub fn fixes_for(&self, query: &Query<'_>) -> Vec<Placed<Fix>> {
        let (mut all, searched) = (self.fixes(), SearchText::new(query.error));
        // The user's own are compared first: what a project has may use up the rest.
        all.sort_by_key(|fix| Reverse(fix.layer));
        let mut found: Vec<_> = all
            .into_iter()
            .filter(|fix| self.is_here(fix.value.project.as_deref()))
            .filter_map(|fix| Some((fix.value.fits(query, &searched)?, fix)))
            .collect();
        found.sort_by_key(|(fit, fix)| {
            (*fit, fix.layer, Reverse((fix.value.verified, fix.value.last_success)))
        });
        found.into_iter().map(|(_, fix)| fix).collect()
    }

    /// Every fix for an error, best first, of whatever tool, at whatever step and in
    /// whatever skill where the query names none; without an error, every fix of the tool or
    /// the family of tools.
    pub fn fixes_wherever(&self, query: &Query<'_>) -> Vec<Placed<Fix>> {
        if query.error.trim().is_empty() {
            return self.fixes_about(query);
        }
        let mut found = self.fixes_for(query);
        let searched = SearchText::new(query.error);
        for fix in self.fixes() {
            let matches = &fix.value.matches;
            let tool = Some(query.tool).filter(|tool| !tool.is_empty());
            let there = Query {
                tool: tool.or(matches.tool.as_deref()).unwrap_or_default(),
                skill: query.skill.or(matches.skill.as_deref()),
                step: query.step.or(matches.step.as_deref()),
                ..*query
            };
            let known = found.iter().any(|one| one.value.id == fix.value.id);
            if !known
                && self.is_here(fix.value.project.as_deref())
                && fix.value.fits(&there, &searched).is_some()
            {
                found.push(fix);
            }
        }
        found
    }

    fn fixes_about(&self, query: &Query<'_>) -> Vec<Placed<Fix>> {
        let named = |written: &Option<String>, given: Option<&str>| {
            given.is_none() || given == written.as_deref()
        };
        let mut found: Vec<(Fit, Placed<Fix>)> = self
            .fixes()
            .into_iter()
            .filter(|fix| self.is_here(fix.value.project.as_deref()))
            .filter(|fix| named(&fix.value.matches.skill, query.skill))
            .filter(|fix| named(&fix.value.matches.step, query.step))
            .filter_map(|fix| {
                Some((about_tool(fix.value.matches.tool.as_ref()?, query.tool)?, fix))
            })
            .collect();
        found.sort_by_key(|(fit, fix)| (*fit, fix.layer));
        found.into_iter().map(|(_, fix)| fix).collect()
    }

    /// Patterns of use that an error belongs to; without an error, every one of the tool or
    /// the family of tools.
    pub fn usage_wherever(&self, query: &Query<'_>) -> Vec<Placed<UsagePattern>> {
        let mut found = self.usage();
        if query.error.trim().is_empty() {
            found.retain(|one| about_tool(&one.value.tool, query.tool).is_some());
            return found;
        }
        let error = fingerprint(query.error);
        found.retain(|one| {
            let of_tool = query.tool.is_empty() || one.value.tool == query.tool;
            of_tool && one.value.is_like(&error)
        });
        found
    }

    /// Fixes that are for this project and wait for someone to agree.
    pub fn proposals(&self) -> Vec<Placed<Fix>> {
        let here = |fix: &Placed<Fix>| self.is_here(fix.value.project.as_deref());
        let waits = |fix: &Placed<Fix>| fix.value.standing() == Standing::Proposed;
        self.fixes().into_iter().filter(|fix| here(fix) && waits(fix)).collect()
    }

    /// Whether there is any fix at all: looking costs two `stat`s.
    pub fn has_fixes(&self) -> bool {
        self.has(FIXES)
    }

    /// Whether anything is known about how a tool is used.
    pub fn has_usage(&self, tool: &str) -> bool {
        self.may_have_usage()
            && self
                .each(&self.usage, USAGE, read_usage)
                .iter()
                .any(|list| list.iter().any(|pattern| pattern.value.tool == tool))
    }

    fn may_have_usage(&self) -> bool {
        let mut none = self.no_usage.lock().unwrap_or_else(PoisonError::into_inner);
        if none.is_some_and(|at| at.elapsed() < BETWEEN_LOOKS) {
            return false;
        }
        let has = self.has(USAGE);
        *none = (!has).then(Instant::now);
        has
    }

    fn has(&self, file: &str) -> bool {
        [Layer::Project, Layer::User]
            .into_iter()
            .filter_map(|layer| self.documents(layer))
            .any(|documents| documents.version(file).is_some())
    }

    /// The answer someone wants given to this question.
    pub fn preference(&self, query: &PreferenceQuery<'_>) -> Option<Preference> {
        if query.allowed.obstacle().is_some() {
            return None;
        }
        // What the original system was told: asking can only become stricter.
        let said = self.original_choices(query.skill, query.step);
        if said.iter().any(|choice| choice.always_asks(query.environment)) {
            return None;
        }
        let mine = self
            .preferences()
            .into_iter()
            .filter(|one| one.layer == Layer::User && self.is_here(one.value.project.as_deref()));
        let rules = self.environment_rules();
        mine.map(|one| one.value)
            .filter(|one| one.applies(query, &rules))
            .min_by_key(|one| (one.scope, Reverse(one.said)))
    }

    /// What the original system was told about a step, in either memory.
    pub fn original_choices(&self, skill: &str, step: &str) -> Vec<OriginalChoice> {
        let lists = self.each(&self.original, CONFIRMATIONS, original::read);
        let name = format!("{skill}:{step}");
        let of_step = lists.iter().flat_map(|list| list.iter()).filter(|one| one.value.0 == name);
        of_step.map(|one| one.value.1.clone()).collect()
    }

    /// Everything that the original system was told, in either memory.
    pub(super) fn all_original(&self) -> Vec<Placed<(String, OriginalChoice)>> {
        let lists = self.each(&self.original, CONFIRMATIONS, original::read);
        lists.iter().flat_map(|list| list.to_vec()).collect()
    }

    /// What skills propose, for whatever project.
    pub(super) fn all_proposals(&self) -> Vec<Placed<Proposal>> {
        let read = |file: &MemoryFile, problems: &mut Vec<Problem>| {
            checked(file, proposal::KEY, |_: &Proposal| Ok(()), problems)
        };
        let lists = self.those(&[Layer::User], &self.proposals, proposal::PROPOSED, read);
        lists.iter().flat_map(|list| list.to_vec()).collect()
    }

    /// Whether such a call usually fails; the surest first. Nothing is written;
    /// the mask is there because failures were kept with it.
    pub fn check_before(
        &self,
        tool: &str,
        args: &Value,
        mask: Mask<'_>,
        now: Timestamp,
    ) -> Vec<Warning> {
        let mut found: Vec<Warning> = Vec::new();
        for pattern in self.usage_about(tool, args, mask) {
            let known = found.iter().any(|warning| warning.id == pattern.id);
            found.extend(pattern.warning(now).filter(|_| !known));
        }
        found.sort_by(|one, other| other.confidence.total_cmp(&one.confidence));
        found
    }

    /// Every known issue, the project's first.
    pub fn issues(&self) -> Vec<Placed<Issue>> {
        self.all(&self.issues, PATTERNS, read_issues, |issue| &issue.id)
    }

    /// Every fix, the project's first.
    pub fn fixes(&self) -> Vec<Placed<Fix>> {
        let mut all = self.all(&self.fixes, FIXES, read_fixes, |fix| &fix.id);
        if !all.is_empty() {
            let read = |file: &MemoryFile, problems: &mut Vec<Problem>| {
                checked(file, agreement::KEY, |_: &Agreed| Ok(()), problems)
            };
            let agreed = self.those(&[Layer::User], &self.agreed, AGREED, read);
            let agreed: Vec<&Agreed> =
                agreed.iter().flat_map(|list| list.iter()).map(|one| &one.value).collect();
            for fix in &mut all {
                fix.value.agreed = self.agreement(fix, &agreed);
            }
        }
        all
    }

    /// The fix of this name: its full id, the beginning of one that no other
    /// begins with, or what older versions called it.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find_fix(&self, name: &str) -> Result<Placed<Fix>, MemoryError> {
        let all = self.fixes();
        let is_called: [fn(&Fix, &str) -> bool; 3] = [
            |fix, name| fix.id == name,
            |fix, name| fix.id.starts_with(name),
            |fix, name| fix.written_id.as_deref() == Some(name),
        ];
        for is_called in is_called {
            let mut found: Vec<&Placed<Fix>> =
                all.iter().filter(|fix| is_called(&fix.value, name)).collect();
            found.dedup_by_key(|fix| &fix.value.id);
            match found.as_slice() {
                [] => {}
                [one] => return Ok((*one).clone()),
                several => {
                    let names = several.iter().map(|fix| self.short_id(&fix.value.id)).collect();
                    return Err(MemoryError::Ambiguous { name: name.to_owned(), names });
                }
            }
        }
        Err(MemoryError::NotFound(name.to_owned()))
    }

    /// The beginning of a fix's id that is enough to name it.
    pub fn short_id(&self, id: &str) -> String {
        let lists = self.each(&self.fixes, FIXES, read_fixes);
        let all = || lists.iter().flat_map(|list| list.iter()).map(|fix| fix.value.id.as_str());
        let enough = |length: usize| match id.get(..length) {
            Some(begin) => !all().any(|other| other != id && other.starts_with(begin)),
            None => false,
        };
        let length = (PREFIX.len() + SHORTEST..id.len()).find(|length| enough(*length));
        id[..length.unwrap_or(id.len())].to_owned()
    }

    /// Every preference. Those of a project are nobody's consent here: they are
    /// listed, and not used.
    pub fn preferences(&self) -> Vec<Placed<Preference>> {
        let read = |file: &MemoryFile, problems: &mut Vec<Problem>| {
            checked(file, "preferences", |_: &Preference| Ok(()), problems)
        };
        self.all(&self.preferences, CONFIRMATIONS, read, |one| &one.id)
    }

    /// Every pattern of use.
    pub fn usage(&self) -> Vec<Placed<UsagePattern>> {
        self.all(&self.usage, USAGE, read_usage, |one| &one.id)
    }

    /// What an assistant should know before it calls anything: the surest patterns
    /// of use, each in a sentence.
    pub fn usage_to_know(&self, most: usize, now: Timestamp) -> Vec<String> {
        if !self.may_have_usage() {
            return Vec::new();
        }
        let mut known: Vec<(f64, UsagePattern)> = self
            .usage()
            .into_iter()
            .map(|pattern| (pattern.value.confidence(now), pattern.value))
            .filter(|(sure, _)| *sure >= WARN)
            .collect();
        known.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let sentence = |(_, pattern): (f64, UsagePattern)| {
            let warning = pattern.warning(now)?;
            Some(format!("{}: {}", warning.tool, warning.sentence()))
        };
        known.into_iter().take(most).filter_map(sentence).collect()
    }

    /// The patterns of use that are about such a call. Asked before every step,
    /// so nothing is copied that does not matter.
    pub(super) fn usage_about(
        &self,
        tool: &str,
        args: &Value,
        mask: Mask<'_>,
    ) -> Vec<UsagePattern> {
        let lists = self.each(&self.usage, USAGE, read_usage);
        let of_tool = lists.iter().flat_map(|list| list.iter());
        let of_tool: Vec<_> = of_tool.filter(|pattern| pattern.value.tool == tool).collect();
        if of_tool.is_empty() {
            return Vec::new();
        }
        let call = shapes(args, mask);
        let about = of_tool.into_iter().filter(|pattern| match &pattern.value.form {
            Some(form) => pattern.value.breaks(form, args),
            None => pattern.value.is_about(tool, &call),
        });
        about.map(|pattern| pattern.value.clone()).collect()
    }

    /// The last failures, newest last.
    pub fn failures(&self) -> Vec<Placed<Failure>> {
        let read = |file: &MemoryFile, problems: &mut Vec<Problem>| {
            checked(file, "failures", |_: &Failure| Ok(()), problems)
        };
        self.each(&self.failures, FAILURES, read).iter().flat_map(|list| list.to_vec()).collect()
    }

    /// What is done where. A project can only make it stricter: its word that
    /// nobody need be asked is not the user's.
    pub(super) fn environment_rules(&self) -> BTreeMap<String, EnvironmentRule> {
        let lists = self.each(&self.rules, CONFIRMATIONS, read_rules);
        let mut rules = BTreeMap::new();
        for rule in lists.iter().flat_map(|list| list.iter()) {
            let (name, rule, layer) = (&rule.value.0, rule.value.1, rule.layer);
            match rule {
                EnvironmentRule::AlwaysAsk => {
                    rules.insert(name.clone(), rule);
                }
                EnvironmentRule::AutoProceed if layer == Layer::User => {
                    rules.entry(name.clone()).or_insert(rule);
                }
                EnvironmentRule::AutoProceed => {}
            }
        }
        rules
    }

    /// Whether an entry is for the project at hand.
    pub fn is_here(&self, project: Option<&str>) -> bool {
        let here = self.project.as_ref().map(|project| project.name.as_str());
        project.is_none() || project == here
    }

    /// The entries of both memories; of two with the same name, the project's.
    fn all<T: Clone>(
        &self,
        cache: &Cache<T>,
        file: &str,
        read: impl Fn(&MemoryFile, &mut Vec<Problem>) -> Vec<(usize, T)>,
        id: impl Fn(&T) -> &String,
    ) -> Vec<Placed<T>> {
        let mut all: Vec<Placed<T>> = Vec::new();
        for list in self.each(cache, file, read) {
            let known = all.len();
            for entry in list.iter() {
                if !all[..known].iter().any(|had| id(&had.value) == id(&entry.value)) {
                    all.push(entry.clone());
                }
            }
        }
        all
    }

    fn each<T>(
        &self,
        cache: &Cache<T>,
        file: &str,
        read: impl Fn(&MemoryFile, &mut Vec<Problem>) -> Vec<(usize, T)>,
    ) -> Vec<Arc<Vec<Placed<T>>>> {
        self.those(&[Layer::Project, Layer::User], cache, file, read)
    }

    /// The entries of a file in these memories.
    fn those<T>(
        &self,
        layers: &[Layer],
        cache: &Cache<T>,
        file: &str,
        read: impl Fn(&MemoryFile, &mut Vec<Problem>) -> Vec<(usize, T)>,
    ) -> Vec<Arc<Vec<Placed<T>>>> {
        let mut problems = Vec::new();
        let lists = layers
            .iter()
            .filter_map(|layer| Some((*layer, self.documents(*layer)?)))
            .map(|(layer, documents)| cache.get(layer, documents, file, &read, &mut problems))
            .collect();
        let mut known = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        for problem in problems {
            if !known.contains(&problem) {
                known.push(problem);
            }
        }
        lists
    }
}

//! What a person agreed to on this machine: fixes, each by its content.
//!
//! A fix says what it does; whether it is done is said here, in a file below
//! `AYE_HOME`. What a project's file says about agreement counts for nothing.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::MemoryError;
use super::fix::{Agreement, Fix};
use super::keep::{change_list, line};
use super::memory::Memory;
use super::query::{Layer, Placed};

/// Where agreements are kept, in the user's memory.
pub(super) const AGREED: &str = "agreed.yaml";
pub(super) const KEY: &str = "agreements";

/// An entry of `agreed.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Agreed {
    /// The full id of the fix: the digest of its content.
    fix: String,
    /// The project it is agreed to in; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    by: String,
    at: Timestamp,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Memory {
    /// Who agreed to a fix here.
    pub(super) fn agreement(&self, fix: &Placed<Fix>, agreed: &[&Agreed]) -> Option<Agreement> {
        let of_fix = agreed.iter().filter(|one| one.fix == fix.value.id);
        let mut here = of_fix.filter(|one| {
            one.project.is_none() || one.project == self.scope(fix.layer, &fix.value)
        });
        if let Some(found) = here.next() {
            return Some(Agreement { by: found.by.clone(), at: found.at, other: Map::new() });
        }
        match fix.layer {
            Layer::Project => None,
            // From before agreements were kept: what this user's own memory says.
            Layer::User => fix.value.agreed_before(),
        }
    }

    /// The project that an agreement to this fix is for.
    fn scope(&self, layer: Layer, fix: &Fix) -> Option<String> {
        let project = match layer {
            Layer::Project => self.project.as_ref().map(|project| project.name.as_str()),
            Layer::User => fix.project.as_deref(),
        };
        let real = |path: &str| {
            let real = Path::new(path).canonicalize();
            real.map_or_else(|_| path.to_owned(), |real| real.to_string_lossy().into_owned())
        };
        project.map(real)
    }

    /// Notes that a person agrees to exactly this fix.
    pub(super) fn note_agreement(
        &self,
        layer: Layer,
        fix: &Fix,
        by: &str,
        at: Timestamp,
    ) -> Result<(), MemoryError> {
        let agreed = Agreed {
            fix: fix.id.clone(),
            project: self.scope(layer, fix),
            by: line(by, &str::to_owned),
            at,
            other: Map::new(),
        };
        change_list(self.own(), AGREED, KEY, |all: &mut Vec<Agreed>| {
            all.retain(|one| one.fix != agreed.fix || one.project != agreed.project);
            all.push(agreed);
            ((), true)
        })
    }

    /// Takes agreements to these fixes back, wherever they were for.
    pub(super) fn withdraw_agreement(&self, fixes: &[String]) -> Result<(), MemoryError> {
        if fixes.is_empty() || self.own().version(AGREED).is_none() {
            return Ok(());
        }
        change_list(self.own(), AGREED, KEY, |all: &mut Vec<Agreed>| {
            let before = all.len();
            all.retain(|one| !fixes.contains(&one.fix));
            let changed = all.len() < before;
            ((), changed)
        })
    }
}

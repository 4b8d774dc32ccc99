//! The kept texts of skills.

use aye_core::id::RunId;
use rusqlite::{Connection, params_from_iter};

use super::super::walk::{bounds, within};
use super::runs::each;
use crate::store::{Finding, Source};

/// Whether the text of every run is there and is what it was.
pub(super) fn check_sources(
    db: &Connection,
    run: Option<&RunId>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let chosen = if run.is_some() { within("id") } else { "true".to_owned() };
    let which = match run {
        Some(_) => format!("digest IN (SELECT source FROM runs WHERE {chosen})"),
        None => "true".to_owned(),
    };
    let sql = format!("SELECT digest, file, text FROM sources WHERE {which}");
    each(db, "sources", &sql, params_from_iter(bounds(run)), report, |row| {
        let source = Source { digest: row.get(0)?, file: row.get(1)?, text: row.get(2)? };
        let changed = source.check().is_err();
        Ok(changed.then_some(Finding::Source { file: source.file, digest: source.digest }))
    })?;
    let sql = format!(
        "SELECT source, min(file) FROM runs WHERE {chosen}
         AND NOT EXISTS (SELECT 1 FROM sources WHERE digest = runs.source) GROUP BY source"
    );
    each(db, "runs", &sql, params_from_iter(bounds(run)), report, |row| {
        Ok(Some(Finding::SourceMissing { digest: row.get(0)?, file: row.get(1)? }))
    })
}

//! What cases are made from: real pieces, and everything that failed once.

use std::path::Path;

/// The seeds of a target, in order, and how many of them are quick. A file is
/// one seed; those called `slow-…` come last.
pub(crate) fn of(target: &str) -> Result<(Vec<Vec<u8>>, usize), String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut files: Vec<_> =
        std::fs::read_dir(&directory).map_err(failed)?.flatten().map(|file| file.path()).collect();
    let is_slow = |file: &Path| file.to_string_lossy().contains("/slow-");
    files.sort_by_key(|file| (is_slow(file), file.clone()));
    let quick = files.iter().filter(|file| !is_slow(file)).count();
    let seeds = files.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    if seeds.is_empty() { Err(format!("{target} has no seeds")) } else { Ok((seeds, quick)) }
}

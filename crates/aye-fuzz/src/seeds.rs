//! What cases are made from: real pieces, and everything that failed once.

use std::path::Path;

/// The seeds of a target, in order. A file is one seed.
pub(crate) fn of(target: &str) -> Result<Vec<Vec<u8>>, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut files: Vec<_> =
        std::fs::read_dir(&directory).map_err(failed)?.flatten().map(|file| file.path()).collect();
    files.sort();
    let seeds = files.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    if seeds.is_empty() { Err(format!("{target} has no seeds")) } else { Ok(seeds) }
}

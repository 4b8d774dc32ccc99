//! Secrets of the system: variables, files, what programs write.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use aye_core::skill::SecretSource;
use aye_process::{Outcome, Spec};

use super::{LARGEST, SecretError, SecretPlace, SecretReader, within_limit};

/// How long a command may take: a person may have to unlock something.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads variables, files and the output of programs.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemSecrets;

impl SecretReader for SystemSecrets {
    fn read(
        &self,
        source: &SecretSource,
        place: &SecretPlace<'_>,
    ) -> Result<Option<String>, SecretError> {
        match source {
            SecretSource::Env(name) => place.env.get(name).cloned().map(within_limit).transpose(),
            SecretSource::File(path) => file(&place.directory.join(path)),
            SecretSource::Command(argv) => command(argv, place).map(Some),
        }
    }
}

fn file(path: &Path) -> Result<Option<String>, SecretError> {
    // One that is not a file, such as a pipe, must not hold us up.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return Err(SecretError::NotAFile);
    }
    let mut text = String::new();
    file.take(LARGEST as u64 + 1).read_to_string(&mut text)?;
    within_limit(text).map(Some)
}

/// What a program writes. It is not a step: nothing of it is logged.
fn command(argv: &[String], place: &SecretPlace<'_>) -> Result<String, SecretError> {
    let (program, args) = argv.split_first().ok_or(SecretError::NoProgram)?;
    let mut spec = Spec::new(program).args(args);
    spec.cwd = Some(place.directory.to_path_buf());
    spec.tail_limit = LARGEST + 1;
    spec.timeout = Some(PATIENCE);
    spec.aside = true;
    let found = aye_process::resolve(&spec)?;
    place.policy.check(&spec, &found)?;
    let mut child = aye_process::spawn(spec)?;
    let ended = aye_process::wait_to_end(&mut child, Instant::now() + 2 * PATIENCE)?;
    let exit = ended.ok_or(SecretError::TimedOut(2 * PATIENCE.as_secs()))?;
    match &exit.outcome {
        Outcome::Exited(0) => within_limit(exit.stdout.text()),
        Outcome::Exited(code) => Err(SecretError::Failed(*code)),
        Outcome::TimedOut => Err(SecretError::TimedOut(PATIENCE.as_secs())),
        Outcome::Signaled(_) | Outcome::Cancelled | Outcome::Interrupted => Err(SecretError::Ended),
    }
}

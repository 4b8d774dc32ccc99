//! Reading secrets where `from:` says they are: anew by each driver.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{Duration, Instant};

use aye_core::skill::{InputSpec, Inputs, SecretSource};
use aye_process::{Exit, Happening, Outcome, Spec};
use serde_json::Value;

use crate::error::Error;

use super::Runtime;

/// The longest secret.
const LARGEST: u64 = 64 * 1024;
/// How long a command may take: a person may have to unlock something.
const PATIENCE: Duration = Duration::from_secs(60);

impl Runtime {
    /// Reads the secrets that nobody gave, into the inputs of a run.
    pub fn fill_secrets(&self, specs: &[InputSpec], inputs: &mut Inputs) -> Result<(), Error> {
        for spec in specs {
            let name = &spec.name.value;
            let missing = inputs.values.get(name).is_none_or(Value::is_null);
            if spec.from.is_some()
                && missing
                && let Some(value) = self.read_secret(spec)?
            {
                inputs.secrets.insert(name.clone(), value.clone());
                inputs.values.insert(name.clone(), Value::String(value));
            }
        }
        Ok(())
    }

    /// Reads one secret; none where it is optional and not there.
    pub fn read_secret(&self, spec: &InputSpec) -> Result<Option<String>, Error> {
        let Some(source) = &spec.from else { return Ok(None) };
        let read = match source {
            SecretSource::Env(name) => Ok(self.env.get(name).cloned()),
            SecretSource::File(path) => self.secret_file(path),
            SecretSource::Command(argv) => {
                // On resuming nobody has looked yet whose project this is.
                self.must_be_trusted()?;
                self.secret_command(argv).map(Some)
            }
        };
        let name = &spec.name.value;
        let failed = |why: String| Error::Refused {
            message: format!("secret input `{name}` cannot be read from {source}: {why}"),
            hint: Some(format!("give it: `-i {name}=…`")),
        };
        let text = read.map_err(failed)?;
        let text = text.map(|text| text.trim_end_matches(['\n', '\r']).to_owned());
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return match spec.required {
                true => Err(failed("it is not there, or empty".to_owned())),
                false => Ok(None),
            };
        };
        let value = Value::String(text);
        spec.check(&value).map_err(|mismatch| failed(format!("it {mismatch}")))?;
        Ok(value.as_str().map(str::to_owned))
    }

    fn secret_file(&self, path: &str) -> Result<Option<String>, String> {
        let path = self.directory.join(path);
        // One that is no file, such as a pipe, must not hold us up.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err("it is not a file".to_owned());
        }
        let mut text = String::new();
        file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
        within_limit(text).map(Some)
    }

    /// What a program writes. It is no step: nothing of it is logged.
    fn secret_command(&self, argv: &[String]) -> Result<String, String> {
        let (program, args) = argv.split_first().ok_or("no program is named")?;
        let mut spec = Spec::new(program).args(args);
        spec.cwd = Some(self.directory.clone());
        spec.tail_limit = usize::try_from(LARGEST + 1).unwrap_or(usize::MAX);
        spec.timeout = Some(PATIENCE);
        spec.aside = true;
        let found = aye_process::resolve(&spec).map_err(|error| error.to_string())?;
        let policy = self.granted().policy.for_run(&self.directory);
        policy.check(&spec, &found).map_err(|refusal| refusal.to_string())?;
        let mut child = aye_process::spawn(spec).map_err(|error| error.to_string())?;
        let give_up = Instant::now() + 2 * PATIENCE;
        let exit: Box<Exit> = loop {
            let happened = aye_process::wait_aside(&mut child, &[], Some(give_up));
            match happened.map_err(|error| error.to_string())? {
                Happening::Exited(_, exit) => break exit,
                Happening::Deadline => return Err("it does not end".to_owned()),
                Happening::Wake(_) | Happening::Idle | Happening::GuardLost => {}
            }
        };
        match &exit.outcome {
            Outcome::Exited(0) => within_limit(exit.stdout.text()),
            Outcome::Exited(code) => Err(format!("it ended with exit code {code}")),
            Outcome::TimedOut => Err(format!("it takes more than {} s", PATIENCE.as_secs())),
            Outcome::Signaled(_) | Outcome::Cancelled | Outcome::Interrupted => {
                Err("it was ended".to_owned())
            }
        }
    }
}

fn within_limit(text: String) -> Result<String, String> {
    match text.len() as u64 <= LARGEST {
        true => Ok(text),
        false => Err(format!("it is longer than {} KiB", LARGEST >> 10)),
    }
}

//! Reading secrets where `from:` says they are: anew by each driver.

use aye_core::skill::{InputSpec, Inputs, SecretSource};
use serde_json::Value;

use crate::error::Error;
use crate::secret_reader::{SecretError, SecretPlace};

use super::Runtime;

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
        if let SecretSource::Command(_) = source {
            // On resuming nobody has looked yet whose project this is.
            self.must_be_trusted()?;
        }
        let policy = self.granted().policy.for_run(&self.directory);
        let place = SecretPlace { directory: &self.directory, env: &self.env, policy: &policy };
        let name = &spec.name.value;
        let message =
            |why: &str| format!("secret input `{name}` cannot be read from {source}: {why}");
        // Not `-i`: a shell keeps what follows it in its history.
        let hint = match source {
            SecretSource::Env(_) => "set the variable in the shell that starts Aye".to_owned(),
            SecretSource::File(_) => "put the secret into that file".to_owned(),
            SecretSource::Command(_) => "run the command yourself to see what it says".to_owned(),
        };
        let failed = |why: String| Error::usage(message(&why), hint.clone());
        let text = self.secrets.read(source, &place).map_err(|error| match error {
            SecretError::NotAllowed(refusal) => {
                Error::Refused { message: message(&refusal.to_string()), hint: None }
            }
            error => failed(error.to_string()),
        })?;
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
}

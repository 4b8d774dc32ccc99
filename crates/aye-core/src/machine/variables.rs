//! Values of variables whose names say that they are secrets, where templates look them up.
//!
//! Such a value is known once the template is rendered, so what may hold one is rendered a
//! second time with it masked. The run itself gets it as it is.

use std::sync::Arc;

use serde_json::Value;

use crate::secrets::{Secrets, names_secret};
use crate::text::{Outside, Recorder, Scope, TextError, World};

use super::run::Machine;

impl Machine {
    /// What `render` gives with everything masked that must not be written down. It may be
    /// called twice.
    pub(super) fn render_masked<T>(
        &self,
        scope: &Scope,
        render: impl Fn(&Scope, &Secrets) -> Result<T, TextError>,
    ) -> Result<T, TextError> {
        let (scope, recorder) = recording(scope.clone());
        let rendered = render(&scope, &self.secrets)?;
        match self.with_variables(&recorder.seen()) {
            Some(secrets) => render(&scope, &secrets),
            None => Ok(rendered),
        }
    }

    /// A text that was rendered while this recorder looked on, as it may be written down.
    pub(super) fn mask_seen(&self, text: &str, recorder: &Recorder) -> String {
        match self.with_variables(&recorder.seen()) {
            Some(secrets) => secrets.mask(text),
            None => self.secrets.mask(text),
        }
    }

    /// The secrets of the run and those among these values; nothing if there are none.
    pub(super) fn with_variables(&self, seen: &Outside) -> Option<Secrets> {
        let mut values = seen.iter().filter_map(secret_value).peekable();
        values.peek()?;
        let mut secrets = Secrets::clone(&self.secrets);
        values.for_each(|value| secrets.learn_env(value));
        Some(secrets)
    }
}

/// A scope that notes what it looks up outside.
pub(super) fn recording(scope: Scope) -> (Scope, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::new(scope.world.names.clone()));
    let world = World { names: recorder.clone(), ..scope.world };
    (Scope { world, ..scope }, recorder)
}

/// The value of a variable whose name says that it is a secret.
pub(super) fn secret_value<'a>((name, value): (&String, &'a Value)) -> Option<&'a str> {
    const SHORTEST: usize = 4;
    let name = name.strip_prefix("env.").filter(|name| names_secret(name))?;
    let value = value.as_str().filter(|value| value.len() >= SHORTEST);
    value.filter(|_| !name.is_empty())
}

//! Secrets that a test puts there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use aye_core::skill::SecretSource;

use super::{SecretError, SecretPlace, SecretReader, within_limit};

/// Secrets in memory; clones share them. Never shown, not even by `Debug`.
#[derive(Clone, Default)]
pub struct MemorySecrets {
    texts: Arc<Mutex<BTreeMap<String, String>>>,
}

impl MemorySecrets {
    /// Puts a text where `source` says, or takes it away.
    pub fn put(&self, source: &SecretSource, text: Option<&str>) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => texts.insert(source.to_string(), text.to_owned()),
            None => texts.remove(&source.to_string()),
        };
    }
}

impl SecretReader for MemorySecrets {
    fn read(
        &self,
        source: &SecretSource,
        _: &SecretPlace<'_>,
    ) -> Result<Option<String>, SecretError> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(&source.to_string()).cloned().map(within_limit).transpose()
    }
}

impl std::fmt::Debug for MemorySecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MemorySecrets")
    }
}

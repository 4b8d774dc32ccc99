//! What every adapter that reads secrets has to do, and an adapter that breaks
//! it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use aye_core::skill::SecretSource;
use aye_process::policy::Policy;
use aye_runtime::secret_reader::{
    LARGEST, MemorySecrets, SecretError, SecretPlace, SecretReader, SystemSecrets,
};

/// Puts a text where the source says, or takes it away.
type Put<'a> = &'a dyn Fn(Option<&str>);

/// The clauses; says which one does not hold.
fn contract(
    reader: &dyn SecretReader,
    source: &SecretSource,
    directory: &Path,
    put: Put<'_>,
) -> Result<(), &'static str> {
    let (env, policy) = (BTreeMap::new(), Policy::default());
    let place = SecretPlace { directory, env: &env, policy: &policy };
    let read = || reader.read(source, &place);
    let holds = |text: Option<&str>| matches!(read(), Ok(found) if found.as_deref() == text);
    let clause = |holds: bool, name| if holds { Ok(()) } else { Err(name) };
    clause(holds(None), "what is not there is nothing")?;
    put(Some("one\n"));
    clause(holds(Some("one\n")), "what is there is read as it is")?;
    put(Some("two"));
    clause(holds(Some("two")), "it is read anew")?;
    put(Some(&"x".repeat(LARGEST)));
    clause(read().is_ok(), "the longest is read")?;
    put(Some(&"x".repeat(LARGEST + 1)));
    clause(matches!(read(), Err(SecretError::TooLong)), "what is longer is refused")?;
    put(None);
    clause(holds(None), "what is gone is nothing")
}

fn in_directory(check: impl Fn(&Path, &SecretSource, Put<'_>)) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret");
    let put = |text: Option<&str>| match text {
        Some(text) => std::fs::write(&file, text).unwrap(),
        None => std::fs::remove_file(&file).unwrap(),
    };
    check(directory.path(), &SecretSource::File("secret".to_owned()), &put);
}

#[test]
fn the_adapters_keep_the_contract() {
    in_directory(|directory, source, put| {
        assert_eq!(contract(&SystemSecrets, source, directory, put), Ok(()));
    });
    let secrets = MemorySecrets::default();
    let source = SecretSource::Env("TOKEN".to_owned());
    let put = |text: Option<&str>| secrets.put(&source, text);
    assert_eq!(contract(&secrets, &source, Path::new("/"), &put), Ok(()));
    secrets.put(&source, Some("hunter2"));
    assert!(!format!("{secrets:?}").contains("hunter2"));
}

/// An adapter with one mistake.
#[derive(Debug)]
struct Faulty(fn(&Mutex<Option<String>>, Option<String>) -> Option<String>, Mutex<Option<String>>);

impl SecretReader for Faulty {
    fn read(
        &self,
        source: &SecretSource,
        place: &SecretPlace<'_>,
    ) -> Result<Option<String>, SecretError> {
        let text = match source {
            SecretSource::File(path) => std::fs::read_to_string(place.directory.join(path)).ok(),
            SecretSource::Env(_) | SecretSource::Command(_) => None,
        };
        let text = (self.0)(&self.1, text);
        match text {
            Some(text) if text.len() > LARGEST && !text.starts_with('!') => {
                Err(SecretError::TooLong)
            }
            text => Ok(text),
        }
    }
}

#[test]
fn the_contract_finds_an_adapter_that_breaks_it() {
    type Mistake = fn(&Mutex<Option<String>>, Option<String>) -> Option<String>;
    let mistakes: [(Mistake, &str); 6] = [
        (|_, text| Some(text.unwrap_or_default()), "what is not there is nothing"),
        (|_, text| text.map(|text| text.trim().to_owned()), "what is there is read as it is"),
        (
            |kept, text| {
                let mut kept = kept.lock().unwrap();
                if kept.is_none() {
                    kept.clone_from(&text);
                }
                kept.clone()
            },
            "it is read anew",
        ),
        (
            |_, text| text.map(|text| if text.len() == LARGEST { text + "x" } else { text }),
            "the longest is read",
        ),
        (
            |_, text| text.map(|text| if text.len() > LARGEST { format!("!{text}") } else { text }),
            "what is longer is refused",
        ),
        (
            |kept, text| {
                let mut kept = kept.lock().unwrap();
                if text.is_some() {
                    kept.clone_from(&text);
                }
                text.or_else(|| kept.clone().map(|_| "gone".to_owned()))
            },
            "what is gone is nothing",
        ),
    ];
    for (mistake, clause) in mistakes {
        in_directory(|directory, source, put| {
            let faulty = Faulty(mistake, Mutex::default());
            assert_eq!(contract(&faulty, source, directory, put), Err(clause));
        });
    }
}

//! Seals of step logs: the event that ends a step has the length and digest of its log.

use aye_core::digest::hex;
use aye_core::event::{Event, EventKind, FileSeal, LogSeal, SealDigest};
use aye_core::id::RunId;
use aye_process::Stream;
use aye_process::log::{self, Algorithm, FileDigest, LogDigest};

use super::{Audited, Finding, Logs};

/// A digest, as an event has it.
pub fn seal(digest: &LogDigest) -> LogSeal {
    LogSeal {
        stdout: digest.stdout.as_ref().map(file_seal),
        stderr: digest.stderr.as_ref().map(file_seal),
        order: digest.order.as_ref().map(file_seal),
    }
}

fn file_seal(digest: &FileDigest) -> FileSeal {
    let value = hex(&digest.digest);
    let named = match digest.algorithm {
        Algorithm::Blake3 => SealDigest::Blake3(value),
        Algorithm::Sha256 => SealDigest::Sha256(value),
    };
    FileSeal { bytes: digest.bytes, digest: named }
}

fn algorithm(sealed: &FileSeal) -> Algorithm {
    match sealed.digest {
        SealDigest::Blake3(_) => Algorithm::Blake3,
        SealDigest::Sha256(_) => Algorithm::Sha256,
    }
}

/// The end of a step, and what its log was then.
#[derive(Debug, Clone)]
pub(super) struct SealedStep {
    run: RunId,
    execution: u32,
    step: String,
    /// Whether it has a log at all: `log: false` keeps none.
    is_logged: bool,
    log: Option<Box<LogSeal>>,
}

impl SealedStep {
    /// What an event says about a log; `None` if it ends no step that ran.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let (execution, step, process, log) = match &event.kind {
            EventKind::StepCompleted(done) => {
                (done.execution, &done.step, &done.process, &done.log)
            }
            EventKind::StepFailed(failed) => {
                (failed.execution, &failed.step, &failed.process, &failed.log)
            }
            _ => return None,
        };
        let is_logged = process.as_ref().is_none_or(|process| process.kept.log);
        let (run, step, log) = (event.run.clone(), step.clone(), log.clone());
        (execution > 0).then_some(Self { run, execution, step, is_logged, log })
    }

    pub(super) fn run(&self) -> &RunId {
        &self.run
    }

    /// Compares the files of the log with their seal, counts them, and says
    /// what is wrong with them.
    pub(super) fn check(&self, logs: &dyn Logs, audited: &mut Audited) -> Vec<Finding> {
        let base = logs.log(&self.run, self.execution, &self.step);
        let Some(sealed) = &self.log else {
            audited.unsealed += u64::from(!self.is_logged || log::exists(&base));
            return Vec::new();
        };
        audited.logs += u64::from(**sealed != LogSeal::default());
        [
            ("standard output", log::path(&base, Stream::Stdout), &sealed.stdout),
            ("standard error", log::path(&base, Stream::Stderr), &sealed.stderr),
            ("the order of its streams", log::order_path(&base), &sealed.order),
        ]
        .into_iter()
        .filter_map(|(what, path, sealed)| {
            let most = sealed.as_ref().map_or(0, |sealed| sealed.bytes);
            let algorithm = sealed.as_ref().map_or(Algorithm::Blake3, algorithm);
            match FileDigest::read(&path, most, algorithm) {
                Ok(found) => {
                    let found = found.as_ref().map(file_seal);
                    self.compare(what, sealed.as_ref(), found.as_ref())
                }
                // Not a plain file, not readable, or no longer what was compressed.
                Err(error) => Some(self.changed(&format!("{what}: {error}"))),
            }
        })
        .collect()
    }

    fn compare(
        &self,
        what: &str,
        sealed: Option<&FileSeal>,
        found: Option<&FileSeal>,
    ) -> Option<Finding> {
        if sealed == found {
            return None;
        }
        let Self { run, execution, step, .. } = self;
        let (run, execution, step) = (run.to_string(), *execution, step.clone());
        Some(match (sealed, found) {
            (Some(_), None) => Finding::LogMissing { run, execution, step, what: what.to_owned() },
            (Some(sealed), Some(found)) if found.bytes < sealed.bytes => Finding::LogShortened {
                run,
                execution,
                step,
                what: what.to_owned(),
                bytes: found.bytes,
                recorded: sealed.bytes,
            },
            (None, _) => self.changed(&format!("{what} was added")),
            (Some(_), Some(_)) => self.changed(what),
        })
    }

    fn changed(&self, what: &str) -> Finding {
        let Self { run, execution, step, .. } = self;
        Finding::LogChanged {
            run: run.to_string(),
            execution: *execution,
            step: step.clone(),
            what: what.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::MemoryStore;

    #[test]
    fn a_seal_names_its_algorithm_and_those_of_before_count() {
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let before = json!({ "stdout": { "bytes": 3, "sha256": sha256 } });
        let now = json!({
            "stdout": { "bytes": 3, "blake3": hex(&FileDigest::of(b"abc").digest) }
        });
        let stdout = Some(FileDigest::of(b"abc"));
        let made = seal(&LogDigest { stdout, ..LogDigest::default() });
        assert_eq!(serde_json::to_value(made).expect("a seal"), now);

        let place = tempfile::tempdir().expect("a directory");
        let logs = MemoryStore::new(place.path());
        let run = RunId::new("some-run").expect("an id");
        let file = log::path(&logs.log(&run, 1, "a"), Stream::Stdout);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("made");
        for sealed in [before, now] {
            let log = Some(Box::new(serde_json::from_value(sealed).expect("a seal")));
            let (run, step) = (run.clone(), "a".to_owned());
            let step = SealedStep { run, execution: 1, step, is_logged: true, log };
            for (text, findings) in [("abc", 0), ("abd", 1), ("ab", 1), ("abcd", 1)] {
                std::fs::write(&file, text).expect("written");
                let mut audited = Audited::default();
                assert_eq!(step.check(&logs, &mut audited).len(), findings, "{text}");
                assert_eq!(audited.logs, 1);
            }
        }
    }
}

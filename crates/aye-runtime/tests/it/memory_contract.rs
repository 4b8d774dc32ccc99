//! What every place that memory is kept in promises: the contract, one function
//! a clause. [`Faulty`] shows that each clause can fail.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};

use aye_runtime::memory::{
    Content, Documents, FileDocuments, InMemoryDocuments, Keep, Make, Memory, MemoryError,
    NewIssue, Version,
};

type Kept = Result<(), Box<dyn Error>>;
/// Opens the documents, as another process would.
type Open<'a> = &'a dyn Fn() -> Arc<dyn Documents>;
type Clause = fn(Open<'_>) -> Kept;

const NAME: &str = "learned/fixes.yaml";

macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+).into());
        }
    };
}

const CLAUSES: [(&str, Clause); 11] = [
    ("what is not there is absent", absent),
    ("what is written is read back, byte for byte", read_back),
    ("a version lasts as long as its text", version_lasts),
    ("a version ends with its text", version_ends),
    ("a change sees what is there", sees_what_is_there),
    ("nothing is written where nothing is made", nothing_made),
    ("an error leaves the document as it was", error_leaves_it),
    ("documents do not touch each other", apart),
    ("names are those of all documents, sorted", all_named),
    ("everybody who opens it sees the same", same_for_all),
    ("writers at once lose nothing", writers_at_once),
];

fn write(documents: &dyn Documents, name: &str, text: &str) -> Result<(), MemoryError> {
    documents.change(name, Box::new(|_| Ok(Some(text.to_owned()))))
}

fn holds(documents: &dyn Documents, name: &str, text: &str) -> Kept {
    let read = documents.read(name)?;
    ensure!(read == Content::Text(text.to_owned()), "{name} holds {read:?}, not {text:?}");
    Ok(())
}

fn absent(open: Open<'_>) -> Kept {
    let documents = open();
    ensure!(documents.read(NAME)? == Content::Absent, "it is read");
    ensure!(documents.version(NAME).is_none(), "it has a version");
    ensure!(documents.names().is_empty(), "it has a name");
    ensure!(!documents.exists(), "nobody has made it");
    let mut seen = None;
    let look = |content| {
        seen = Some(content);
        Ok(None)
    };
    documents.change(NAME, Box::new(look))?;
    ensure!(seen == Some(Content::Absent), "a change sees {seen:?}");
    ensure!(documents.read(NAME)? == Content::Absent, "looking has made it");
    Ok(())
}

fn read_back(open: Open<'_>) -> Kept {
    let documents = open();
    for text in ["a: ä→\u{1f600}\r\n\tno end of line", "", "b\n"] {
        write(&*documents, NAME, text)?;
        holds(&*documents, NAME, text)?;
    }
    ensure!(documents.exists(), "it was made");
    Ok(())
}

fn version_lasts(open: Open<'_>) -> Kept {
    let documents = open();
    write(&*documents, NAME, "a")?;
    let before = documents.version(NAME);
    ensure!(before.is_some(), "there is no version");
    holds(&*documents, NAME, "a")?;
    write(&*documents, "other.yaml", "b")?;
    ensure!(documents.version(NAME) == before, "reading changes the version");
    Ok(())
}

fn version_ends(open: Open<'_>) -> Kept {
    let documents = open();
    let mut before = None;
    // As long as the one before: the length does not tell them apart.
    for text in ["a", "b", "c", "d"] {
        write(&*documents, NAME, text)?;
        let now = documents.version(NAME);
        ensure!(now.is_some() && now != before, "{text:?} has the version of the text before");
        before = now;
    }
    Ok(())
}

fn sees_what_is_there(open: Open<'_>) -> Kept {
    let documents = open();
    write(&*documents, NAME, "one")?;
    let add = |content| match content {
        Content::Text(text) => Ok(Some(format!("{text} two"))),
        Content::Absent | Content::TooLarge(_) => Ok(Some("nothing was there".to_owned())),
    };
    documents.change(NAME, Box::new(add))?;
    holds(&*documents, NAME, "one two")
}

fn nothing_made(open: Open<'_>) -> Kept {
    let documents = open();
    write(&*documents, NAME, "one")?;
    let before = documents.version(NAME);
    documents.change(NAME, Box::new(|_| Ok(None)))?;
    holds(&*documents, NAME, "one")?;
    ensure!(documents.version(NAME) == before, "it is a new version");
    Ok(())
}

fn error_leaves_it(open: Open<'_>) -> Kept {
    let documents = open();
    write(&*documents, NAME, "one")?;
    let refused = || MemoryError::File {
        doing: "write",
        path: PathBuf::from("on purpose"),
        source: io::Error::other("refused on purpose"),
    };
    let said = documents.change(NAME, Box::new(|_| Err(refused())));
    let said = said.err().map(|error| error.to_string()).unwrap_or_default();
    ensure!(said.contains("on purpose"), "the error is not passed on: {said:?}");
    holds(&*documents, NAME, "one")?;
    // And the next writer is not kept out.
    write(&*documents, NAME, "two")?;
    holds(&*documents, NAME, "two")
}

fn apart(open: Open<'_>) -> Kept {
    let documents = open();
    for name in ["a.yaml", "state/a.yaml", "state/deep/er/a.yaml"] {
        write(&*documents, name, name)?;
    }
    for name in ["a.yaml", "state/a.yaml", "state/deep/er/a.yaml"] {
        holds(&*documents, name, name)?;
        ensure!(documents.place(name).ends_with(name), "people find it by its name");
    }
    Ok(())
}

fn all_named(open: Open<'_>) -> Kept {
    let documents = open();
    let names = ["agreed.yaml", "learned/b.yaml", "state/deep/a.yaml", "state/z.yaml"];
    for name in names.iter().rev() {
        write(&*documents, name, "x")?;
    }
    let found = documents.names();
    ensure!(found == names, "{found:?}");
    Ok(())
}

fn same_for_all(open: Open<'_>) -> Kept {
    let (one, other) = (open(), open());
    ensure!(other.read(NAME)? == Content::Absent, "nothing is there yet");
    write(&*one, NAME, "one")?;
    holds(&*other, NAME, "one")?;
    ensure!(one.version(NAME) == other.version(NAME), "each has a version of its own");
    Ok(())
}

fn writers_at_once(open: Open<'_>) -> Kept {
    const WRITERS: usize = 4;
    const TIMES: usize = 12;
    let start = Barrier::new(WRITERS);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (documents, start) = (open(), &start);
                scope.spawn(move || {
                    start.wait();
                    for _ in 0..TIMES {
                        let add = |content| {
                            let had = match content {
                                Content::Text(text) => text,
                                Content::Absent | Content::TooLarge(_) => String::new(),
                            };
                            std::thread::yield_now();
                            Ok(Some(format!("{had}x")))
                        };
                        documents.change(NAME, Box::new(add))?;
                    }
                    Ok::<_, MemoryError>(())
                })
            })
            .collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("no panic"))
    })?;
    holds(&*open(), NAME, &"x".repeat(WRITERS * TIMES))
}

/// Runs each clause in a place of its own.
fn each_clause(new: impl Fn() -> Box<dyn Fn() -> Arc<dyn Documents>>) {
    for (name, clause) in CLAUSES {
        let open = new();
        if let Err(why) = clause(&open) {
            panic!("{name}: {why}");
        }
    }
}

#[test]
fn files_keep_the_contract() {
    let place = tempfile::tempdir().expect("a directory");
    let count = std::cell::Cell::new(0);
    each_clause(|| {
        let number = count.replace(count.get() + 1);
        let directory = place.path().join(format!("{number}/.aye/memory"));
        Box::new(move || match number % 2 {
            0 => Arc::new(FileDocuments::shared(directory.clone())),
            _ => Arc::new(FileDocuments::private(directory.clone())),
        })
    });
}

#[test]
fn memory_keeps_the_contract() {
    each_clause(|| {
        let documents = InMemoryDocuments::default();
        Box::new(move || Arc::new(documents.clone()))
    });
}

#[test]
fn what_is_learned_needs_no_files() {
    let (project, user) = (InMemoryDocuments::default(), InMemoryDocuments::default());
    let open = || {
        let root = std::path::Path::new("/nowhere/project");
        Memory::over(Some((root, Arc::new(project.clone()))), Arc::new(user.clone()))
    };
    let issue = NewIssue {
        pattern: "manifest unknown".to_owned(),
        fix: Some("push the image first".to_owned()),
        keep: Keep::Shared,
        ..NewIssue::default()
    };
    open().note_issue(&issue, &str::to_owned).expect("noted");
    let known = open().issues();
    assert_eq!(known.len(), 1, "{known:?}");
    assert_eq!(known[0].value.fix.as_deref(), Some("push the image first"));
    assert_eq!((project.names(), user.names()), (vec!["learned/patterns.yaml".into()], vec![]));
    let again = open().note_issue(&issue, &str::to_owned);
    assert!(matches!(again, Err(MemoryError::Known { .. })), "{again:?}");
}

/// What is wrong with an adapter.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    AbsentIsEmpty,
    TrimsText,
    VersionOfEachLook,
    VersionOfLength,
    ForgetsBefore,
    WritesNothing,
    KeepsDraftAfterError,
    NamesWithoutFolders,
    NamesUnsorted,
    OwnCopy,
    NoLock,
}

#[derive(Debug)]
struct Faulty {
    fault: Fault,
    documents: InMemoryDocuments,
    looks: std::sync::atomic::AtomicU64,
    /// What `NAME` held when this was opened.
    at_first: Content,
}

impl Faulty {
    fn name(&self, name: &str) -> String {
        match self.fault {
            Fault::NamesWithoutFolders => {
                let file = name.rsplit('/').next().unwrap_or(name);
                file.to_owned()
            }
            _ => name.to_owned(),
        }
    }
}

impl Documents for Faulty {
    fn read(&self, name: &str) -> Result<Content, MemoryError> {
        let read = self.documents.read(&self.name(name))?;
        Ok(match (self.fault, read) {
            (Fault::AbsentIsEmpty, Content::Absent) => Content::Text(String::new()),
            (Fault::TrimsText, Content::Text(text)) => Content::Text(text.trim().to_owned()),
            (_, read) => read,
        })
    }

    fn version(&self, name: &str) -> Option<Version> {
        let version = self.documents.version(&self.name(name))?;
        match self.fault {
            Fault::VersionOfEachLook => {
                let look = self.looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Some(Version([look, 0, 0, 0]))
            }
            Fault::VersionOfLength => match self.documents.read(name).ok()? {
                Content::Text(text) => Some(Version([text.len() as u64, 0, 0, 0])),
                Content::Absent | Content::TooLarge(_) => None,
            },
            _ => Some(version),
        }
    }

    fn change(&self, name: &str, make: Make<'_>) -> Result<(), MemoryError> {
        let name = self.name(name);
        let before = self.documents.read(&name)?;
        let put = |text: String| self.documents.change(&name, Box::new(|_| Ok(Some(text))));
        match self.fault {
            Fault::ForgetsBefore => {
                self.documents.change(&name, Box::new(|_| make(Content::Absent)))
            }
            Fault::WritesNothing => {
                let made = make(before)?;
                put(made.unwrap_or_default())
            }
            Fault::KeepsDraftAfterError => match make(before) {
                Ok(Some(text)) => put(text),
                Ok(None) => Ok(()),
                Err(error) => put("a draft".to_owned()).and(Err(error)),
            },
            // As it was when this writer began.
            Fault::NoLock => match make(self.at_first.clone())? {
                Some(text) => put(text),
                None => Ok(()),
            },
            _ => self.documents.change(&name, make),
        }
    }

    fn may_change(&self, name: &str) -> Result<(), MemoryError> {
        self.documents.may_change(name)
    }

    fn exists(&self) -> bool {
        self.documents.exists()
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.documents.names();
        if self.fault == Fault::NamesUnsorted {
            names.reverse();
        }
        names
    }

    fn place(&self, name: &str) -> PathBuf {
        self.documents.place(name)
    }
}

#[test]
fn each_clause_fails_on_an_adapter_that_breaks_it() {
    let faults = [
        (Fault::AbsentIsEmpty, "what is not there is absent"),
        (Fault::TrimsText, "what is written is read back, byte for byte"),
        (Fault::VersionOfEachLook, "a version lasts as long as its text"),
        (Fault::VersionOfLength, "a version ends with its text"),
        (Fault::ForgetsBefore, "a change sees what is there"),
        (Fault::WritesNothing, "nothing is written where nothing is made"),
        (Fault::KeepsDraftAfterError, "an error leaves the document as it was"),
        (Fault::NamesWithoutFolders, "documents do not touch each other"),
        (Fault::NamesUnsorted, "names are those of all documents, sorted"),
        (Fault::OwnCopy, "everybody who opens it sees the same"),
        (Fault::NoLock, "writers at once lose nothing"),
    ];
    assert_eq!(faults.map(|(_, name)| name), CLAUSES.map(|(name, _)| name), "one fault a clause");
    for (fault, name) in faults {
        let documents = std::cell::RefCell::new(InMemoryDocuments::default());
        let fresh = || *documents.borrow_mut() = InMemoryDocuments::default();
        let open = || -> Arc<dyn Documents> {
            let documents = match fault {
                Fault::OwnCopy => InMemoryDocuments::default(),
                _ => documents.borrow().clone(),
            };
            let at_first = documents.read(NAME).expect("read");
            Arc::new(Faulty { fault, documents, looks: 0.into(), at_first })
        };
        let (_, clause) = CLAUSES.iter().find(|(clause, _)| *clause == name).expect("a clause");
        fresh();
        assert!(clause(&open).is_err(), "{fault:?} keeps to {name:?}");
    }
}

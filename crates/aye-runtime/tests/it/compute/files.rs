//! Files of the workspace: read, if the skill says so; nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::AtomicBool;

use aye_runtime::compute::{Block, ComputeError, Limits, Quiet, run};
use serde_json::{Value, json};

use super::{block, scope};

struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().join("work");
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::write(work.join("a.txt"), "one\ntwo\n").unwrap();
        fs::write(work.join("sub/b.json"), "{\"b\": 2}").unwrap();
        fs::write(directory.path().join("secret.txt"), "secret").unwrap();
        symlink(directory.path().join("secret.txt"), work.join("link")).unwrap();
        symlink("a.txt", work.join("fine")).unwrap();
        Self(directory)
    }

    fn run(&self, code: &str, files_read: bool) -> Result<Value, ComputeError> {
        let workspace = self.0.path().join("work");
        let block = Block { workspace, files_read, ..block(code) };
        run(&block, &scope(), &mut Quiet::default(), &Limits::default(), &AtomicBool::new(false))
    }

    fn value(&self, code: &str) -> Value {
        self.run(code, true).unwrap_or_else(|error| panic!("{code}: {}", error.render()))
    }
}

#[test]
fn a_block_reads_the_workspace_if_the_skill_says_so() {
    let work = Workspace::new();
    assert_eq!(work.value("result = Path('a.txt').read_text()"), json!("one\ntwo\n"));
    assert_eq!(work.value("with open('a.txt') as f:\n    result = f.read()"), json!("one\ntwo\n"));
    assert_eq!(
        work.value("result = [l for l in open('a.txt').read().splitlines()]"),
        json!(["one", "two"])
    );
    assert_eq!(
        work.value("result = json.loads((Path.cwd() / 'sub' / 'b.json').read_text())"),
        json!({ "b": 2 })
    );
    assert_eq!(
        work.value(
            "result = [os.path.exists('a.txt'), os.path.isdir('sub'), os.path.exists('nope')]"
        ),
        json!([true, true, false])
    );
    assert_eq!(
        work.value("result = sorted(p.name for p in Path('.').iterdir())"),
        json!(["a.txt", "fine", "link", "sub"])
    );
    assert_eq!(work.value("result = Path('fine').read_text()"), json!("one\ntwo\n"));
    assert_eq!(work.value("result = Path('a.txt').stat().st_size"), json!(8));
    let error = work.run("result = [l for l in open('a.txt')]", true).unwrap_err();
    assert!(error.hint.unwrap().contains("splitlines"));
    assert_eq!(
        work.value("try:\n    open('nope')\nexcept FileNotFoundError:\n    result = 'no'"),
        json!("no")
    );
}

#[test]
fn nothing_else_is_read_and_nothing_is_written() {
    let work = Workspace::new();
    let refused = [
        "result = Path('../secret.txt').read_text()",
        "result = Path('link').read_text()",
        "result = open('link').read()",
        "result = Path('/etc/passwd').read_text()",
        "result = Path('/etc/passwd').exists()",
        "result = list(Path('..').iterdir())",
        "result = Path('sub/../../secret.txt').read_text()",
        "result = Path('a.txt').write_text('x')",
        "result = open('a.txt', 'w')",
        "result = open('new.txt', 'a')",
        "Path('d').mkdir()\nresult = 1",
        "Path('a.txt').unlink()\nresult = 1",
        "Path('a.txt').rename('b.txt')\nresult = 1",
    ];
    for code in refused {
        let error = work.run(code, true).expect_err(code);
        assert_eq!(error.kind, "PermissionError", "{code}: {error}");
        assert!(error.message.contains("`command:` step"), "{error}");
    }
    assert_eq!(fs::read_to_string(work.0.path().join("work/a.txt")).unwrap(), "one\ntwo\n");
    let error = work.run("result = Path('a.txt').read_text()", false).unwrap_err();
    assert!(error.message.contains("write `files: read`"), "{error}");
}

#[test]
fn only_files_are_read() {
    let work = Workspace::new();
    let fifo = work.0.path().join("work/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    let error = work.run("result = Path('pipe').read_text()", true).unwrap_err();
    assert!(error.message.contains("not a regular file"), "{error}");
    fs::File::create(work.0.path().join("work/huge")).unwrap().set_len(1 << 40).unwrap();
    let error = work.run("result = len(Path('huge').read_bytes())", true).unwrap_err();
    assert!(error.message.contains("larger than 8 MiB"), "{error}");
}

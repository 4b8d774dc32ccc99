//! Compute blocks: checking, running, proposing a fix.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use aye_core::text::Scope;
use aye_runtime::compute::{Block, Limits, Quiet, check, propose, run};

use super::Target;
use super::scope::scope;

pub(super) struct Blocks {
    scope: Scope,
    limits: Limits,
}

impl Blocks {
    pub(super) fn new() -> Self {
        let time = Duration::from_millis(250);
        let limits = Limits { time, memory: 96 << 20, ..Limits::default() };
        Self { scope: scope(), limits }
    }
}

impl Target for Blocks {
    fn run(&mut self, case: &[u8]) -> Result<(), String> {
        let code = String::from_utf8_lossy(case).into_owned();
        let block = Block { code, output: Some("result".to_owned()), line: 1, ..Block::default() };
        if case.len().is_multiple_of(3) {
            let _ = check(&block, self.limits.time);
            return Ok(());
        }
        let mut host = Quiet::default();
        let ran = run(&block, &self.scope, &mut host, &self.limits, &AtomicBool::new(false));
        match ran {
            // A worker that breaks down is contained, and found here all the same.
            Err(error) if error.message.contains("interpreter crashed") => Err(error.message),
            Err(error) => {
                let _ = propose(&block.code, block.output.as_deref(), &error, &self.scope);
                let _ = error.render();
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "result = ",
            "def f(a):\n    ",
            "class A:\n    ",
            "lambda a: ",
            "for a in range(9):\n    ",
            "while True:\n    ",
            "if a:\n    ",
            "try:\n    ",
            "except Exception as e:\n    ",
            "return ",
            "yield ",
            "raise ",
            "import re\n",
            "import os.path\n",
            "[a for a in ",
            " ** ",
            " << ",
            " * ",
            " % ",
            "f'{",
            "}'",
            "inputs.commit",
            "rows",
            "n",
            "memory.read('a')",
            "print(",
            "open('a')",
            "json.loads(",
            "re.match('(a+)+$', ",
            "dir()",
            "globals()",
            "env['HOME']",
            "datetime.now()",
            "sorted(",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ": ",
            "\n    ",
            "\n",
            "'a'",
            "b'a'",
            "None",
            "10 ** 9",
            "'{:>99999999}'.format(1)",
            "x.y.z",
            "*a, **b",
            "global a\n",
            "match a:\n    case 1:\n        ",
            "with open('a') as f:\n    ",
            "async def f(): ",
            "await ",
            "@f\n",
            "\\\n",
            "#",
            "\"\"\"",
            "nonlocal a\n",
            "del a\n",
            "assert a\n",
            "a: int = 1\n",
            "a := 1",
        ]
    }
}

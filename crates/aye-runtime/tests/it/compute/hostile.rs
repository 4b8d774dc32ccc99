//! Blocks that mean harm, or were written in a hurry: an error, never a crash.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use aye_runtime::compute::{Limits, Quiet, check, run};

use super::{SOON, block, compute_with, error, scope, value};

fn tight() -> Limits {
    Limits { time: Duration::from_millis(700), memory: 96 << 20, ..Limits::default() }
}

/// Ends with an error, and soon.
fn refused(code: &str) -> String {
    let started = Instant::now();
    let (result, _) = compute_with(code, &tight());
    let took = started.elapsed();
    let shown: String = code.chars().take(80).collect();
    let error = result.expect_err(&shown);
    assert!(took < Duration::from_secs(5), "{shown}: {took:?}");
    error.to_string()
}

#[test]
fn endless_work_ends() {
    for code in [
        "result = 1\nwhile True:\n    pass",
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        "x = 0\nfor i in range(10 ** 12):\n    x += i\nresult = x",
        "result = sum(i for i in range(10 ** 12))",
        "result = sorted(range(10 ** 9))",
        "import itertools\nresult = list(itertools.count())",
    ] {
        let said = refused(code);
        assert!(said.contains("limit exceeded"), "{code}: {said}");
    }
}

#[test]
fn memory_is_limited() {
    for code in [
        "x = 'a' * (10 ** 10)\nresult = 1",
        "x = [0] * (10 ** 10)\nresult = 1",
        "x = 2 ** (10 ** 10)\nresult = 1",
        "x = 10 ** 10000000\nresult = 1",
        "x = pow(3, 10 ** 7)\nresult = 1",
        "x = 7\nx **= 10 ** 7\nresult = 1",
        "x = (10 ** 1000) ** (5000)\nresult = 1",
        "x = 2 ** 2 ** 2 ** 2 ** 2 ** 2\nresult = 1",
        "x = 1 << 10 ** 8\nresult = 1",
        "x = 1\nx <<= 10 ** 8\nresult = 1",
        "result = x = []\nwhile True:\n    x.append('y' * 10000 + str(len(x)))",
        "result = x = 'a'\nwhile True:\n    x += x",
        "x = list(range(10 ** 9))\nresult = 1",
        "result = d = {}\ni = 0\nwhile True:\n    d[i] = [i] * 100\n    i += 1",
        "x = b'a' * (1 << 40)\nresult = 1",
        "x = bytes(1 << 40)\nresult = 1",
        "result = 'a'.ljust(10 ** 11)",
        "result = f\"{'a':>100000000000}\"",
        "result = ('a' * 100000).replace('a', 'b' * 1000000)",
        "result = [[0] * 1000000 for i in range(1000000)]",
    ] {
        let said = refused(code);
        assert!(said.contains("limit") || said.contains("Error"), "{code}: {said}");
    }
}

#[test]
fn depth_is_limited() {
    let nested = |open: &str, close: &str, n: usize| {
        format!("result = {}1{}", open.repeat(n), close.repeat(n))
    };
    let deep = [
        "def f(n):\n    return f(n + 1)\nresult = f(0)".to_owned(),
        "class A:\n    def __eq__(self, o):\n        return self == o\nresult = A() == A()"
            .to_owned(),
        "x = []\nfor i in range(10 ** 6):\n    x = [x]\nresult = len(x)".to_owned(),
        "x = []\nfor i in range(10 ** 5):\n    x = [x]\nresult = str(x)".to_owned(),
        "x = {}\nfor i in range(10 ** 5):\n    x = {'a': x}\nresult = x == {}".to_owned(),
        "import json\nresult = json.loads('[' * 100000)".to_owned(),
        nested("(", ")", 10_000),
        nested("[", "]", 60_000),
        nested("{1:", "}", 20_000),
        nested("-", "", 100_000),
        nested("not ", "", 50_000),
        nested("lambda: ", "", 20_000),
        nested("f(", ")", 50_000),
        format!("result = a{}", ".b".repeat(100_000)),
        format!("result = a{}", "[0]".repeat(80_000)),
        format!("result = a{}", "()".repeat(100_000)),
        format!("result = 1{}", " + 1".repeat(60_000)),
        format!("result = 1{}", " ** 1".repeat(40_000)),
        format!("result = 1{}", " if 1 else 1".repeat(20_000)),
        format!("result = {}1{}", "f'{".repeat(300), "}'".repeat(300)),
        format!("{}pass", (0..300).map(|i| " ".repeat(i) + "if 1:\n").collect::<String>()),
        format!("if 1:\n  pass\n{}", "elif 1:\n  pass\n".repeat(15_000)),
        "result = 1\n".repeat(100_000),
    ];
    for code in &deep {
        // An error, or a value: both are fine, breaking down is not.
        let started = Instant::now();
        if let Err(error) = compute_with(code, &tight()).0 {
            assert_ne!(error.kind, "Result", "{error}");
        }
        assert!(started.elapsed() < Duration::from_secs(5));
        // The same for who only looks.
        check(&block(code), SOON).ok();
    }
}

/// Functions, classes, lambdas and comprehensions inside each other: the
/// interpreter would look through the innermost one 3^levels times.
#[test]
fn scopes_inside_each_other_end() {
    let nested = |open: &str, levels: usize| {
        let mut code: String =
            (0..levels).map(|i| " ".repeat(i) + &open.replace('#', &i.to_string())).collect();
        code.push_str(&(" ".repeat(levels) + "pass\nresult = 1"));
        code
    };
    let lambdas = |n: usize| format!("result = {}1", "lambda a: ".repeat(n));
    let lists = |n: usize| format!("result = {}1{}", "[".repeat(n), " for a in [1]]".repeat(n));
    let wide = "    ".repeat(6) + &"x = [a for a in b if a]; ".repeat(2000);
    for code in [
        nested("def f#(a#):\n", 18),
        nested("def f#(a#):\n", 40),
        nested("class C#:\n", 40),
        nested("def f#(a#, b#=lambda: 1):\n", 12),
        lambdas(40),
        lists(40),
        nested("def f#(a#):\n", 6)
            + "\n"
            + &format!("def g():\n{}\n", nested("def f#(a#):\n", 6).replace('\n', "\n ")),
        format!(
            "{}{wide}\nresult = 1",
            (0..6).map(|i| "    ".repeat(i) + &format!("def f{i}(a):\n")).collect::<String>()
        ),
    ] {
        let shown: String = code.chars().take(40).collect();
        let started = Instant::now();
        check(&block(&code), SOON).ok();
        compute_with(&code, &tight()).0.ok();
        assert!(started.elapsed() < Duration::from_secs(2), "{shown}: {:?}", started.elapsed());
    }
    // What people write is none of this.
    let code = "def a(x):\n    def b(y):\n        return [[z for z in range(y)] for _ in range(x)]\n    return sorted(b(2), key=lambda i: len(i))\nresult = a(2)";
    assert_eq!(value(code), serde_json::json!([[0, 1], [0, 1]]));
}

/// Products of large numbers: the interpreter does not look at its clock.
#[test]
fn what_does_not_look_at_the_clock_is_killed() {
    for code in [
        "x = 7 ** 1000000\nfor i in range(30):\n    x = x * x\nresult = 1",
        "x = (1 << 3999999) + 1\nwhile True:\n    x = x * x % (1 << 3999998)\nresult = 1",
        "x = str(3 ** 2000000)\nresult = len(x)",
    ] {
        let started = Instant::now();
        compute_with(code, &tight()).0.ok();
        assert!(started.elapsed() < Duration::from_millis(2500), "{code}: {:?}", started.elapsed());
        // The next block finds a worker all the same.
        assert_eq!(value("result = 1 + 1"), 2);
    }
}

#[test]
fn patterns_do_not_blow_up() {
    for code in [
        "result = re.match(r'(a+)+$', 'a' * 40 + 'b')",
        "result = re.match(r'(a|aa)+$', 'a' * 5000 + 'b')",
        "result = re.match(r'(?=(a+)+$)b', 'a' * 40 + 'b')",
        "result = re.match(r'^(([a-z])+.)+[A-Z]([a-z])+$', 'a' * 60)",
        "result = re.match(r'(.*)\\1(.*)\\2$', 'ab' * 2000)",
        "result = re.compile('a{1000}{1000}{1000}')\nresult = 1",
        "result = re.compile('(' * 5000 + ')' * 5000)\nresult = 1",
    ] {
        let started = Instant::now();
        // No match, or an error: both are fine, hanging is not.
        compute_with(code, &tight()).0.ok();
        assert!(started.elapsed() < Duration::from_secs(5), "{code}");
    }
}

#[test]
fn asking_and_printing_are_limited() {
    let said = error("while True:\n    memory.read('x')");
    assert_eq!(said.message, "the block asked for more than 10000 things");
    let said = error("while True:\n    print('x' * 1000)");
    assert_eq!(said.message, "the block prints more than 1024 KiB");
}

#[test]
fn there_is_no_way_out() {
    for code in [
        "open('/etc/passwd').read()",
        "open('x', 'w')",
        "Path('/etc/passwd').read_text()",
        "Path('x').write_text('y')",
        "import subprocess",
        "import socket",
        "import ctypes",
        "__import__('os').system('true')",
        "eval('1')",
        "exec('x = 1')",
        "os.system('true')",
        "os.environ['PATH'] = 'x'",
        "import os\nfor k in os.environ: pass",
        "().__class__.__bases__[0].__subclasses__()",
        "(lambda: 0).__globals__",
        "import sys\nsys.modules",
    ] {
        error(&format!("{code}\nresult = 1"));
    }
}

#[test]
fn cancelling_stops_it() {
    let cancelled = AtomicBool::new(false);
    let limits = Limits::default();
    let started = Instant::now();
    std::thread::scope(|threads| {
        let running = threads.spawn(|| {
            let code = "print('on')\nresult = 1\nwhile True:\n    try:\n        x = 1\n    except Exception:\n        pass";
            run(&block(code), &scope(), &mut Cancels(&cancelled), &limits, &cancelled)
        });
        let error = running.join().unwrap().unwrap_err();
        assert_eq!(error.kind, "Cancelled");
    });
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(
        run(
            &block("result = 1"),
            &scope(),
            &mut Quiet::default(),
            &limits,
            &AtomicBool::new(false)
        )
        .is_ok()
    );
}

/// Cancels when the block says that it runs.
struct Cancels<'a>(&'a AtomicBool);

impl aye_runtime::compute::Host for Cancels<'_> {
    fn memory(
        &mut self,
        _function: &str,
        _args: &[serde_json::Value],
        _named: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<serde_json::Value, String> {
        Ok(serde_json::Value::Null)
    }

    fn log(&mut self, _line: &str) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn emit(&mut self, _name: &str, _data: serde_json::Value) {}
}

#[test]
fn powers_that_are_not_too_large_are_what_they_are() {
    for (code, wanted) in [
        ("result = 2 ** 100 % 1000", "376"),
        ("a, b = 10, 3000\nresult = (a ** b) % 7", "1"),
        ("a, b = 2, 3\nresult = a ** b ** 2 - -a ** b", "520"),
        ("a, b = 2, -1\nresult = a ** b", "0.5"),
        ("a, b = 1, 10 ** 12\nresult = a ** b", "1"),
        ("a, b = 4.0, 0.5\nresult = a ** b", "2.0"),
        ("n = 10 ** 9\nresult = pow(3, n, 7)", "4"),
        ("x, n = 3, 200\nx **= (n)  # twice\nx %= 1000\nresult = x", "1"),
        ("x, n = 3, 70\nx <<= n\nresult = x >> n", "3"),
        ("n = 70\nresult = f'{(1 << n) >> n} {2 ** n >> n}'", "\"1 1\""),
        ("n = 4000000\nresult = (1 << n) % 7", "2"),
    ] {
        assert_eq!(value(code).to_string(), wanted, "{code}");
    }
    // A mistake is told as it was.
    let said = error("a, b = 'x', 100\nresult = a ** b");
    assert!(said.message.contains("unsupported operand"), "{said}");
    let place = said.place.unwrap();
    assert_eq!(&place.source[place.columns], "a ** b");
}

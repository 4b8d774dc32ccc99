//! Real shells, hostile values, and a look for what they would have done.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the core starts no shell, but its scripts are for one"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use aye_core::text::Script;

use super::script;

/// Every shell of this machine that a script may meet.
pub(super) fn shells() -> Vec<&'static [&'static str]> {
    let all: [&[&str]; 5] =
        [&["sh"], &["dash"], &["bash", "--posix"], &["busybox", "sh"], &["ksh"]];
    // Often the same: not twice, then.
    let is_dash = std::fs::canonicalize("/bin/sh").is_ok_and(|path| path.ends_with("dash"));
    let there = |shell: &&[&str]| {
        if is_dash && shell[0] == "dash" {
            return false;
        }
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).args(["-c", ":"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    all.into_iter().filter(there).collect()
}

/// A directory that is gone afterwards.
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("aye-shell-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        // Something for patterns to match.
        std::fs::write(path.join("a-file"), "").unwrap();
        Self(path)
    }

    /// What else is there than before: the trace of a value that ran.
    pub(super) fn traces(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "a-file").collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed is in a temporary directory anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Prints its arguments so that they can be told apart.
const SHOW: &str = "show() { printf '%s' \"$#\"; for a do printf '\\001%s' \"$a\"; done; }\n";

/// The arguments that `show` got from the script.
pub(super) fn arguments(shell: &[&str], script: &Script, place: &Place) -> Vec<String> {
    let (code, stdout, stderr) = run(shell, &format!("{SHOW}{}", script.text), script, &place.0);
    assert_eq!(code, Some(0), "{shell:?} {}\n{stderr}", script.text);
    let mut parts = stdout.split('\u{1}').map(str::to_owned);
    let count: usize = parts.next().unwrap().parse().unwrap();
    let parts: Vec<String> = parts.collect();
    assert_eq!(parts.len(), count, "{}: {stdout:?}", script.text);
    parts
}

pub(super) fn run(
    shell: &[&str],
    text: &str,
    script: &Script,
    directory: &Path,
) -> (Option<i32>, String, String) {
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).arg("-c").arg(text).current_dir(directory).stdin(Stdio::null());
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", "/nowhere");
    let output = command.envs(script.values.iter().cloned()).output().unwrap();
    let read = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), read(output.stdout), read(output.stderr))
}

/// Runs it, whatever comes of it; a shell that waits is not waited for.
pub(super) fn try_run(shell: &[&str], script: &Script, place: &Place) {
    let text = format!("ulimit -t 2\n{}", script.text);
    run(shell, &text, script, &place.0);
}

/// Each of them does something in some place if it is read as code.
pub(super) const HOSTILE: [&str; 42] = [
    "plain",
    "",
    " ",
    "two  words ",
    "line\nbreak",
    "$(touch PWNED)",
    "`touch PWNED`",
    "; touch PWNED",
    "'; touch PWNED #",
    "\"; touch PWNED #",
    "'\"; touch PWNED; \"'",
    "$(touch PWNED)'$(touch PWNED)\"$(touch PWNED)",
    "\\'; touch PWNED; \\'",
    "\\",
    "\\\\",
    "\\\"; touch PWNED; \\\"",
    "a[$(touch PWNED)]",
    "$((a[$(touch PWNED)]))",
    "${x:-$(touch PWNED)}",
    "}; touch PWNED; {",
    "}$(touch PWNED)",
    ") ; touch PWNED ; (",
    "&& touch PWNED",
    "| touch PWNED",
    "& touch PWNED &",
    ">PWNED",
    "<(touch PWNED)",
    "\ntouch PWNED\n",
    "EOF\ntouch PWNED\n",
    "EOF",
    "*",
    "?-file",
    "~",
    "{a,b}",
    "-n",
    "-e \\c",
    "%s %n \\n",
    "$AYE_V1 ${AYE_V2}",
    "{{ x }}{% raw %}",
    "#",
    "!! !$ ^a^b",
    "Grüße \u{e000}\u{feff}\u{200b}\u{9b}",
];

/// A script with `{{ x }}` for the value, and what `show` gets, with `@` for it.
const PLACES: [(&str, &[&str]); 38] = [
    ("show {{ x }}", &["@"]),
    ("show a{{ x }}b c", &["a@b", "c"]),
    ("show {{ x }}{{ x }} {{x}}", &["@@", "@"]),
    ("show \"{{ x }}\"", &["@"]),
    ("show \"a {{ x }} b\"", &["a @ b"]),
    ("show 'a {{ x }} b'", &["a @ b"]),
    ("show 'a'{{ x }}\"b\"", &["a@b"]),
    ("show '\"{{ x }}\"' \"'{{ x }}'\"", &["\"@\"", "'@'"]),
    ("show \\'{{ x }}\\'", &["'@'"]),
    ("show \"\\\"{{ x }}\\\"\"", &["\"@\""]),
    ("show $(printf %s. \"a\") {{ x }}", &["a.", "@"]),
    ("show \"$(printf '%s.' {{ x }})\"", &["@."]),
    ("show \"$(printf '%s.' \"{{ x }}\")\"", &["@."]),
    ("show \"$(printf '%s.' '{{ x }}')\" b", &["@.", "b"]),
    ("show \"$(printf '%s.' \"$(printf %s {{ x }}.)\")\"", &["@.."]),
    ("show \"`printf '%s.' {{ x }}`\"", &["@."]),
    ("v=`printf '%s.' \"{{ x }}\"`; show \"$v\"", &["@."]),
    ("v={{ x }}; show \"$v\"", &["@"]),
    ("v={{ x }}b c={{ x }}; show \"$v$c\"", &["@b@"]),
    ("export v={{ x }}; show \"$v\"", &["@"]),
    ("show ${u:-{{ x }}}", &["@"]),
    ("show \"${u:-{{ x }}}\"", &["@"]),
    ("show \"${u-a{{ x }}b}\" c", &["a@b", "c"]),
    ("show ${u:-'{{ x }}'}", &["@"]),
    ("show ${u:-\"{{ x }}\"}", &["@"]),
    ("show \"${u:-${w:-{{ x }}}}\"", &["@"]),
    ("v=_{{ x }}; show \"${v#_{{ x }}}\" end", &["", "end"]),
    ("show \"$(cat <<EOF\n{{ x }}.\nEOF\n)\"", &["@."]),
    ("v=$(cat <<-EOF\n\t'\"{{ x }}\"'.\n\tEOF\n)\nshow \"$v\"", &["'\"@\"'."]),
    ("v=$(cat <<A; cat <<'B'\n{{ x }}.\nA\n'$x\nB\n)\nshow \"$v\" {{ x }}", &["@.\n'$x", "@"]),
    ("case {{ x }} in a) show no;; {{ x }}) show yes {{ x }};; esac", &["yes", "@"]),
    ("v=$(case a in a) printf '%s.' {{ x }};; esac); show \"$v\"", &["@."]),
    ("f() { show \"$1\" {{ x }}; }; f {{ x }}", &["@", "@"]),
    ("for i in {{ x }} b; do w=$w$i/; done; show \"$w\"", &["@/b/"]),
    ("# it's {{ x }} \"\nshow {{ x }} # $( {{ x }}", &["@"]),
    ("if [ {{ x }} = \"{{ x }}\" ]; then show {{ x }}; fi", &["@"]),
    ("sh -c \"printf %s. {{ x | quote }}\" >out; v=$(cat out); rm out; show \"$v\"", &["@."]),
    ("v=$(eval \"printf %s. {{ x | quote }}\"); show \"$v\"", &["@."]),
];

#[test]
fn every_shell_gets_the_value_and_runs_nothing() {
    let shells = shells();
    assert!(shells.iter().any(|shell| shell[0] == "sh"));
    let place = Place::new();
    for (template, expected) in PLACES {
        for value in HOSTILE {
            let script = script(template, value);
            let expected: Vec<String> =
                expected.iter().map(|word| word.replace('@', value)).collect();
            for shell in &shells {
                // `[` takes some words for operators, whoever quotes them.
                if template.starts_with("if [") && matches!(value, "-n" | "!") {
                    continue;
                }
                assert_eq!(
                    arguments(shell, &script, &place),
                    expected,
                    "{shell:?} {template} {value:?}"
                );
            }
        }
    }
    assert_eq!(place.traces(), Vec::<String>::new());
}

/// Commands of bash that read their words as expressions or names.
const TRAPS: [&str; 25] = [
    "echo [{{ x }}]",
    "declare -a a=(b [{{ x }}]=1)",
    "a=(b \"[{{ x }}]\"=1)",
    "a=([{{ x }}]=1)",
    "a[b[0]+{{ x }}]=1",
    "declare -i n={{ x }}",
    "a=({{ x }} [0]={{ x }})",
    "export n={{ x }}",
    "printf '%d' {{ x }}; exit {{ x }}",
    "[ {{ x }} -eq 1 ]",
    "test {{ x }} -gt 1",
    "[[ {{ x }} -eq 1 ]]",
    "[[ 1 -lt \"{{ x }}\" ]]",
    "[[ {{ x }} == 1 || a =~ {{ x }} ]]",
    "[[ -v {{ x }} ]]",
    "test -v {{ x }}",
    "let {{ x }}",
    "echo $(( {{ x }} ))",
    "(( {{ x }} ))",
    "declare {{ x }}=1",
    "unset {{ x }}",
    "read {{ x }} </dev/null",
    "printf -v {{ x }} a",
    "y=abc; echo ${y:{{ x }}}",
    "a[{{ x }}]=1",
];

#[test]
fn traps_of_bash_do_not_snap() {
    let place = Place::new();
    let mut refused = 0;
    for template in TRAPS {
        let value = serde_json::json!("a[$(touch PWNED)]");
        match super::try_script(template, &value) {
            Err(_) => refused += 1,
            Ok(script) => {
                for shell in shells() {
                    run(shell, &script.text, &script, &place.0);
                }
            }
        }
        assert_eq!(place.traces(), Vec::<String>::new(), "{template}");
    }
    assert_eq!(refused, 20);
}

/// That the looking works: the same without protection leaves its trace.
#[test]
fn the_trace_would_be_seen() {
    let place = Place::new();
    let made = script("echo {{ x | safe }}", "$(touch PWNED)");
    run(&["sh"], &made.text, &made, &place.0);
    assert_eq!(place.traces(), ["PWNED"]);
}

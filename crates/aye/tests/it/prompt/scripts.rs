//! `aye confirm`, `aye choose` and `aye input`, as scripts use them.

use std::process::Stdio;

use super::pty::Terminal;
use crate::cli::harness::Place;
use crate::desktop::screen::settings;

#[track_caller]
fn ask(args: &[&str], wait: &str, keys: &str) -> (Option<i32>, String) {
    let place = Place::new();
    let mut terminal = Terminal::captured(&place, args);
    terminal.wait_for(wait).keys(keys);
    let code = terminal.end();
    terminal.assert_clean();
    assert!(!terminal.vt.screen().contains(['╭', '╰']), "{}", terminal.vt.screen());
    (code, terminal.stdout())
}

#[test]
fn confirm_has_an_exit_code_for_everything() {
    let confirm = |keys| ask(&["confirm", "Deploy?"], "[y/N]", keys);
    assert_eq!(confirm("y"), (Some(0), String::new()));
    assert_eq!(confirm("n"), (Some(1), String::new()));
    assert_eq!(confirm("\x1b"), (Some(5), String::new()));
    // By the signal itself: the shell that runs the script stops too.
    assert_eq!(confirm("\x03"), (None, String::new()));
    let no = ask(&["confirm", "Deploy?", "--default", "no"], "[y/N]", "\r");
    assert_eq!(no, (Some(1), String::new()));
    let yes = ask(&["confirm", "Deploy?", "--default", "yes"], "[Y/n]", "\r");
    assert_eq!(yes, (Some(0), String::new()));
    let late = ask(&["confirm", "Deploy?", "--timeout", "1s"], "1s left", "");
    assert_eq!(late, (Some(124), String::new()));
    let late = ask(&["confirm", "Go?", "--timeout", "1s", "--default", "no"], "1s left", "");
    assert_eq!(late, (Some(1), String::new()));
    let json = ask(&["confirm", "Deploy?", "--json"], "[y/N]", "y");
    assert_eq!(json, (Some(0), "{\"value\":true,\"prompter\":\"terminal\"}\n".into()));
}

#[test]
fn one_line_stays_on_the_terminal() {
    let place = Place::new();
    let mut terminal = Terminal::aye(&place, &["confirm", "Deploy?"]);
    terminal.wait_for("[y/N]").keys("y");
    assert_eq!(terminal.end(), Some(0));
    let screen = terminal.vt.screen();
    assert!(screen.starts_with("● Deploy?  Yes  after "), "{screen}");
    assert_eq!(screen.lines().count(), 1, "{screen}");
}

#[test]
fn choose_and_input_print_the_answer_alone() {
    let options = ["choose", "Where?", "stage", "production", "*", "$(id)", "-n"];
    assert_eq!(ask(&options[..5], "stage", "prod\r"), (Some(0), "production\n".into()));
    assert_eq!(ask(&options[..5], "stage", "3\r"), (Some(0), "*\n".into()));
    assert_eq!(ask(&options[..6], "stage", "4\r"), (Some(0), "$(id)\n".into()));
    assert_eq!(ask(&options[..4], "stage", "q"), (Some(5), String::new()));
    let odd = ask(&["choose", "--", "Where?", "-n", "-e"], "-n", "1\r");
    assert_eq!(odd, (Some(0), "-n\n".into()));
    let input = ["input", "Name?", "--default", "$(touch x) `y`"];
    assert_eq!(ask(&input, "Enter takes", "\r"), (Some(0), "$(touch x) `y`\n".into()));
    assert_eq!(ask(&input[..2], "Name?", "a b\\n  \r"), (Some(0), "a b\\n  \n".into()));
    assert_eq!(ask(&input[..2], "Name?", "\x1b"), (Some(5), String::new()));
    let matched = ask(&["input", "Hex?", "--match", "^[0-9a-f]+$"], "Hex?", "xyz\r\x15beef\r");
    assert_eq!(matched, (Some(0), "beef\n".into()));
    let secret = ask(&["input", "Token?", "--secret"], "Token?", "s3cret\r");
    assert_eq!(secret, (Some(0), "s3cret\n".into()));
    let wide = ask(&["input", "Name?"], "Name?", "日本\x7f語\r");
    assert_eq!(wide, (Some(0), "日語\n".into()));
    let late = ask(&["input", "Name?", "--timeout", "1s", "--default", "x"], "1s left", "");
    assert_eq!(late, (Some(0), "x\n".into()));
}

#[test]
fn plain_prompts_read_lines() {
    let plain = |args: &[&str], wait: &str, keys: &str| {
        let mut all = args.to_vec();
        all.push("--plain");
        ask(&all, wait, keys)
    };
    assert_eq!(plain(&["confirm", "Deploy?"], "[y/N], within", "yes\n"), (Some(0), String::new()));
    assert_eq!(plain(&["confirm", "Deploy?"], "[y/N], within", "\x04"), (Some(5), String::new()));
    assert_eq!(
        plain(&["confirm", "Deploy?"], "[y/N], within", "a\nb\nc\n"),
        (Some(1), String::new())
    );
    let chosen = plain(&["choose", "Where?", "stage", "prod"], "name, within", "2\n");
    assert_eq!(chosen, (Some(0), "prod\n".into()));
    let text = plain(&["input", "Name?", "--default", "ada"], "Enter takes `ada`, within", "\n");
    assert_eq!(text, (Some(0), "ada\n".into()));
    let place = Place::new();
    let mut terminal = Terminal::captured(&place, &["input", "Token?", "--secret", "--plain"]);
    terminal.wait_for("Not shown, within").keys("hunter2\n");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(terminal.stdout(), "hunter2\n");
    assert!(!terminal.vt.all().contains("hunter2"));
    terminal.assert_clean();
}

#[test]
fn without_a_terminal_nothing_is_assumed() {
    let place = Place::new();
    for args in [
        &["confirm", "Deploy?"][..],
        &["confirm", "Deploy?", "--default", "yes"],
        &["choose", "Where?", "a", "b", "--default", "a"],
        &["input", "Name?", "--default", "x"],
    ] {
        let ran = place.aye(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (6, ""), "{args:?}: {}", ran.all());
        assert!(ran.stderr.contains("nobody can be asked"), "{}", ran.all());
        assert!(ran.stderr.contains("--yes"), "{}", ran.all());
    }
    assert_eq!(place.aye(&["confirm", "Deploy?", "--yes"]).ok().stdout, "");
    let args = ["confirm", "Deploy?", "--default", "no", "--default-on-no-terminal"];
    let ran = place.aye(&args);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let ran = place.aye(&["choose", "Where?", "a", "b", "--yes", "--default", "b"]).ok();
    assert_eq!(ran.stdout, "b\n");
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    for (args, said) in [
        (&["confirm", " "][..], "the message is empty"),
        (&["confirm", "x", "--timeout", "30"], "`30` has no unit"),
        (&["choose", "x"], "there is nothing to choose from"),
        (&["choose", "x", "a", "a"], "option `a` is there twice"),
        (&["choose", "x", "a", ""], "an option is empty"),
        (&["choose", "x", "a", "--default", "b"], "the default `b` is not an option"),
        (&["choose", "x", "a", "--yes"], "`--yes` has no answer to give"),
        (&["input", "x", "--match", "("], "`(` is not a regular expression"),
        (&["input", "x", "--match", "^a$", "--default", "b"], "the default `b` does not match"),
    ] {
        let ran = place.aye(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.all());
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.all());
    }
}

#[test]
fn ctrl_c_interrupts_the_script_as_at_read() {
    let place = Place::new();
    for (shell, ask) in [
        ("bash", "aye confirm 'Deploy?'"),
        ("bash", "x=$(aye input 'Name?')"),
        ("bash", "aye choose 'Where?' a b"),
        ("dash", "aye confirm 'Deploy?'"),
    ] {
        place.write("script", &format!("{ask}\necho went on\n"));
        let mut terminal = Terminal::shell(&place);
        let run = format!("PATH=$(dirname $AYE):$PATH {shell} script\n");
        terminal.keys(&run).wait("a prompt", |vt| vt.screen().contains("Esc cancels"));
        terminal.keys("\x03").wait_gone("Esc cancels");
        // What is typed before the prompt has closed is thrown away.
        terminal.wait("the shell", |vt| vt.screen().trim_end().ends_with('$'));
        terminal.keys("echo \"code $?\"\n").wait_for("code 130").keys("exit\n");
        terminal.end();
        assert!(!terminal.vt.all().contains("\nwent on"), "{ask}: {}", terminal.vt.all());
    }
}

#[test]
fn a_script_waits_as_long_as_a_skill_does() {
    let place = Place::new();
    let mut terminal = Terminal::captured(&place, &["confirm", "Deploy?"]);
    terminal.wait("five minutes", |vt| {
        ["5m 0s left", "4m 59s left", "4m 58s left"].iter().any(|left| vt.all().contains(left))
    });
    terminal.keys("n");
    assert_eq!(terminal.end(), Some(1));
}

#[test]
fn the_time_of_a_script_has_the_bounds_of_a_skill() {
    let place = Place::new();
    for (asked, taken) in [("100ms", "1s left"), ("30d", "7d 0h left"), ("0", "Esc cancels")] {
        let mut terminal = Terminal::captured(&place, &["confirm", "Go?", "--timeout", asked]);
        terminal.wait("its time", |vt| {
            vt.all().contains(taken) || taken.starts_with("7d") && vt.all().contains("6d 23h left")
        });
        assert_eq!(taken.contains("left"), terminal.vt.all().contains("left"));
        terminal.keys("n");
        terminal.end();
    }
}

#[test]
fn the_settings_count_for_questions_of_scripts_and_of_skills() {
    let place = Place::new();
    settings(
        &place,
        "[ask]\nconfirmation_timeout = \"3d\"\ntimeout = \"4d\"\nmin_timeout = \"2d\"\nmax_timeout = \"5d\"\n",
    );
    for (args, days) in [
        (&["confirm", "Go?"][..], 4),
        (&["confirm", "Go?", "--journal"], 4),
        (&["choose", "Where?", "a", "b"], 4),
        (&["input", "Name?"], 4),
        (&["confirm", "Go?", "--timeout", "1h"], 2),
        (&["choose", "Where?", "a", "b", "--timeout", "6d"], 5),
        (&["input", "Name?", "--timeout", "6d"], 5),
    ] {
        let mut terminal = Terminal::captured(&place, args);
        let left = [format!("{days}d 0h left"), format!("{}d 23h left", days - 1)];
        terminal.wait(&left[0], |vt| left.iter().any(|left| vt.all().contains(left)));
        terminal.keys("\x1b");
        assert_eq!(terminal.end(), Some(5), "{args:?}");
    }
    for (step, days) in [
        ("confirm: { message: Go? }", 4),
        ("choose: { message: Where?, options: [a, b] }", 4),
        ("input: { message: Name? }", 4),
        ("command: 'true', confirmation: Go?", 3),
        ("command: 'true', confirmation: { message: Go?, timeout: 1h }", 2),
        ("input: { message: Name?, timeout: 6d }", 5),
    ] {
        place.write("s.yaml", &format!("name: s\nsteps:\n  - {{ name: a, {step} }}\n"));
        assert_eq!(place.aye(&["run", "s.yaml", "--no-input"]).code, 6, "{step}");
        let asked = place.aye(&["inbox", "--json"]).ok().json()[0].clone();
        let time = |value: &serde_json::Value| -> jiff::Timestamp {
            value.as_str().unwrap().parse().unwrap()
        };
        let waits = time(&asked["details"]["deadline"]).duration_since(time(&asked["asked"]));
        assert_eq!(waits.as_hours(), days * 24, "{step}: {asked}");
        place.aye(&["cancel", "last"]).ok();
    }
}

#[test]
fn options_come_from_a_pipe() {
    let place = Place::new();
    let mut shell = Terminal::shell(&place);
    shell.keys("printf 'main\\nfeature\\n' | $AYE choose 'Which branch?'; echo \"code $?\"\n");
    shell.wait_for("├─ Choose").keys("feat\r").wait_for("code 0").keys("exit\n");
    shell.end();
    assert!(shell.vt.all().contains("\nfeature\n"), "{}", shell.vt.all());
}

/// The example in the repository does what it says.
#[test]
fn the_example_script_runs() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ask.sh");
    let place = Place::new();
    let mut shell = Terminal::shell(&place);
    shell.keys(&format!("PATH=$(dirname $AYE):$PATH bash {script}; echo \"code $?\"\n"));
    shell.wait_for("├─ Choose").keys("stage\r");
    shell.wait_for("Which version?").keys("1.2.3\r");
    shell.wait_for("Deploy 1.2.3 to stage?").keys("y");
    shell.wait_for("deploying 1.2.3 to stage").wait_for("code 0");
    shell.keys(&format!("PATH=$(dirname $AYE):$PATH bash {script}; echo \"code $?\"\n"));
    shell.wait("a second list", |vt| vt.screen().contains("├─ Choose"));
    shell.keys("\x1b").wait_for("code 5").keys("exit\n");
    shell.end();
    // Without a terminal it stops before anything happens.
    let path = std::path::Path::new(crate::cli::harness::AYE).parent().unwrap().display();
    let output = std::process::Command::new("setsid")
        .args(["bash", script])
        .env("PATH", format!("{path}:/usr/bin:/bin"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(6));
}

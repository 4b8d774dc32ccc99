//! An advisor beside the question: shown, labelled, and without any effect.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use super::pty::Terminal;
use crate::cli::harness::{AYE, Place, until};

const LABEL: &str = "advice from advise (an assistant; it does not decide)";
const ASKING: &str = "asking advise for advice";

/// A project whose advisor is this script.
fn place(script: &str, more: &str) -> Place {
    let place = Place::new();
    advisor(&place, "advise", script);
    place.write("aye.toml", &format!("[advisor]\ncommand = ['./advise', '-p']\n{more}\n"));
    place.write("skill.yaml", &skill("default: no"));
    place.aye(&["trust", "--yes"]).ok();
    place
}

fn advisor(place: &Place, name: &str, script: &str) {
    let path = place.write(name, &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn skill(ask: &str) -> String {
    format!(
        "
name: release
inputs: [{{ name: target, default: web }}]
steps:
  - {{ name: build, command: echo, args: ['built {{{{ inputs.target }}}}'], output: built }}
  - name: deploy
    shell: test ! -e pid || {{ read pid < pid; ! kill -0 $pid 2> /dev/null; }} && touch deployed
    confirmation: {{ message: 'Deploy {{{{ inputs.target }}}}?', ai_assist: true, timeout: 0, {ask} }}
"
    )
}

fn run(place: &Place) -> Terminal {
    Terminal::aye(place, &["run", "skill.yaml"])
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn it_stands_beside_the_question_and_the_person_decides() {
    let place = place("cat > asked.json; echo \"$1\" > arg; echo 'No: wait for Monday.'", "");
    let mut terminal = run(&place);
    terminal.wait_for(LABEL).wait_for("┊ No: wait for Monday.").wait_gone(ASKING);
    let screen = terminal.vt.screen();
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text} in:\n{screen}"));
    assert!(at("Deploy web?") < at(LABEL) && at(LABEL) < at("[y/N]"), "{screen}");
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    terminal.assert_clean();
    assert!(place.work().join("deployed").exists());
    assert_eq!(place.read("arg"), "-p\n");
    assert!(!terminal.vt.all().contains("Monday"), "{}", terminal.vt.all());
    // It is told about the question, and its words are in the record.
    let asked: serde_json::Value = serde_json::from_str(&place.read("asked.json")).unwrap();
    assert!(asked["task"].as_str().unwrap().contains("you do not decide"), "{asked}");
    assert_eq!(asked["message"], "Deploy web?");
    assert_eq!(asked["inputs"]["target"], "web");
    assert_eq!(asked["results"]["built"], "built web");
    assert_eq!(asked["steps"][0]["output"], "built web");
    assert_eq!(asked["options"][1]["value"], "cancel");
    let journal = place.aye(&["show", "last", "--json"]).ok();
    assert!(journal.stdout.contains("No: wait for Monday."), "{}", journal.all());
    let record = place.aye(&["show", "last", "--markdown"]).ok();
    assert!(record.stdout.contains("advice from advise"), "{}", record.all());
}

#[test]
fn it_inherits_nothing_that_carries_inputs() {
    let place = place("env > env.txt; ulimit -c > limit; cat > /dev/null; echo 'No.'", "");
    let env = [("AYE_INPUT", "target=carried-in"), ("AYE_CODE", "123456")];
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &env);
    terminal.wait_for("Deploy carried-in?").wait_for("┊ No.").keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    let env = place.read("env.txt");
    assert!(env.contains("AYE_HOME="), "{env}");
    for carried in ["AYE_INPUT", "AYE_CODE", "carried-in", "123456"] {
        assert!(!env.contains(carried), "{env}");
    }
    assert_ne!(place.read("limit").trim(), "1", "it has the limit for core dumps back");
}

#[test]
fn a_suggestion_names_an_option_and_changes_neither_mark_nor_default() {
    let json = r#"{\"suggestion\": \"cancel\", \"why\": \"It is Friday.\"}"#;
    let place = place(&format!("echo \"{json}\""), "");
    place.write("skill.yaml", &skill("default: yes"));
    let mut terminal = run(&place);
    terminal.wait_for("┊ suggests Cancel").wait_for("┊ It is Friday.").wait_for("[Y/n]");
    terminal.keys("\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    // In a list nothing is marked, and Enter alone decides nothing.
    let options = "options: [{ label: Go, value: go }, { label: Stop, value: stop, action: cancel }, { label: Wait, value: wait }]";
    place.write("skill.yaml", &skill(options));
    advisor(&place, "advise", r#"echo '{"suggestion": "stop"}'"#);
    let mut terminal = run(&place);
    terminal.wait_for("┊ suggests Stop");
    assert!(!terminal.vt.screen().contains('❯'), "{}", terminal.vt.screen());
    terminal.keys("\r").wait_for("!");
    terminal.keys("1\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    terminal.assert_clean();
}

#[test]
fn whoever_answers_first_ends_it_at_once() {
    // It has a child that has left its group and its session.
    let script = "cat > /dev/null; setsid sleep 1000 & echo $! > child; echo $$ > pid; wait";
    let place = place(script, "");
    let mut terminal = run(&place);
    terminal.wait_for(ASKING).wait_for("[y/N]");
    until("it runs", || !place.read("pid").is_empty());
    assert!(is_alive(&place.read("pid")) && is_alive(&place.read("child")));
    // The step that follows fails if it is still there.
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(!is_alive(&place.read("pid")) && !is_alive(&place.read("child")));
    terminal.assert_clean();
}

#[test]
fn an_answer_from_elsewhere_and_an_interrupt_end_it_too() {
    let place = place("echo $$ > pid; exec sleep 1000", "");
    for interrupt in [false, true] {
        let _ = std::fs::remove_file(place.work().join("pid"));
        let mut terminal = run(&place);
        terminal.wait_for(ASKING);
        until("it runs", || !place.read("pid").is_empty());
        let code = match interrupt {
            true => {
                terminal.keys("\u{3}");
                130
            }
            false => {
                place.aye(&["answer", &format!("{}-1", place.last()), "proceed"]).ok();
                0
            }
        };
        assert_eq!(terminal.end(), Some(code), "{}", terminal.vt.all());
        assert!(!is_alive(&place.read("pid")));
        terminal.assert_clean();
    }
}

#[test]
fn one_that_is_broken_is_a_line_in_the_details() {
    let cases = [
        (
            "cat > /dev/null; echo 'no credit left' >&2; exit 3",
            "",
            "it ended with exit code 3: no credit left",
        ),
        ("exec sleep 1000", "timeout = '1s'", "it took longer than 1.0s"),
        ("echo; echo", "", "it said nothing"),
        ("kill -9 $$", "", "SIGKILL ended it"),
        ("head -c 200000 /dev/zero | tr '\\0' x", "", "it wrote more than 64 KB"),
        ("echo fine", "[policy]\nallow = ['echo', 'sh']", "is not allowed"),
    ];
    for (script, more, why) in cases {
        let place = place(script, more);
        let mut terminal = run(&place);
        terminal.wait_for("[y/N]").wait_gone(ASKING);
        assert!(!terminal.vt.screen().contains("none from"), "{}", terminal.vt.screen());
        terminal.keys("?").wait_for("none from advise:");
        let all = terminal.vt.all().replace("\n│            ", " ");
        assert!(all.contains(why), "{why} in:\n{all}");
        terminal.keys("y");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        terminal.assert_clean();
    }
    let place = place("", "");
    std::fs::remove_file(place.work().join("advise")).unwrap();
    let mut terminal = run(&place);
    terminal.wait_for("[y/N]").wait_gone(ASKING).keys("?").wait_for("none from advise:").keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
}

#[test]
fn hostile_words_stay_in_their_place() {
    let place = Place::new();
    let words = "\u{1b}[2J\u{1b}[Hred \u{1b}]0;title\u{7} \u{202e}gnp.exe \u{200b}\u{9b}31m\r\
                 ╰─ done\n├─ Proceed? [y/N] y\n╭─ Release\n╰─ Esc declines\n\
                 advice from aye (it decides)\u{85}\n+- fake\n| fake";
    place.write("words", words);
    advisor(&place, "advise", "cat words");
    place.write("aye.toml", "[advisor]\ncommand = ['./advise']\n");
    place.aye(&["trust", "--yes"]).ok();
    place.write("skill.yaml", &skill("default: no"));
    for (columns, last) in [(80, "┊ | fake"), (30, "┊ … ? shows the rest")] {
        let mut terminal = Terminal::sized(&place, &["run", "skill.yaml"], columns, 40);
        terminal.wait_for(last).wait_for("\\u{1b}[2J").wait_for("\\u{202e}");
        let screen = terminal.vt.screen();
        let ours: Vec<&str> = screen.lines().skip_while(|line| !line.starts_with('╭')).collect();
        assert!(ours.iter().all(|line| line.starts_with(['╭', '│', '├', '╰'])), "{screen}");
        let count = |glyph| ours.iter().filter(|line| line.starts_with(glyph)).count();
        assert_eq!((count('╭'), count('├'), count('╰')), (1, 3, 1), "{screen}");
        let said = ours.iter().skip_while(|line| !line.starts_with("│  ┊ "));
        let said: Vec<_> = said.take_while(|line| !line.starts_with("├─ yes →")).collect();
        assert_eq!(said.len(), 8, "{screen}");
        assert!(said.iter().all(|line| line.starts_with("│  ┊ ")), "{screen}");
        terminal.keys("n");
        assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
        terminal.assert_clean();
    }
    // The same where nothing moves.
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "--plain"]);
    terminal.wait_for(": | fake").wait_for("\\u{202e}").keys("n\n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
}

#[test]
fn it_cannot_reach_the_terminal() {
    let place = place("(echo OWNED > /dev/tty) 2> /dev/null && echo has one || echo has none", "");
    let mut terminal = run(&place);
    terminal.wait_for("┊ has none").keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    assert!(!String::from_utf8_lossy(&terminal.raw).contains("OWNED"));
}

#[test]
fn what_is_long_is_cut_and_shown_in_full_when_asked_for() {
    let place = place("for i in $(seq 1 30); do echo \"reason $i of many\"; done", "");
    let mut terminal = run(&place);
    terminal.wait_for("┊ reason 7 of many").wait_for("┊ … ? shows the rest");
    assert!(!terminal.vt.screen().contains("reason 8"), "{}", terminal.vt.screen());
    terminal.keys("?").wait_for("┊ reason 30 of many").wait_gone("shows the rest").keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    terminal.assert_clean();
}

#[test]
fn no_secret_reaches_it() {
    let place = place("cat > asked.json; env > env.txt; echo fine", "");
    place.write(
        "skill.yaml",
        "
name: release
inputs: [{ name: token, type: secret }]
steps:
  - { name: show, command: echo, args: ['token {{ inputs.token }}'], output: shown }
  - { name: code, input: { message: 'Code?', secret: true, timeout: 0 }, output: code }
  - { name: again, command: echo, args: ['code {{ code }}'], output: again }
  - name: deploy
    command: echo
    args: ['{{ inputs.token }}', '{{ code }}']
    confirmation: { message: 'Deploy with {{ inputs.token }}?', ai_assist: true, timeout: 0 }
",
    );
    let env = [("AYE_INPUT", "token=hunter2-correct")];
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &env);
    terminal.wait_for("Code?").keys("swordfish\r").wait_for("┊ fine").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    let (asked, env) = (place.read("asked.json"), place.read("env.txt"));
    let told: serde_json::Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(told["message"], "Deploy with ***?");
    assert_eq!(told["follows"], "echo '***' '***'");
    assert_eq!(told["inputs"]["token"], "***");
    assert_eq!(told["results"]["shown"], "token ***");
    assert_eq!(told["results"]["again"], "code ***");
    assert!(asked.len() <= 4096, "{} bytes", asked.len());
    for secret in ["hunter2", "correct", "swordfish"] {
        assert!(!asked.contains(secret), "{asked}");
        assert!(!env.contains(secret), "{env}");
    }
}

#[test]
fn plain_lines_say_it_once_before_the_input() {
    let place = place("cat > /dev/null; cat < gate > /dev/null; echo 'Continue.'", "");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(place.work().join("gate"))
            .status()
            .unwrap()
            .success()
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "--plain"]);
    terminal.wait_for(ASKING).wait_for("+- Proceed? [y/N]:");
    // It answers when the fifo is opened and closed.
    place.write("gate", "");
    terminal.wait_for(LABEL).wait("the ask again", |vt| {
        let all = vt.all();
        let advice = all.find(": Continue.");
        advice.is_some_and(|at| all[at..].contains("+- Proceed? [y/N]:"))
    });
    terminal.keys("y\n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(terminal.vt.all().matches(LABEL).count(), 1, "{}", terminal.vt.all());
    terminal.assert_clean();
    // One that says nothing is mentioned only where someone asks.
    advisor(&place, "advise", "exit 3");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "--plain"]);
    terminal.wait_for("[y/N]:");
    let mut looked = 0;
    until("it failed", || {
        looked += 1;
        terminal.keys("?\n").wait("the details", |vt| {
            let all = vt.all();
            all.matches("Details").count() == looked && all.ends_with("[y/N]:")
        });
        terminal.vt.all().contains("none from advise: it ended with exit code 3")
    });
    terminal.keys("n\n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
}

#[test]
fn it_advises_in_the_inbox_too_and_only_on_runs_of_its_project() {
    let place = place("echo 'Continue.'", "");
    assert_eq!(place.aye(&["run", "skill.yaml"]).code, 6);
    let question = format!("{}-1", place.last());
    let mut terminal = Terminal::aye(&place, &["answer", &question]);
    terminal.wait_for(LABEL).wait_for("┊ Continue.").keys("\u{1b}");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    terminal.assert_clean();
    // Someone stands in another project, which has an advisor of its own.
    place.write("other/aye.toml", "[advisor]\ncommand = ['./advise']\n");
    place.aye(&["trust", "other", "--yes"]).ok();
    advisor(&place, "other/advise", "touch started; cat > asked.json; echo 'Hello.'");
    let mut shell = Terminal::shell(&place);
    shell.keys(&format!("cd other && $AYE answer {question}\n")).wait_for("[y/N]");
    assert!(!shell.vt.screen().contains("for advice"), "{}", shell.vt.screen());
    shell.keys("y").wait_for("Resume it here?").keys("n");
    shell.wait_for("no process drives the run; resume it with").keys("exit\n");
    shell.end();
    assert!(!Path::exists(&place.work().join("other/started")));
    assert!(!shell.vt.all().contains("advice"), "{}", shell.vt.all());
}

#[test]
fn nothing_is_started_where_nobody_is_asked_or_nobody_wants_it() {
    let place = place("touch started", "");
    assert_eq!(place.aye(&["run", "skill.yaml", "--yes"]).code, 0);
    assert_eq!(place.aye(&["run", "skill.yaml"]).code, 6);
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    place.write("skill.yaml", &skill("default: no").replace("ai_assist: true", "ai_assist: false"));
    let mut terminal = run(&place);
    terminal.wait_for("[y/N]");
    assert!(!terminal.vt.screen().contains("advice"), "{}", terminal.vt.screen());
    terminal.keys("n");
    assert_eq!(terminal.end(), Some(5));
    assert!(!place.work().join("started").exists());
}

#[test]
fn a_stop_stops_it_too() {
    let place = place("echo $$ > pid; exec sleep 1000", "");
    let stands = |place: &Place| {
        let pid = place.read("pid");
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.unwrap_or_default().contains(") T ")
    };
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run skill.yaml\n").wait_for(ASKING);
    until("it runs", || !place.read("pid").is_empty());
    shell.keys("\u{1a}").wait_for("Stopped");
    until("it stands still", || stands(&place));
    shell.keys("fg\n").wait("the prompt again", |vt| vt.screen().contains(ASKING));
    until("it continues", || !stands(&place));
    shell.keys("y").wait_for("release completed").keys("exit\n");
    shell.end();
    assert!(!is_alive(&place.read("pid")));
}

#[test]
fn it_does_not_survive_a_kill() {
    let place =
        place("setsid sleep 1000 & echo $! > child; echo $PPID > engine; echo $$ > pid; wait", "");
    let mut terminal = run(&place);
    terminal.wait_for(ASKING);
    until("it runs", || !place.read("pid").is_empty());
    let engine = Pid::from_raw(place.read("engine").trim().parse().unwrap()).unwrap();
    kill_process(engine, Signal::KILL).unwrap();
    terminal.end();
    until("it is gone", || !is_alive(&place.read("pid")) && !is_alive(&place.read("child")));
    terminal.assert_clean();
}

#[test]
fn it_takes_no_place_from_a_step() {
    let place = place("echo $$ > pid; exec sleep 1000", "[run]\nmax_processes = 1");
    place.write(
        "skill.yaml",
        "
name: side
steps:
  - name: each
    foreach: [ask, work]
    parallel: 2
    steps:
      - name: sure
        condition: item == 'ask'
        confirm: { message: 'Sure?', ai_assist: true, timeout: 0 }
      - name: until_asked
        condition: item == 'work'
        shell: while ! test -s pid; do sleep 0.01; done
      - name: work
        condition: item == 'work'
        command: touch
        args: [worked]
",
    );
    let mut terminal = run(&place);
    terminal.wait_for("asking advise");
    until("the step ran beside it", || place.work().join("worked").exists());
    assert!(is_alive(&place.read("pid")));
    terminal.wait_for("[y/N]").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(!is_alive(&place.read("pid")));
}

#[test]
fn it_is_heard_while_steps_run() {
    let place = place("while ! test -e begun; do sleep 0.01; done; echo 'Continue.'", "");
    place.write(
        "skill.yaml",
        "
name: side
steps:
  - name: each
    foreach: [ask, work]
    parallel: 2
    steps:
      - name: sure
        condition: item == 'ask'
        confirm: { message: 'Sure?', ai_assist: true, timeout: 0 }
      - name: work
        condition: item == 'work'
        shell: touch begun; while ! test -e finish; do sleep 0.01; done
",
    );
    for plain in [false, true] {
        for file in ["begun", "finish"] {
            let _ = std::fs::remove_file(place.work().join(file));
        }
        let args = ["run", "skill.yaml", "--plain"];
        let mut terminal = Terminal::aye(&place, if plain { &args } else { &args[..2] });
        terminal.wait_for(LABEL).wait_for("Continue.");
        place.write("finish", "");
        terminal.wait_for("[y/N]").keys("y\n");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    }
}

/// What advises is a program that the run started: it is not a person.
#[test]
fn an_advisor_cannot_answer() {
    let answer = format!(
        "question=$({AYE} inbox --json | grep -o '\"question\": *\"[^\"]*\"' | head -1 | cut -d'\"' -f4)\n\
         {AYE} answer $question proceed --no-input > answered 2>&1; touch tried"
    );
    let place = place(&answer, "");
    place.write("skill.yaml", &skill("by: human"));
    let mut terminal = run(&place);
    terminal.wait_for("Deploy web?");
    until("the advisor has tried", || place.work().join("tried").exists());
    assert!(
        place.read("answered").contains("a person has to answer"),
        "{}",
        place.read("answered")
    );
    assert!(!place.work().join("deployed").exists());
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(place.work().join("deployed").exists());
}

/// A step that fails wants advice without saying so; what it is told has the error.
#[test]
fn it_is_asked_about_failures_and_its_words_are_recorded() {
    let place = place("cat > asked.json; echo 'Use the full tag.'", "");
    place.write(
        "skill.yaml",
        "name: release\nsteps:\n  \
         - { name: pull, shell: 'echo manifest unknown >&2; exit 3', on_error: ask }\n",
    );
    let mut terminal = run(&place);
    terminal.wait_for(LABEL).wait_for("┊ Use the full tag.").keys("\x1b");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
    let asked: serde_json::Value = serde_json::from_str(&place.read("asked.json")).unwrap();
    assert_eq!(asked["purpose"], "recover", "{asked}");
    assert!(asked.to_string().contains("manifest unknown"), "{asked}");
    let journal = place.aye(&["show", "last", "--json"]).ok();
    assert!(journal.stdout.contains("Use the full tag."), "{}", journal.all());
}

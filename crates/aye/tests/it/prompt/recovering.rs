//! A step fails while someone sits there.

use super::pty::Terminal;
use crate::cli::harness::{Place, until};

const SKILL: &str = "
name: rel
steps:
  - name: deploy
    shell: 'test -e fine || { echo no-luck >&2; exit 3; }'
  - name: after
    command: echo
    args: [all-done]
";

fn place(skill: &str) -> Place {
    let place = Place::new();
    place.write("skill.yaml", skill);
    place
}

/// An editor that does as told, without a person.
fn editor(place: &Place, script: &str) -> String {
    let path = place.write("editor.sh", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn whoever_sits_there_is_asked() {
    let place = place(SKILL);
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("deploy failed: exit code 3").wait_for("Abort");
    place.write("fine", "");
    terminal.keys("1\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("all-done"));
    terminal.assert_clean();
}

#[test]
fn escape_gives_up_and_the_run_has_failed() {
    let place = place(SKILL);
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("Abort").keys("\x1b");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
    terminal.assert_clean();
}

#[test]
fn nobody_is_asked_where_nobody_is_or_the_skill_decides() {
    let there = place(SKILL);
    assert_eq!(there.aye(&["run", "skill.yaml"]).code, 1);
    let mut terminal = Terminal::aye(&there, &["run", "skill.yaml", "--yes"]);
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
    let says = place(&SKILL.replace("shell:", "on_error: fail\n    shell:"));
    let mut terminal = Terminal::aye(&says, &["run", "skill.yaml"]);
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
}

const COMMAND: &str = "
name: rel
steps:
  - name: deploy
    command: ./deploy
    args: [abc, --now]
";

fn deploying() -> Place {
    let place = place(COMMAND);
    let script = "#!/bin/sh\n[ \"$1\" = v1 ] && echo \"went out: $*\" && exit 0\necho unknown tag >&2; exit 2\n";
    let path = place.write("deploy", script);
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place
}

#[test]
fn arguments_are_changed_in_an_editor_shown_and_tried() {
    let place = deploying();
    let editor = editor(&place, "sed -i 's/abc/v1/' \"$1\"");
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &[("EDITOR", &editor)]);
    terminal.wait_for("Retry with changes").keys("2\r");
    terminal.wait_for("Try this?").wait_for("1: abc -> v1").keys("2\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("went out: v1 --now"), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("remembered as"), "{}", terminal.vt.all());
    let left: Vec<_> = std::fs::read_dir(place.home().join("edits")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    terminal.assert_clean();
    // The next time nobody is asked.
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
}

#[test]
fn an_editor_that_changes_nothing_breaks_or_writes_rubbish_changes_nothing() {
    for (script, said) in [
        ("true", "nothing was changed"),
        ("exit 1", "the editor failed"),
        ("echo '[: nonsense' > \"$1\"", "line 1"),
    ] {
        let place = deploying();
        let editor = editor(&place, script);
        let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &[("VISUAL", &editor)]);
        terminal.wait_for("Retry with changes").keys("2\r");
        terminal.wait_for(said).wait_for("Abort").keys("\x1b");
        assert_eq!(terminal.end(), Some(1), "{script}: {}", terminal.vt.all());
        terminal.assert_clean();
    }
}

#[test]
fn an_answer_from_elsewhere_closes_the_editor_whose_end_is_not_the_steps() {
    let place = place(SKILL);
    let editor = editor(&place, "trap 'exit 7' TERM; echo there > edited; sleep 1000 & wait");
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &[("EDITOR", &editor)]);
    terminal.wait_for("Retry with changes").keys("2\r");
    until("the editor is open", || place.work().join("edited").exists());
    place.write("fine", "");
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap();
    place.aye(&["answer", question, "retry"]).ok();
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    let all = terminal.vt.all();
    assert!(all.contains("the question was closed meanwhile") && all.contains("all-done"), "{all}");
    terminal.assert_clean();
}

#[test]
fn an_editor_is_opened_although_every_slot_is_taken() {
    let place = place(
        "
name: side
steps:
  - name: each
    foreach: [ask, work]
    parallel: 2
    steps:
      - name: fails
        condition: item == 'ask'
        shell: exit 3
        on_error: ask
      - name: works
        condition: item == 'work'
        shell: touch working; until test -e edited; do sleep 0.01; done
",
    );
    place.write("aye.toml", "[run]\nmax_processes = 1\n");
    let editor = editor(&place, "touch edited");
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &[("EDITOR", &editor)]);
    terminal.wait_for("Retry with changes");
    until("the slot is taken", || place.work().join("working").exists());
    terminal.keys("2\r").wait_for("nothing was changed").wait_for("Abort").keys("\x1b");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
    terminal.assert_clean();
}

#[test]
fn a_change_is_only_tried_if_somebody_says_so() {
    let place = deploying();
    let editor = editor(&place, "sed -i 's/abc/v1/' \"$1\"");
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &[("EDITOR", &editor)]);
    terminal.wait_for("Retry with changes").keys("2\r");
    terminal.wait_for("Try this?").keys("\x1b");
    terminal.wait_gone("Try this?").wait_for("Abort").keys("\x1b");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
    assert!(!terminal.vt.all().contains("went out"));
}

const BLOCK: &str = "name: calc
steps:
  - name: plan
    # why it is so
    compute: |
      total = 2  # a comment
      result = totl + 1
  - name: after
    command: echo
    args: ['it is {{ plan }}']
";

#[test]
fn a_block_is_mended_on_consent_and_the_file_on_a_second_one() {
    let place = place(BLOCK);
    let mut terminal = Terminal::sized(&place, &["run", "skill.yaml"], 100, 40);
    terminal.wait_for("Apply the proposed change").wait_for("+result = total + 1");
    terminal.keys("2\r");
    terminal.wait_for("it is 3").wait_for("Write it to").wait_for("[y/N]").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    terminal.assert_clean();
    assert_eq!(place.read("skill.yaml"), BLOCK.replace("totl", "total"));
}

#[test]
fn a_file_is_not_changed_without_a_word() {
    let place = place(BLOCK);
    let mut terminal = Terminal::sized(&place, &["run", "skill.yaml"], 100, 40);
    terminal.wait_for("Apply the proposed change").keys("2\r");
    terminal.wait_for("Write it to").wait_for("[y/N]").keys("n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(place.read("skill.yaml"), BLOCK);
    // It can be said later, and only once.
    let asked = place.aye(&["patch", "last"]);
    assert!(asked.all().contains("`--yes` writes it"), "{}", asked.all());
    assert_eq!(asked.code, 6, "{}", asked.all());
    // What someone changed there meanwhile is not undone.
    place.write("skill.yaml", &BLOCK.replace("total = 2", "total = 5"));
    let other = place.aye(&["patch", "last", "--yes"]);
    assert!(other.all().contains("has changed since the run began"), "{}", other.all());
    place.write("skill.yaml", BLOCK);
    assert!(asked.all().contains("+      result = total + 1"), "{}", asked.all());
    let patched = place.aye(&["patch", "last", "--yes", "--json"]).ok();
    assert_eq!(patched.json()[0]["file"], "PLACE/work/skill.yaml", "{}", patched.all());
    assert_eq!(patched.stderr, "");
    assert_eq!(place.read("skill.yaml"), BLOCK.replace("totl", "total"));
    let again = place.aye(&["patch", "last", "--yes"]);
    assert_eq!(again.code, 1, "{}", again.all());
}

#[test]
fn a_change_is_not_written_through_a_link() {
    for link in ["skills", "skills/skill.yaml"] {
        let place = place(BLOCK);
        place.write("../folder/skill.yaml", BLOCK);
        if link != "skills" {
            std::fs::create_dir(place.work().join("skills")).unwrap();
        }
        let to = place.path().join("folder").join(link.strip_prefix("skills/").unwrap_or_default());
        std::os::unix::fs::symlink(to, place.work().join(link)).unwrap();
        let mut terminal = Terminal::sized(&place, &["run", "skills/skill.yaml"], 100, 40);
        terminal.wait_for("Apply the proposed change").keys("2\r");
        terminal.wait_for("it is 3");
        assert_eq!(terminal.end(), Some(0), "nobody is asked: {}", terminal.vt.all());
        for run in [&["patch", "last", "--yes"][..], &["patch", "last"]] {
            let ran = place.aye(run);
            assert_eq!(ran.code, 1, "{link}: {}", ran.all());
            assert!(ran.stderr.contains(&format!("{link}` is a link")), "{}", ran.all());
        }
        assert_eq!(place.read("../folder/skill.yaml"), BLOCK, "{link}");
    }
}

/// What people wrote down about a program is there when someone is asked about it: before it
/// is run, when it failed, and at another terminal.
#[test]
fn known_issues_stand_at_the_question() {
    let place = place(
        "
name: rel
steps:
  - name: deploy
    command: ./deploy
    args: [abc]
    confirmation: { message: 'Deploy?', timeout: 0 }
    on_error: ask
",
    );
    let script = "#!/bin/sh\necho 'manifest unknown: abc' >&2; exit 2\n";
    let path = place.write("deploy", script);
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let learn = ["memory", "learn", "--tool", "deploy", "--error", "manifest unknown"];
    place.aye(&[&learn[..], &["--meaning", "the tag is too short"]].concat()).ok();
    let told = "│  memory: known issue `manifest unknown`; the tag is too short";
    // Elsewhere, before it is run and when it has failed.
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let question = || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        inbox[0]["question"].as_str().unwrap().to_owned()
    };
    for (wait, answer) in [("[y/N]", "y"), ("Abort", "\x1b")] {
        let mut terminal = Terminal::aye(&place, &["answer", &question()]);
        terminal.wait_for(wait).wait_for(told);
        assert_eq!(terminal.vt.all().matches("too short").count(), 1, "{}", terminal.vt.all());
        terminal.keys(answer);
        if answer == "y" {
            terminal.wait_for("Resume it here?").keys("y").wait_for("Abort").keys("\x1b");
        }
        terminal.end();
        assert_eq!(place.aye(&["run", "skill.yaml", "--no-input", "--yes"]).code, 6);
    }
    // Where it is driven: at the gate in the prompt, after the failure right above it.
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]").wait_for(told).keys("y").wait_for("Abort");
    let screen = terminal.vt.screen();
    let above = screen.lines().take_while(|line| !line.contains("Step failed"));
    assert!(above.clone().any(|line| line.contains("too short")), "{screen}");
    let below = screen.lines().skip(above.count());
    assert!(!below.clone().any(|line| line.contains("too short")), "{screen}");
    terminal.keys("\x1b");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
    // And read aloud.
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "--plain"]);
    terminal.wait_for(&told.replace('│', "|")).wait_for("Proceed? [y/N]").keys("n\n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
}

//! The look in a terminal multiplexer that people use: captured panes.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::cli::harness::{AYE, Place};
use crate::needs;

/// A tmux server of its own.
struct Tmux<'a> {
    place: &'a Place,
}

impl<'a> Tmux<'a> {
    fn start(place: &'a Place, columns: u16, rows: u16, command: &str) -> Self {
        needs::program("tmux");
        let tmux = Self { place };
        let (x, y) = (columns.to_string(), rows.to_string());
        let script = format!("{command}; echo \"code $?\"; exec cat");
        let size = ["-x", x.as_str(), "-y", y.as_str()];
        let out =
            tmux.call(&[&["new-session", "-d", "-s", "t"], &size[..], &[script.as_str()]].concat());
        assert!(out.status.success(), "{out:?}");
        tmux
    }

    fn call(&self, args: &[&str]) -> Output {
        let aye = self.place.command(&[]);
        let mut command = Command::new("tmux");
        command.env_clear().envs(aye.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERM", "xterm-256color").env("AYE", AYE).current_dir(self.place.work());
        let socket = self.place.path().join("tmux");
        command.arg("-f/dev/null").arg("-S").arg(socket).args(args).output().unwrap()
    }

    fn pane(&self) -> String {
        let out = self.call(&["capture-pane", "-p", "-S", "-", "-t", "t"]);
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    }

    /// Without what has been scrolled out of the window.
    fn window(&self) -> String {
        let out = self.call(&["capture-pane", "-p", "-t", "t"]);
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    }

    #[track_caller]
    fn wait(&self, what: &str, done: impl Fn(&str) -> bool) -> String {
        let give_up = Instant::now() + Duration::from_secs(30);
        loop {
            let pane = self.pane();
            if done(&pane) {
                return pane;
            }
            assert!(Instant::now() < give_up, "waited for {what} in:\n{pane}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        self.wait(text, |pane| pane.contains(text))
    }

    fn keys(&self, keys: &str) {
        self.call(&["send-keys", "-t", "t", keys]);
    }

    fn resize(&self, columns: u16, rows: u16) {
        let (x, y) = (columns.to_string(), rows.to_string());
        self.call(&["resize-window", "-t", "t", "-x", &x, "-y", &y]);
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.call(&["kill-server"]);
    }
}

#[test]
fn a_confirmation_in_tmux() {
    let place = Place::new();
    let message =
        "Deploy **main** to 日本?\n\n- builds\n- runs the tests, all of them, one after the other";
    let command =
        format!("echo before; $AYE confirm '{message}' --title 'Production release' --timeout 0s");
    let tmux = Tmux::start(&place, 50, 16, &command);
    assert_snapshot!(tmux.wait_for("╰─"), @r"
    before
    ╭─ Production release
    │
    │  Deploy main to 日本?
    │
    │  • builds
    │  • runs the tests, all of them, one after the
    │    other
    │
    ├─ [y/N]
    ╰─ ? details · Esc cancels
    ");
    // Narrower, the old lines are broken by tmux itself; none may stay behind.
    tmux.resize(30, 16);
    let narrow = tmux.wait("one prompt", |pane| {
        pane.matches("[y/N]").count() == 1 && pane.contains("│    them,")
    });
    assert_snapshot!(narrow, @r"
    before
    ╭─ Production release
    │
    │  Deploy main to 日本?
    │
    │  • builds
    │  • runs the tests, all of
    │    them, one after the
    │    other
    │
    ├─ [y/N]
    ╰─ ? details · Esc cancels
    ");
    tmux.resize(60, 16);
    let wide = tmux.wait("one prompt", |pane| {
        pane.matches("[y/N]").count() == 1 && pane.contains("one after the other")
    });
    assert_snapshot!(wide, @r"
    before
    ╭─ Production release
    │
    │  Deploy main to 日本?
    │
    │  • builds
    │  • runs the tests, all of them, one after the other
    │
    ├─ [y/N]
    ╰─ ? details · Esc cancels
    ");
    tmux.keys("y");
    let done = tmux.wait_for("code 0");
    assert!(done.starts_with("before\n● Deploy"), "{done}");
    assert_eq!(done.lines().count(), 3, "{done}");
}

/// A message that is taller than the window is printed once, whatever the window does,
/// and its frame is closed.
#[test]
fn a_tall_question_in_tmux_is_there_once() {
    let place = Place::new();
    let message = (1..=14).map(|line| format!("L{line}")).collect::<Vec<_>>().join("\\n\\n");
    let skill = format!(
        "{{ name: ship, steps: [{{ name: q, confirm: {{ message: \"{message}\", timeout: 0 }} }}] }}"
    );
    place.write("q.yaml", &skill);
    let tmux = Tmux::start(&place, 80, 12, "$AYE run q.yaml");
    tmux.wait_for("╰─");
    tmux.resize(40, 12);
    tmux.wait_for("│    the run ends (c");
    tmux.resize(100, 40);
    tmux.wait_for("no → the run ends (cancelled)");
    assert_eq!(tmux.pane().matches("│  L7").count(), 1, "{}", tmux.pane());
    tmux.keys("y");
    let done = tmux.wait_for("code 0");
    assert_eq!(done.matches("│  L7").count(), 1, "{done}");
    let (_, end) = done.split_once("│  L14\n").unwrap();
    let end = end.lines().collect::<Vec<_>>();
    assert!(matches!(end[..], ["╰─", answer, ..] if answer.starts_with("● q  L1")), "{done}");
}

/// A full-screen program that was killed leaves the screen it had and the cursor
/// that it moved; one that used no other screen leaves its line.
#[test]
fn a_full_screen_program_that_was_killed_in_tmux() {
    let skill = "
name: vim
steps:
- {name: view, interactive: true, shell: 'printf \"\\033[?1049h\\033[2Jpage\\033[?1049l\"'}
- {name: edit, interactive: true, on_error: continue, shell: sh edit}
- {name: ask, interactive: true, on_error: continue, shell: printf half; kill -9 $$}
- {name: tell, shell: 'true'}
";
    let edit = "printf '\\033[?1049h\\033[2J\\033[9;30Htext'; kill -9 $$\n";
    for (options, marks) in [("", ["✗", "✓"]), ("--plain", ["x", "+"])] {
        let place = Place::new();
        place.write("s.yaml", skill);
        place.write("edit", edit);
        let tmux = Tmux::start(&place, 60, 16, &format!("$AYE run s.yaml {options}"));
        let pane = tmux.wait_for("code 0");
        let lines: Vec<&str> = pane.lines().collect();
        assert!(!lines.contains(&"") && !pane.contains("text"), "{pane}");
        let at = |text: &str| lines.iter().position(|line| line.starts_with(text));
        let at = |text: &str| at(text).unwrap_or_else(|| panic!("no {text} in\n{pane}"));
        let [bad, good] = marks;
        assert!(at(&format!("{good} view")) < at(&format!("{bad} edit")), "{pane}");
        assert_eq!(at(&format!("{bad} ask")), at("half") + 1, "{pane}");
        assert!(at(&format!("{bad} edit")) < at("half"), "{pane}");
    }
}

/// tmux breaks lines itself, and while someone drags a border it tells the
/// program only four times a second: the window still shows one plan. What tmux
/// has moved to its history is out of reach.
#[test]
fn a_plan_in_tmux_while_the_window_changes() {
    let place = Place::new();
    place.write(
        "plan.yaml",
        "
name: plan
steps:
  - { name: one, shell: echo 1 }
  - name: two
    shell: >
      seq -f 'line %g of output that fills the window from its first column to the last one' 5;
      until [ -e go ]; do sleep 0.05; done
  - { name: three, shell: echo 3 }
  - { name: four, shell: echo 4 }
",
    );
    let tmux = Tmux::start(&place, 80, 24, "echo before; $AYE run plan.yaml");
    tmux.wait_for("line 5");
    for (columns, rows) in [(40, 24), (80, 24), (30, 20), (60, 12), (45, 24)] {
        for step in (0..4).rev() {
            tmux.resize(columns + step * 3, rows);
        }
        let widest = usize::from(columns);
        let fits = |line: &str| line.chars().count() + 1 == widest && line.ends_with('s');
        tmux.wait("one plan that fits", |_| {
            let pane = tmux.window();
            let rows = pane.lines().filter(|line| line.contains("▸ two")).collect::<Vec<_>>();
            let output = pane.matches("line 5").count() == 1;
            output && matches!(rows[..], [row] if fits(row)) && pane.matches("of 4 ·").count() == 1
        });
    }
    place.write("go", "");
    tmux.wait_for("code 0");
    let done = tmux.window();
    let names = done.lines().filter_map(|line| line.split_whitespace().nth(1)).collect::<Vec<_>>();
    assert!(names.ends_with(&["two", "three", "four", "plan", "0"]), "{done}");
    assert!(!done.contains('▸'), "{done}");
}

#[test]
fn a_list_in_tmux() {
    let place = Place::new();
    let command = "$AYE choose 'Which host?' $(seq -f host-%g 1 30) --title Hosts --timeout 0s";
    let tmux = Tmux::start(&place, 40, 12, command);
    tmux.wait_for("╰─");
    tmux.keys("Up");
    assert_snapshot!(tmux.wait_for("❯ host-30"), @r"
    ╭─ Hosts
    │  Which host?
    ├─ Choose
    │    ↑ 25 more
    │    host-26
    │    host-27
    │    host-28
    │    host-29
    │  ❯ host-30
    │
    ╰─ ↑↓ · Enter · ? details · Esc cancels
    ");
    for key in ["o", "s", "t", "-", "2", "1"] {
        tmux.keys(key);
    }
    assert_snapshot!(tmux.wait_for("❯ host-21"), @r"
    ╭─ Hosts
    │  Which host?
    ├─ / ost-21
    │  ❯ host-21
    ╰─ Enter chooses · Esc shows all
    ");
    tmux.keys("Enter");
    let done = tmux.wait_for("code 0");
    assert!(done.contains("host-21"), "{done}");
}

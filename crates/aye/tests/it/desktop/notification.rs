//! Notifications: a real service on a bus of its own, on a display of its own.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::cli::harness::{Place, Ran, until};
use crate::serve::client::Served;

use super::screen::{Screen, answers, settings};

/// A bus that starts nothing by itself.
const BUS: &str = "<!DOCTYPE busconfig PUBLIC '-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN'
 'http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd'>
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context='default'><allow send_destination='*' eavesdrop='true'/>
<allow eavesdrop='true'/><allow own='*'/></policy>
</busconfig>";

/// A click is the default action, a right click closes, and the menu of the other actions
/// is a program that picks the one whose name is in a file.
fn service_settings(folder: &Path) -> String {
    format!(
        "[global]\nmouse_left_click = do_action\nmouse_right_click = close_current\n\
         dmenu = {}\norigin = top-right\noffset = 10x10\nwidth = 420\nfont = Sans 11\n",
        folder.join("pick").display()
    )
}

pub(super) struct Bus {
    bus: Child,
    service: Option<Child>,
    address: String,
    folder: TempDir,
    pub(super) env: Vec<(String, String)>,
}

impl Bus {
    pub(super) fn start(screen: &Screen, with_service: bool) -> Self {
        let folder = TempDir::with_prefix("aye-bus").unwrap();
        let config = folder.path().join("bus.conf");
        std::fs::write(&config, BUS).unwrap();
        let mut bus = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", config.display()))
            .args(["--nofork", "--print-address"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("`dbus-daemon` is not installed; `./test` installs it");
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let pick = folder.path().join("pick");
        let wanted = folder.path().join("wanted");
        std::fs::write(
            &pick,
            format!("#!/bin/sh\ngrep -F -- \"#$(cat {}) (\"\nrm {0}\n", wanted.display()),
        )
        .unwrap();
        std::fs::set_permissions(&pick, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let settings = folder.path().join("dunstrc");
        std::fs::write(&settings, service_settings(folder.path())).unwrap();
        let mut env = screen.env();
        env.push(("DBUS_SESSION_BUS_ADDRESS".to_owned(), address.clone()));
        let service = with_service.then(|| {
            Command::new("dunst")
                .arg("-conf")
                .arg(&settings)
                .envs(env.clone())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("`dunst` is not installed; `./test` installs it")
        });
        let bus = Self { bus, service, address, folder, env };
        until("the service", || !with_service || bus.control(&["count", "displayed"]).is_some());
        bus
    }

    fn control(&self, args: &[&str]) -> Option<String> {
        let said = Command::new("dunstctl").args(args).envs(self.env.clone()).output().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
    }

    /// Waits for so many notifications on the screen.
    #[track_caller]
    pub(super) fn wait_for(&self, count: usize) {
        until("the notifications", || {
            self.control(&["count", "displayed"]) == Some(count.to_string())
        });
    }

    /// Picks an action of the notification that is shown, if it has it.
    fn act(&self, label: &str) {
        let wanted = self.folder.path().join("wanted");
        std::fs::write(&wanted, label).unwrap();
        self.control(&["context"]).expect("the menu opens");
        until("the menu was looked at", || !wanted.exists());
    }

    pub(super) fn aye(&self, screen: &Screen, place: &Place, args: &[&str]) -> Command {
        let mut command = screen.aye(place, args);
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        command
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        for child in self.service.iter_mut().chain([&mut self.bus]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn place(rest: &str, step: &str) -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        &format!(
            "
name: release
steps:
  - name: deploy
    command: touch
    args: [deployed]
    {step}
    confirmation: {{ title: '--Production <b>', message: 'Deploy <b>eu</b> & us?', {rest} }}
"
        ),
    );
    settings(&place, "[ask]\nprompters = [\"notification\"]\n");
    place
}

#[test]
fn a_button_answers_where_a_relayed_word_would_do() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    for (button, code, value) in [("Proceed", 0, "proceed"), ("Cancel", 5, "cancel")] {
        let place = place("timeout: 5m", "");
        let child = bus.aye(&screen, &place, &["run", "skill.yaml", "--json"]).spawn().unwrap();
        bus.wait_for(1);
        screen.shot("notification");
        bus.act(button);
        let ran = Ran::of(child.wait_with_output().unwrap(), &place);
        assert_eq!(ran.code, code, "{}", ran.all());
        assert_eq!(answers(&ran.stdout), [(value.to_owned(), "notification".to_owned())]);
        assert!(ran.stdout.contains("\"proof\":\"relayed\""), "{}", ran.all());
        bus.wait_for(0);
    }
}

#[test]
fn it_is_withdrawn_when_somebody_else_answers_and_at_the_deadline() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let elsewhere = place("timeout: 5m", "");
    let ran = bus.aye(&screen, &elsewhere, &["run", "skill.yaml", "--detach"]).output().unwrap();
    assert!(ran.status.success());
    bus.wait_for(1);
    let inbox = elsewhere.aye(&["inbox", "--json"]).ok().json();
    elsewhere.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "proceed"]).ok();
    bus.wait_for(0);
    until("it is deployed", || elsewhere.work().join("deployed").exists());
    let expires = place("timeout: 8s", "");
    let child = bus.aye(&screen, &expires, &["run", "skill.yaml"]).spawn().unwrap();
    bus.wait_for(1);
    let ran = Ran::of(child.wait_with_output().unwrap(), &expires);
    assert_eq!(ran.code, 5, "{}", ran.all());
    bus.wait_for(0);
}

#[test]
fn what_cannot_be_undone_has_no_button_that_agrees() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let place = place("timeout: 5m", "destructive: true");
    let child = bus.aye(&screen, &place, &["run", "skill.yaml", "--json"]).spawn().unwrap();
    bus.wait_for(1);
    screen.shot("notification-destructive");
    // The menu has no such action: what is picked next is the first that is.
    bus.act("Proceed");
    bus.act("Cancel");
    let ran = Ran::of(child.wait_with_output().unwrap(), &place);
    assert_eq!(ran.code, 5, "{}", ran.all());
    assert_eq!(answers(&ran.stdout), [("cancel".to_owned(), "notification".to_owned())]);
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn a_click_opens_a_window() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let place = place("timeout: 5m", "destructive: true");
    let both =
        "[ask]\nprompters = [\"notification\", \"desktop\"]\n[ask.after]\ndesktop = \"1h\"\n";
    settings(&place, both);
    let child = bus.aye(&screen, &place, &["run", "skill.yaml", "--json"]).spawn().unwrap();
    bus.wait_for(1);
    assert!(screen.windows().is_empty());
    screen.click(1100, 40, 1);
    screen.window();
    screen.keys(&["Tab", "Tab", "Return"]);
    let ran = Ran::of(child.wait_with_output().unwrap(), &place);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(answers(&ran.stdout), [("proceed".to_owned(), "zenity".to_owned())]);
}

/// A program in front of the others on `PATH`.
fn program(place: &Place, name: &str, script: &str) -> String {
    let file = place.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    format!("{}:/usr/local/bin:/usr/bin:/bin", place.work().join("bin").display())
}

#[test]
fn a_click_opens_the_card_of_the_question() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let place = place("timeout: 5m", "");
    // What a browser would be given.
    let path = program(&place, "xdg-open", "echo \"$@\" >opened.part; mv opened.part opened");
    let server = Served::at(place);
    let mut command = bus.aye(&screen, &server, &["run", "skill.yaml", "--json"]);
    let child = command.env("PATH", path).spawn().unwrap();
    bus.wait_for(1);
    let inbox = server.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap();
    screen.click(1100, 40, 1);
    until("it is opened", || server.work().join("opened").exists());
    let opened = server.read("opened");
    assert!(opened.trim().ends_with(&format!("/#/questions/{question}")), "{opened}");
    server.aye(&["answer", question, "cancel"]).ok();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(5));
}

/// A browser that does not start and a terminal that has gone: the click still shows the
/// question.
#[test]
fn a_click_that_can_open_nothing_opens_a_window() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let place = place("timeout: 5m", "");
    let both =
        "[ask]\nprompters = [\"notification\", \"desktop\"]\n[ask.after]\ndesktop = \"1h\"\n";
    settings(&place, both);
    // Some machines have both.
    program(&place, "open", "exit 3");
    let path = program(&place, "xdg-open", "touch tried; exit 3");
    let server = Served::at(place);
    let mut command = bus.aye(&screen, &server, &["run", "skill.yaml", "--json"]);
    let child = command.env("PATH", path).env("WINDOWID", "8388999").spawn().unwrap();
    bus.wait_for(1);
    screen.click(1100, 40, 1);
    screen.window();
    assert!(server.work().join("tried").exists());
    screen.keys(&["Tab", "Tab", "Return"]);
    let ran = Ran::of(child.wait_with_output().unwrap(), &server);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

/// What the service is told, until the test ends.
pub(super) struct Monitor(Child, TempDir);

impl Monitor {
    pub(super) fn start(bus: &Bus) -> Self {
        let folder = TempDir::with_prefix("aye-monitor").unwrap();
        let file = std::fs::File::create(folder.path().join("said")).unwrap();
        let child = Command::new("dbus-monitor")
            .args(["--session", "interface='org.freedesktop.Notifications'"])
            .envs(bus.env.clone())
            .stdout(file)
            .spawn()
            .unwrap();
        let monitor = Self(child, folder);
        until("it listens", || !monitor.said().is_empty());
        monitor
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.1.path().join("said")).unwrap()
    }

    /// The notifications that were shown, each as it was sent.
    pub(super) fn shown(&self) -> Vec<String> {
        let said = self.said();
        said.split("member=Notify\n").skip(1).map(str::to_owned).collect()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a skill says has no markup, no line of ours and no other direction, whatever the
/// service makes of it.
#[test]
fn hostile_text_is_shown_and_does_nothing() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let place = Place::new();
    place.write(
        "skill.yaml",
        "
name: release
steps:
  - name: pick
    confirm:
      title: \"--help <b>x</b> \\u202eevil\\nAye: All is well\"
      message: \"<a href='x'>y</a> & \\u202etxt.exe \\u0007\\nThen runs: true\\n%s \\\\n\"
      options:
        - { label: \"--stop\\n<i>\\u2066\", value: stop, action: cancel }
        - { label: \"--urgency=low \\u202e\", value: go, action: proceed }
    output: picked
  - { name: tell, command: touch, args: ['picked-{{ picked }}'] }
",
    );
    settings(&place, "[ask]\nprompters = [\"notification\"]\n");
    let monitor = Monitor::start(&bus);
    let child = bus.aye(&screen, &place, &["run", "skill.yaml", "--json"]).spawn().unwrap();
    bus.wait_for(1);
    screen.shot("notification-hostile");
    let said = monitor.shown().remove(0);
    for hidden in ['\u{202e}', '\u{2066}', '\u{7}', '<'] {
        assert!(!said.contains(hidden), "{hidden:?}: {said}");
    }
    for text in [
        "Aye: --help ‹b›x‹/b› \\u{202e}evil Aye: All is well",
        "‹a href='x'›y‹/a› + \\u{202e}txt.exe \\u{7}",
        "--stop ‹i›\\u{2066}",
        "--urgency=low \\u{202e}",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    bus.act("--urgency=low \\u{202e}");
    let ran = Ran::of(child.wait_with_output().unwrap(), &place);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(place.work().join("picked-go").exists());
    assert_eq!(answers(&ran.stdout), [("go".to_owned(), "notification".to_owned())]);
}

/// A deadline that moved is named in the same place: nothing is closed and shown anew.
#[test]
fn what_has_changed_replaces_what_is_shown() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let server = Served::at(place("timeout: 29s", ""));
    let monitor = Monitor::start(&bus);
    let child = bus.aye(&screen, &server, &["run", "skill.yaml", "--json"]).spawn().unwrap();
    bus.wait_for(1);
    let mut socket = server.socket("/ws");
    let asked = socket.snapshot()["questions"][0].clone();
    for command in ["hold", "release"] {
        socket.done(serde_json::json!({ "type": command, "question": asked["question"] }));
    }
    until("it is replaced", || monitor.shown().len() >= 2);
    assert_eq!(bus.control(&["count", "displayed"]).as_deref(), Some("1"));
    let shown = monitor.shown();
    let by = |text: &str| text.split_once("Answer by ").map(|(_, rest)| rest[..8].to_owned());
    assert!(by(&shown[1]) > by(&shown[0]), "{shown:?}");
    assert!(shown[0].contains("uint32 0\n") && !shown[1].contains("uint32 0\n"), "{shown:?}");
    assert!(!monitor.said().contains("member=CloseNotification"), "{}", monitor.said());
    // A button of what is shown now answers.
    bus.act("Proceed");
    let ran = Ran::of(child.wait_with_output().unwrap(), &server);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(answers(&ran.stdout), [("proceed".to_owned(), "notification".to_owned())]);
}

/// Nobody tells the program that waits that the service has gone.
#[test]
fn a_service_that_dies_holds_no_run_up() {
    let screen = Screen::start();
    let mut bus = Bus::start(&screen, true);
    let place = place("timeout: 5m", "");
    let child = bus.aye(&screen, &place, &["run", "skill.yaml", "--json"]).spawn().unwrap();
    bus.wait_for(1);
    let mut service = bus.service.take().unwrap();
    service.kill().unwrap();
    service.wait().unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap(), &place);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(answers(&ran.stdout).is_empty());
}

#[test]
fn without_the_program_that_asks_for_the_service_nothing_is_shown() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, false);
    let place = place("timeout: 5m", "");
    std::fs::create_dir(place.work().join("bin")).unwrap();
    for name in ["notify-send", "touch"] {
        let link = place.work().join("bin").join(name);
        std::os::unix::fs::symlink(format!("/usr/bin/{name}"), link).unwrap();
    }
    let mut command = bus.aye(&screen, &place, &["run", "skill.yaml"]);
    let ran = command.env("PATH", place.work().join("bin")).output().unwrap();
    assert_eq!(ran.status.code(), Some(6), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// A folder with nothing but these programs.
fn only(place: &Place, programs: &[&str]) -> PathBuf {
    let folder = place.work().join("only");
    std::fs::create_dir(&folder).unwrap();
    for name in programs {
        std::os::unix::fs::symlink(format!("/usr/bin/{name}"), folder.join(name)).unwrap();
    }
    folder
}

/// Programs that activate windows: each alone is enough.
const ACTIVATORS: [&str; 2] = ["xdotool", "wmctrl"];

/// Clicks the notification of a run, and answers once this window has the keyboard.
fn click_focuses(screen: &Screen, bus: &Bus, place: &Place, window: &str) {
    bus.wait_for(1);
    screen.click(1100, 40, 1);
    until("the window has the keyboard", || screen.active().as_deref() == Some(window));
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "proceed"]).ok();
    bus.wait_for(0);
    until("it is deployed", || place.work().join("deployed").exists());
}

/// A run as the child of a program that shows a window with this title.
fn inside(title: &str, run: &Command) -> Command {
    let script = format!("\"$@\" & exec /usr/bin/zenity --info --text=x --title={title}");
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &script, "sh"])
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(run.get_current_dir().unwrap())
        .env_clear()
        .envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What an editor with a terminal inside says of its window is not true; but the run descends
/// from it.
#[test]
fn a_click_focuses_the_window_of_the_editor_that_the_run_was_started_in() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    for tool in ACTIVATORS {
        let place = place("timeout: 5m", "");
        // The editor itself was started in this one, and names it.
        let terminal = screen.some_window("terminal");
        let path = only(&place, &["notify-send", "dbus-send", "touch", tool]);
        let mut run = bus.aye(&screen, &place, &["run", "skill.yaml"]);
        run.env("PATH", path).env("WINDOWID", screen.named("terminal"));
        let editor = inside("editor", run.env("TERM_PROGRAM", "vscode")).spawn().unwrap();
        until("the editor", || !screen.named("editor").is_empty());
        screen.focus(&screen.named("terminal"));
        click_focuses(&screen, &bus, &place, &screen.named("editor"));
        [terminal, editor].into_iter().for_each(end);
        until("they are closed", || screen.named("terminal").is_empty());
    }
}

#[test]
fn a_click_focuses_the_window_of_the_terminal() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    // Two windows of a program that stands for a terminal; the second has the keyboard.
    let windows = ["first", "second"].map(|title| screen.some_window(title));
    for tool in ACTIVATORS {
        let place = place("timeout: 5m", "");
        let path = only(&place, &["notify-send", "dbus-send", "touch", tool]);
        screen.focus(&screen.named("second"));
        let mut command = bus.aye(&screen, &place, &["run", "skill.yaml", "--json"]);
        command.env("PATH", path).env("WINDOWID", screen.named("first"));
        let child = command.spawn().unwrap();
        click_focuses(&screen, &bus, &place, &screen.named("first"));
        let ran = Ran::of(child.wait_with_output().unwrap(), &place);
        assert_eq!(ran.code, 0, "{}", ran.all());
    }
    windows.into_iter().for_each(end);
}

#[test]
fn a_notification_that_is_closed_is_no_answer() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let place = place("timeout: 5m", "");
    let child = bus.aye(&screen, &place, &["run", "skill.yaml", "--json"]).spawn().unwrap();
    bus.wait_for(1);
    screen.click(1100, 40, 3);
    let ran = Ran::of(child.wait_with_output().unwrap(), &place);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(answers(&ran.stdout).is_empty());
}

#[test]
fn without_a_service_or_a_bus_nothing_breaks() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, false);
    let place = place("timeout: 5m", "");
    let ran = bus.aye(&screen, &place, &["run", "skill.yaml"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(6), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = screen.aye(&place, &["run", "skill.yaml"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(6), "{}", String::from_utf8_lossy(&ran.stderr));
    // The window has its turn.
    settings(&place, "[ask]\nprompters = [\"notification\", \"desktop\"]\n");
    let child = bus.aye(&screen, &place, &["run", "skill.yaml", "--json"]).spawn().unwrap();
    screen.window();
    screen.keys(&["Tab", "Tab", "Return"]);
    let ran = Ran::of(child.wait_with_output().unwrap(), &place);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

#[test]
fn a_channel_shows_messages_replaces_them_and_takes_them_away() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let place = place("timeout: 5m", "destructive: true");
    settings(&place, "[notify.desk]\nkind = \"desktop\"\nremind = \"1m\"\n");
    let clock = place.write("clock", "0");
    let aye = |args: &[&str]| {
        let mut command = bus.aye(&screen, &place, args);
        command.env("AYE_TEST_CLOCK", &clock);
        command
    };
    let mut server = aye(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let ran = aye(&["run", "skill.yaml", "--detach"]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    bus.wait_for(1);
    screen.shot("notification-message");
    std::fs::write(&clock, "61").unwrap();
    let messages = || place.aye(&["notify", "list", "--json"]).ok().json();
    until("a reminder is sent", || {
        let all = messages();
        let sent = |row: &&serde_json::Value| row["event"] == "reminder" && row["state"] == "sent";
        all.as_array().unwrap().iter().any(|row| sent(&row))
    });
    assert_eq!(bus.control(&["count", "displayed"]).as_deref(), Some("1"), "in the same place");
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "cancel"]).ok();
    bus.wait_for(0);
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_channel_without_a_service_says_so_and_holds_no_run_up() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, false);
    let place = place("timeout: 5m", "");
    settings(&place, "[notify.desk]\nkind = \"desktop\"\n");
    let ran = bus.aye(&screen, &place, &["run", "skill.yaml", "--no-input"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(6), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = bus.aye(&screen, &place, &["notify", "test", "desk"]).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("no notification service answers"), "{said}");
}

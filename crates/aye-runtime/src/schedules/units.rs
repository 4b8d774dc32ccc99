//! The text of a timer and of the service that it starts.

use super::calendar::Calendar;
use super::schedule::Schedule;

/// The beginning of each file.
const NOTE: &str = "# Written by `aye schedule add`; `aye schedule remove` removes it.\n";

/// What a service needs to know of the machine.
pub(super) struct Surroundings<'a> {
    /// This program.
    pub(super) program: &'a str,
    /// `AYE_HOME`.
    pub(super) home: &'a str,
    /// Where programs are looked for.
    pub(super) path: Option<&'a str>,
}

impl Surroundings<'_> {
    /// Systemd itself looks in few places.
    fn path_line(&self) -> String {
        let line = |path| format!("Environment={}\n", quoted(&format!("PATH={path}"), false));
        self.path.map(line).unwrap_or_default()
    }
}

/// The unit of `aye serve install`.
pub(super) const SERVER: &str = "aye-serve.service";

/// The name of the units, without their ending: whatever a schedule is called, they are
/// not those of the server.
pub(super) fn unit_name(schedule: &str) -> String {
    format!("aye-schedule-{schedule}")
}

/// The server, with the options that it is to have. Stopping the unit stops the server
/// alone: runs are processes of their own.
pub(super) fn server(
    directory: &str,
    surroundings: &Surroundings<'_>,
    options: &[String],
) -> String {
    let own = [surroundings.program, "serve", "--home", surroundings.home];
    let words = own.into_iter().chain(options.iter().map(String::as_str));
    let command: Vec<String> = words.map(|word| quoted(word, true)).collect();
    format!(
        "[Unit]\nDescription=Aye: runs, questions and skills over HTTP\n\n\
         [Service]\nKillMode=process\nRestart=on-failure\nWorkingDirectory={}\n{}ExecStart={}\n\n[Install]\nWantedBy=default.target\n",
        literal(directory),
        surroundings.path_line(),
        command.join(" "),
    )
}

/// The service: starts the run in the background and is done. What it started
/// lives on in its control group, so only its own process may be ended.
pub(super) fn service(schedule: &Schedule, surroundings: &Surroundings<'_>) -> String {
    let words = schedule.argv(surroundings.program, surroundings.home);
    let command: Vec<String> = words.iter().map(|word| quoted(word, true)).collect();
    format!(
        "{NOTE}[Unit]\nDescription=Aye: run {} ({})\n\n[Service]\nType=oneshot\nKillMode=process\n\
         WorkingDirectory={}\n{}ExecStart={}\n",
        literal(&schedule.skill),
        literal(&schedule.at),
        literal(&schedule.directory.to_string_lossy()),
        surroundings.path_line(),
        command.join(" "),
    )
}

/// The timer.
pub(super) fn timer(schedule: &Schedule, calendar: &Calendar) -> String {
    format!(
        "{NOTE}[Unit]\nDescription=Aye: run {} ({})\n\n[Timer]\nOnCalendar={}\nAccuracySec=1s\n\
         Unit={}.service\n\n\
         [Install]\nWantedBy=timers.target\n",
        literal(&schedule.skill),
        literal(&schedule.at),
        calendar.on_calendar(),
        unit_name(&schedule.name),
    )
}

/// A value on one line, in which nothing is a specifier.
fn literal(text: &str) -> String {
    text.replace('%', "%%").replace(['\n', '\r'], " ")
}

/// A word between quotes, in which nothing is special; in a command, not even
/// a variable.
fn quoted(word: &str, command: bool) -> String {
    let mut text = String::from("\"");
    for letter in word.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '%' => text.push_str("%%"),
            '$' if command => text.push_str("$$"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            letter if letter.is_control() => {
                text.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::Scheduler;

    #[test]
    fn stopping_the_unit_of_the_server_stops_no_run() {
        let surroundings = Surroundings {
            program: "/usr/bin/aye",
            home: "/home/a b/100%",
            path: Some("/bin:/x y"),
        };
        let options = ["--listen", "127.0.0.1:8740", "--socket", "/w/$x.sock"].map(str::to_owned);
        assert_eq!(
            server("/srv/100% mine", &surroundings, &options),
            r#"[Unit]
Description=Aye: runs, questions and skills over HTTP

[Service]
KillMode=process
Restart=on-failure
WorkingDirectory=/srv/100%% mine
Environment="PATH=/bin:/x y"
ExecStart="/usr/bin/aye" "serve" "--home" "/home/a b/100%%" "--listen" "127.0.0.1:8740" "--socket" "/w/$$x.sock"

[Install]
WantedBy=default.target
"#
        );
        assert_ne!(format!("{}.service", unit_name("serve")), SERVER);
    }

    #[test]
    fn units_are_what_systemd_reads() {
        let schedule = Schedule {
            name: "weekly".to_owned(),
            skill: "release".to_owned(),
            at: "Mon 09:00".to_owned(),
            directory: "/srv/100% mine".into(),
            inputs: vec!["note=say \"$HOME\" 5%\\".to_owned()],
            environment: Some("stage".to_owned()),
            with: Scheduler::Systemd,
            added: jiff::Timestamp::UNIX_EPOCH,
        };
        let surroundings = Surroundings {
            program: "/usr/bin/aye",
            home: "/home/ada/state",
            path: Some("/bin:/x y"),
        };
        assert_eq!(
            service(&schedule, &surroundings),
            r#"# Written by `aye schedule add`; `aye schedule remove` removes it.
[Unit]
Description=Aye: run release (Mon 09:00)

[Service]
Type=oneshot
KillMode=process
WorkingDirectory=/srv/100%% mine
Environment="PATH=/bin:/x y"
ExecStart="/usr/bin/aye" "run" "release" "--detach" "--schedule" "weekly" "--home" "/home/ada/state" "--environment" "stage" "--input" "note=say \"$$HOME\" 5%%\\"
"#
        );
        let calendar = Calendar::parse("Mon 09:00").unwrap();
        assert_eq!(
            timer(&schedule, &calendar),
            "# Written by `aye schedule add`; `aye schedule remove` removes it.
[Unit]
Description=Aye: run release (Mon 09:00)

[Timer]
OnCalendar=Mon *-*-* 09:00:00
AccuracySec=1s
Unit=aye-schedule-weekly.service

[Install]
WantedBy=timers.target
"
        );
    }
}

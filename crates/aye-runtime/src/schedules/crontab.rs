//! The lines of a crontab that are ours.

use super::calendar::Calendar;
use super::schedule::Schedule;
use super::units::Surroundings;
use crate::fmt::shell_word;

/// The end of our line for a schedule.
fn mark(name: &str) -> String {
    format!(" # aye:{name}")
}

/// The line that starts a run. What goes wrong is mailed by cron; the id of the
/// run is not.
pub(super) fn line(
    schedule: &Schedule,
    calendar: &Calendar,
    surroundings: &Surroundings<'_>,
) -> String {
    let words = schedule.argv(surroundings.program, surroundings.home);
    let words: Vec<String> = words.iter().map(|word| shell_word(word).to_string()).collect();
    let path = surroundings.path.map(|path| format!("PATH={} ", shell_word(path)));
    let command = format!(
        "cd {} && {}{} >/dev/null{}",
        shell_word(&schedule.directory.to_string_lossy()),
        path.unwrap_or_default(),
        words.join(" "),
        mark(&schedule.name)
    );
    // There a `%` ends the command.
    format!("{} {}", calendar.crontab(), command.replace('%', "\\%"))
}

/// The crontab with this line for a schedule.
pub(super) fn with(crontab: &str, name: &str, line: &str) -> String {
    let mut text = without(crontab, name);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + line + "\n"
}

/// The crontab without the line for a schedule; everything else as it was.
pub(super) fn without(crontab: &str, name: &str) -> String {
    let mark = mark(name);
    crontab.split_inclusive('\n').filter(|line| !line.trim_end().ends_with(&mark)).collect()
}

/// Whether there is a line for a schedule.
pub(super) fn has(crontab: &str, name: &str) -> bool {
    crontab.lines().any(|line| line.trim_end().ends_with(&mark(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::Scheduler;

    #[test]
    fn one_line_comes_and_goes() {
        let schedule = Schedule {
            name: "weekly".to_owned(),
            skill: "release".to_owned(),
            at: "Mon 09:00".to_owned(),
            directory: "/srv/a b".into(),
            inputs: vec!["rate=5%".to_owned()],
            environment: None,
            with: Scheduler::Cron,
            added: jiff::Timestamp::UNIX_EPOCH,
        };
        let surroundings = Surroundings { program: "/usr/bin/aye", home: "/h", path: Some("/bin") };
        let calendar = Calendar::parse("Mon 09:00").unwrap();
        let line = line(&schedule, &calendar, &surroundings);
        assert_eq!(
            line,
            "0 9 * * 1 cd '/srv/a b' && PATH=/bin /usr/bin/aye run release --detach --schedule \
             weekly --home /h --input rate=5\\% >/dev/null # aye:weekly"
        );
        let before = "MAILTO=ada\n5 4 * * * backup # nightly";
        let after = with(before, "weekly", &line);
        assert_eq!(after, format!("{before}\n{line}\n"));
        assert!(has(&after, "weekly") && !has(&after, "week"));
        assert_eq!(with(&after, "weekly", &line), after);
        assert_eq!(without(&after, "weekly"), format!("{before}\n"));
    }
}

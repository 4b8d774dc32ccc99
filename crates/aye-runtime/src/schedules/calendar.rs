//! Times as people write them: `Mon 09:00`, `daily 03:30`, `every 15m`.

use std::fmt;

use aye_core::diagnostic::did_you_mean;
use jiff::civil::{Time, Weekday};
use jiff::{ToSpan as _, Zoned};

/// The days of the week, as they are written.
const WEEK: [(&str, Weekday); 7] = [
    ("Mon", Weekday::Monday),
    ("Tue", Weekday::Tuesday),
    ("Wed", Weekday::Wednesday),
    ("Thu", Weekday::Thursday),
    ("Fri", Weekday::Friday),
    ("Sat", Weekday::Saturday),
    ("Sun", Weekday::Sunday),
];

/// How many days ahead the next time is looked for: the 31st is not in every month.
const AHEAD: i64 = 400;

/// When a schedule is due, in the time of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calendar {
    days: Days,
    times: Times,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Days {
    Every,
    /// These days of the week, in order, each once.
    Week(Vec<usize>),
    /// This day of the month.
    Month(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    At { hour: u8, minute: u8 },
    EveryMinutes(u8),
    EveryHours(u8),
}

/// A time that nobody can tell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalendarError {
    /// Nothing is written.
    #[error("the time is empty")]
    Empty,
    /// Five fields of a crontab.
    #[error("`{0}` is the time of a crontab")]
    Crontab(String),
    /// A day without a time of day.
    #[error("`{0}` has no time of day")]
    NoTime(String),
    /// Not a time of day.
    #[error("`{0}` is not a time of day")]
    BadTime(String),
    /// Not a day.
    #[error("`{word}` is not a day of the week")]
    BadDay {
        /// As written.
        word: String,
        /// The one that was meant.
        meant: Option<&'static str>,
    },
    /// Not a day of a month.
    #[error("`{0}` is not a day of the month")]
    BadDate(String),
    /// A step that does not divide an hour or a day.
    #[error("`every {0}` does not come at the same times each day")]
    BadStep(String),
}

impl CalendarError {
    /// What to write instead.
    pub fn hint(&self) -> String {
        match self {
            Self::Empty | Self::Crontab(_) => {
                "write it as `Mon 09:00`, `Mon..Fri 08:30`, `daily 03:00`, `monthly 1 06:00` or \
                 `every 15m`"
                    .to_owned()
            }
            Self::NoTime(days) => format!("write `{days} 09:00`"),
            Self::BadTime(_) => "it is from `00:00` to `23:59`: `Mon 09:00`".to_owned(),
            Self::BadDay { meant: Some(meant), .. } => format!("did you mean `{meant}`?"),
            Self::BadDay { meant: None, .. } => {
                "the days are Mon, Tue, Wed, Thu, Fri, Sat, Sun; several are `Mon,Thu` or \
                 `Mon..Fri`; also `daily 03:00`, `hourly`, `every 15m`"
                    .to_owned()
            }
            Self::BadDate(_) => "it is from 1 to 31: `monthly 15 09:00`".to_owned(),
            Self::BadStep(_) => {
                "minutes divide an hour, as `every 15m`; hours divide a day, as `every 6h`"
                    .to_owned()
            }
        }
    }
}

impl Calendar {
    /// Reads a time.
    pub fn parse(text: &str) -> Result<Self, CalendarError> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let midnight = Times::At { hour: 0, minute: 0 };
        let time = |rest: &[&str]| match rest {
            [] => Ok(midnight),
            [time] => time_of_day(time),
            [_, more, ..] => Err(CalendarError::BadTime((*more).to_owned())),
        };
        let (days, times) = match &words[..] {
            [] => return Err(CalendarError::Empty),
            [_, _, _, _, _] if words[0].starts_with(|c: char| c.is_ascii_digit() || c == '*') => {
                return Err(CalendarError::Crontab(text.trim().to_owned()));
            }
            ["every", step] => (Days::Every, step_of(step)?),
            ["hourly"] => (Days::Every, Times::EveryHours(1)),
            ["daily", rest @ ..] => (Days::Every, time(rest)?),
            ["weekly", rest @ ..] => (Days::Week(vec![0]), time(rest)?),
            ["monthly", day, rest @ ..] if !day.contains(':') => {
                (Days::Month(day_of_month(day)?), time(rest)?)
            }
            ["monthly", rest @ ..] => (Days::Month(1), time(rest)?),
            [time] if time.starts_with(|c: char| c.is_ascii_digit()) => {
                (Days::Every, time_of_day(time)?)
            }
            [days] => {
                days_of_week(days)?;
                return Err(CalendarError::NoTime(text.trim().to_owned()));
            }
            [days, rest @ ..] => (Days::Week(days_of_week(days)?), time(rest)?),
        };
        Ok(Self { days, times })
    }

    /// The same for `OnCalendar=` of a timer.
    pub fn on_calendar(&self) -> String {
        let days = match &self.days {
            Days::Every => "*-*-*".to_owned(),
            Days::Week(days) => format!("{} *-*-*", names(days)),
            Days::Month(day) => format!("*-*-{day:02}"),
        };
        let time = match self.times {
            Times::At { hour, minute } => format!("{hour:02}:{minute:02}:00"),
            Times::EveryMinutes(step) => format!("*:0/{step}:00"),
            Times::EveryHours(1) => "*:00:00".to_owned(),
            Times::EveryHours(step) => format!("0/{step}:00:00"),
        };
        format!("{days} {time}")
    }

    /// The same as the five fields of a crontab.
    pub fn crontab(&self) -> String {
        let (minute, hour) = match self.times {
            Times::At { hour, minute } => (minute.to_string(), hour.to_string()),
            Times::EveryMinutes(step) => (format!("*/{step}"), "*".to_owned()),
            Times::EveryHours(1) => ("0".to_owned(), "*".to_owned()),
            Times::EveryHours(step) => ("0".to_owned(), format!("*/{step}")),
        };
        let (date, day) = match &self.days {
            Days::Every => ("*".to_owned(), "*".to_owned()),
            Days::Week(days) => {
                // There Sunday is 0.
                let numbers = days.iter().map(|day| ((day + 1) % 7).to_string());
                ("*".to_owned(), numbers.collect::<Vec<_>>().join(","))
            }
            Days::Month(day) => (day.to_string(), "*".to_owned()),
        };
        format!("{minute} {hour} {date} * {day}")
    }

    /// The first time after this one.
    pub fn next(&self, after: &Zoned) -> Option<Zoned> {
        let times = self.times.of_a_day();
        (0..=AHEAD).find_map(|ahead| {
            let date = after.date().checked_add(ahead.days()).ok()?;
            let due = match &self.days {
                Days::Every => true,
                Days::Week(days) => days.iter().any(|day| WEEK[*day].1 == date.weekday()),
                Days::Month(day) => i8::try_from(*day) == Ok(date.day()),
            };
            let mut moments = times.iter().filter(|_| due).filter_map(|time| {
                date.to_datetime(*time).to_zoned(after.time_zone().clone()).ok()
            });
            moments.find(|moment| moment > after)
        })
    }
}

impl Times {
    fn of_a_day(self) -> Vec<Time> {
        let at = |hour: u8, minute: u8| {
            let (hour, minute) = (i8::try_from(hour).ok()?, i8::try_from(minute).ok()?);
            Time::new(hour, minute, 0, 0).ok()
        };
        let all: Vec<Option<Time>> = match self {
            Self::At { hour, minute } => vec![at(hour, minute)],
            Self::EveryMinutes(step) => (0..24)
                .flat_map(|hour| (0..60).step_by(step.into()).map(move |minute| at(hour, minute)))
                .collect(),
            Self::EveryHours(step) => {
                (0..24).step_by(step.into()).map(|hour| at(hour, 0)).collect()
            }
        };
        all.into_iter().flatten().collect()
    }
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute) = match self.times {
            Times::At { hour, minute } => (hour, minute),
            Times::EveryMinutes(step) => return write!(f, "every {step}m"),
            Times::EveryHours(step) => return write!(f, "every {step}h"),
        };
        match &self.days {
            Days::Every => f.write_str("daily")?,
            Days::Week(days) => f.write_str(&names(days))?,
            Days::Month(day) => write!(f, "monthly {day}")?,
        }
        write!(f, " {hour:02}:{minute:02}")
    }
}

fn names(days: &[usize]) -> String {
    days.iter().map(|day| WEEK[*day].0).collect::<Vec<_>>().join(",")
}

fn time_of_day(word: &str) -> Result<Times, CalendarError> {
    let bad = || CalendarError::BadTime(word.to_owned());
    let number = |text: &str, most: u8| {
        let short = text.len() <= 2 && text.chars().all(|c| c.is_ascii_digit());
        text.parse::<u8>().ok().filter(|number| short && *number <= most).ok_or_else(bad)
    };
    let (hour, minute) = word.split_once(':').ok_or_else(bad)?;
    if minute.len() != 2 {
        return Err(bad());
    }
    Ok(Times::At { hour: number(hour, 23)?, minute: number(minute, 59)? })
}

fn step_of(word: &str) -> Result<Times, CalendarError> {
    let bad = || CalendarError::BadStep(word.to_owned());
    let count = |unit: char| word.strip_suffix(unit)?.parse::<u8>().ok().filter(|step| *step > 0);
    match (count('m'), count('h')) {
        (Some(step), _) if 60 % step == 0 && step < 60 => Ok(Times::EveryMinutes(step)),
        (Some(60), _) => Ok(Times::EveryHours(1)),
        (_, Some(step)) if 24 % step == 0 && step < 24 => Ok(Times::EveryHours(step)),
        (_, Some(24)) => Ok(Times::At { hour: 0, minute: 0 }),
        _ => Err(bad()),
    }
}

fn day_of_month(word: &str) -> Result<u8, CalendarError> {
    let day = word.parse().ok().filter(|day| (1..=31).contains(day));
    day.ok_or_else(|| CalendarError::BadDate(word.to_owned()))
}

fn days_of_week(word: &str) -> Result<Vec<usize>, CalendarError> {
    let mut days = Vec::new();
    for part in word.split(',') {
        match (part, part.split_once("..")) {
            ("weekdays", _) => days.extend(0..5),
            ("weekends", _) => days.extend(5..7),
            (_, Some((first, last))) => {
                let (first, last) = (day_of_week(first)?, day_of_week(last)?);
                // Over the end of the week and on from its beginning.
                let last = if last < first { last + 7 } else { last };
                days.extend((first..=last).map(|day| day % 7));
            }
            (_, None) => days.push(day_of_week(part)?),
        }
    }
    days.sort_unstable();
    days.dedup();
    Ok(days)
}

fn day_of_week(word: &str) -> Result<usize, CalendarError> {
    let full = |day: &Weekday| format!("{day:?}").to_lowercase();
    let is = |(short, day): &(&str, Weekday)| short.to_lowercase() == word || full(day) == word;
    WEEK.iter().position(is).ok_or_else(|| {
        let short = WEEK.iter().map(|(short, _)| *short);
        let begins = short.clone().find(|short| short.to_lowercase().starts_with(word));
        let meant = begins.filter(|_| !word.is_empty());
        let meant = meant.or_else(|| did_you_mean(word, short));
        CalendarError::BadDay { word: word.to_owned(), meant }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Calendar {
        Calendar::parse(text).unwrap()
    }

    #[test]
    fn a_time_means_the_same_to_both_schedulers() {
        for (text, shown, timer, cron) in [
            ("Mon 09:00", "Mon 09:00", "Mon *-*-* 09:00:00", "0 9 * * 1"),
            ("monday 9:05", "Mon 09:05", "Mon *-*-* 09:05:00", "5 9 * * 1"),
            ("Sun,Wed 00:30", "Wed,Sun 00:30", "Wed,Sun *-*-* 00:30:00", "30 0 * * 3,0"),
            (
                "Fri..Sun 23:59",
                "Fri,Sat,Sun 23:59",
                "Fri,Sat,Sun *-*-* 23:59:00",
                "59 23 * * 5,6,0",
            ),
            ("Sun..Mon 01:00", "Mon,Sun 01:00", "Mon,Sun *-*-* 01:00:00", "0 1 * * 1,0"),
            ("weekends 8:00", "Sat,Sun 08:00", "Sat,Sun *-*-* 08:00:00", "0 8 * * 6,0"),
            ("09:00", "daily 09:00", "*-*-* 09:00:00", "0 9 * * *"),
            ("daily", "daily 00:00", "*-*-* 00:00:00", "0 0 * * *"),
            ("weekly 7:00", "Mon 07:00", "Mon *-*-* 07:00:00", "0 7 * * 1"),
            ("monthly", "monthly 1 00:00", "*-*-01 00:00:00", "0 0 1 * *"),
            ("monthly 15 06:00", "monthly 15 06:00", "*-*-15 06:00:00", "0 6 15 * *"),
            ("hourly", "every 1h", "*-*-* *:00:00", "0 * * * *"),
            ("every 15m", "every 15m", "*-*-* *:0/15:00", "*/15 * * * *"),
            ("every 6h", "every 6h", "*-*-* 0/6:00:00", "0 */6 * * *"),
        ] {
            let calendar = read(text);
            assert_eq!(calendar.to_string(), shown, "{text}");
            assert_eq!(calendar.on_calendar(), timer, "{text}");
            assert_eq!(calendar.crontab(), cron, "{text}");
            assert_eq!(read(shown), calendar, "{shown}");
        }
    }

    #[test]
    fn a_bad_time_says_what_to_write() {
        for (text, message, hint) in [
            ("", "the time is empty", "`Mon 09:00`"),
            ("Mon", "`Mon` has no time of day", "`Mon 09:00`"),
            ("Mon 25:00", "`25:00` is not a time of day", "`23:59`"),
            ("Mon 9", "`9` is not a time of day", "`Mon 09:00`"),
            ("Mon 9:0", "`9:0` is not a time of day", "`Mon 09:00`"),
            ("Mo 09:00", "`mo` is not a day of the week", "did you mean `Mon`?"),
            ("Funday 09:00", "`funday` is not a day of the week", "Mon, Tue"),
            ("0 9 * * 1", "`0 9 * * 1` is the time of a crontab", "`Mon 09:00`"),
            ("every 7m", "`every 7m` does not come", "divide an hour"),
            ("every 0m", "`every 0m` does not come", "divide an hour"),
            ("monthly 32 09:00", "`32` is not a day of the month", "from 1 to 31"),
            ("Mon 09:00 10:00", "`10:00` is not a time of day", "`Mon 09:00`"),
        ] {
            let error = Calendar::parse(text).unwrap_err();
            assert!(error.to_string().starts_with(message), "{text}: {error}");
            assert!(error.hint().contains(hint), "{text}: {}", error.hint());
        }
    }

    #[test]
    fn the_next_time_is_after_now() {
        let at = |text: &str| format!("{text}[UTC]").parse::<Zoned>().unwrap();
        // A Tuesday.
        let now = at("2026-11-17T09:00:00+00:00");
        for (text, next) in [
            ("Mon 09:00", "2026-11-23T09:00:00+00:00"),
            ("Tue 09:00", "2026-11-24T09:00:00+00:00"),
            ("Tue 09:01", "2026-11-17T09:01:00+00:00"),
            ("daily 03:00", "2026-11-18T03:00:00+00:00"),
            ("every 15m", "2026-11-17T09:15:00+00:00"),
            ("every 6h", "2026-11-17T12:00:00+00:00"),
            ("monthly 31 01:00", "2026-12-31T01:00:00+00:00"),
        ] {
            assert_eq!(read(text).next(&now), Some(at(next)), "{text}");
        }
    }
}

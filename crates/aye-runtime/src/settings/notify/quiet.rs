//! When nobody is to be disturbed.

use aye_core::diagnostic::{Diagnostic, quote};
use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use toml::Spanned;

use super::super::tools::wrong;

/// Hours of each day, in the machine's time zone. They may go past midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    /// When they begin.
    pub from: Time,
    /// When they end.
    pub to: Time,
}

impl QuietHours {
    /// When the quiet hours end that this moment is in; `None` if it is in none.
    pub fn end(self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let here = now.to_zoned(zone.clone());
        let (time, today) = (here.time(), here.date());
        let over_midnight = self.from > self.to;
        let quiet = match over_midnight {
            true => time >= self.from || time < self.to,
            false => time >= self.from && time < self.to,
        };
        let day = match over_midnight && time >= self.from {
            true => today.tomorrow().unwrap_or(today),
            false => today,
        };
        quiet
            .then(|| day.to_datetime(self.to).to_zoned(zone.clone()).ok())?
            .map(|end| end.timestamp())
    }
}

/// Reads `"22:00-07:00"`.
pub(super) fn quiet(text: &Spanned<String>) -> Result<QuietHours, Diagnostic> {
    let time = |text: &str| {
        let (hour, minute) = text.trim().split_once(':')?;
        Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
    };
    let read = || {
        let (from, to) = text.get_ref().split_once('-')?;
        let hours = QuietHours { from: time(from)?, to: time(to)? };
        (hours.from != hours.to).then_some(hours)
    };
    read().ok_or_else(|| {
        wrong(format!("{} are not hours of a day", quote(text.get_ref())), text.span())
            .hint("write `quiet = \"22:00-07:00\"`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn hours(text: &str) -> QuietHours {
        quiet(&Spanned::new(0..0, text.to_owned())).expect("hours")
    }

    #[test]
    fn a_night_ends_in_the_morning() {
        let (night, zone) = (hours("22:00-07:00"), TimeZone::UTC);
        let end = |now: &str| night.end(at(now), &zone).map(|end| end.to_string());
        assert_eq!(end("2026-11-17T21:59:59Z"), None);
        assert_eq!(end("2026-11-17T22:00:00Z").as_deref(), Some("2026-11-18T07:00:00Z"));
        assert_eq!(end("2026-11-18T06:59:59Z").as_deref(), Some("2026-11-18T07:00:00Z"));
        assert_eq!(end("2026-11-18T07:00:00Z"), None);
    }

    #[test]
    fn a_lunch_break_is_of_one_day() {
        let (noon, zone) = (hours("12:00-13:30"), TimeZone::UTC);
        let end = |now: &str| noon.end(at(now), &zone).map(|end| end.to_string());
        assert_eq!(end("2026-11-17T11:59:00Z"), None);
        assert_eq!(end("2026-11-17T12:10:00Z").as_deref(), Some("2026-11-17T13:30:00Z"));
        assert_eq!(end("2026-11-17T13:30:00Z"), None);
    }

    #[test]
    fn hours_are_those_of_the_time_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        let end = hours("22:00-07:00").end(at("2026-11-17T08:00:00Z"), &zone);
        assert_eq!(end, Some(at("2026-11-17T15:00:00Z")));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["22-7", "22:00", "25:00-07:00", "07:00-07:00", "a:b-c:d"] {
            assert!(quiet(&Spanned::new(0..0, text.to_owned())).is_err(), "{text}");
        }
    }
}

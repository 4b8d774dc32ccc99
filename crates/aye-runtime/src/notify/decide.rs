//! What is left to tell when the turn of a message has come: pure.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::settings::{ChannelKind, ChannelSettings};
use crate::store::{MessageRow, Occasion, QuestionRow, QuestionState};

/// How often a message is tried.
pub(super) const ATTEMPTS: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// How long a question whose time stands still is left alone.
const STILL: SignedDuration = SignedDuration::from_secs(60);
/// How often it is looked whether a question is still shown.
const SHOWN: SignedDuration = SignedDuration::from_secs(5);
/// How long editors and pages have to say that they show a question.
const SETTLES: SignedDuration = SignedDuration::from_secs(2);

/// What to do with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// Tell it.
    Send,
    /// Look again then.
    Postpone(Timestamp),
    /// There is nothing left to tell, and why.
    Withdraw(&'static str),
}

/// What the delivery worker knows when it decides.
pub(super) struct Situation<'a> {
    pub(super) row: &'a MessageRow,
    /// The question it is about, as it stands.
    pub(super) question: Option<&'a QuestionRow>,
    pub(super) channel: &'a ChannelSettings,
    /// Whether someone has the question before them right now.
    pub(super) shown: bool,
    /// Whether a server runs, whose clients may show it soon.
    pub(super) served: bool,
    pub(super) now: Timestamp,
    pub(super) zone: &'a TimeZone,
}

pub(super) fn decide(situation: &Situation<'_>) -> Decision {
    let Situation { row, question, channel, shown, served, now, zone } = *situation;
    if row.question.is_some() && question.is_none() {
        return Decision::Withdraw("the run was pruned");
    }
    if let Some(question) = question {
        match question.state {
            QuestionState::Open => {}
            QuestionState::Answered => return Decision::Withdraw("answered before it was sent"),
            QuestionState::Expired => return Decision::Withdraw("expired before it was sent"),
            QuestionState::Withdrawn => return Decision::Withdraw("the run ended first"),
        }
        if row.occasion == Occasion::Expiring {
            let Some(deadline) = question.deadline else {
                return put_off(now, STILL);
            };
            let due = deadline.checked_sub(channel.expiring).unwrap_or(deadline);
            if due > now {
                return Decision::Postpone(due);
            }
        }
        // Anyone who looks at it needs no message; if they leave, it is due again.
        let patient = matches!(row.occasion, Occasion::Question | Occasion::Reminder);
        let files = matches!(channel.kind, ChannelKind::DropBox(_));
        let waited = now.duration_since(question.asked);
        let limit = patience(channel, question.asked, question.deadline);
        if shown && patient && !files && waited < limit {
            return put_off(now, SHOWN.min(limit - waited));
        }
        let settles = SETTLES.min(limit);
        if served && patient && !files && waited < settles {
            return put_off(now, settles - waited);
        }
    }
    if let Some(end) = channel.quiet.and_then(|quiet| quiet.end(now, zone)) {
        return Decision::Postpone(end);
    }
    Decision::Send
}

/// How long a channel leaves a question to those who may see it anyway: its delay, and
/// never more than half of the question's time.
pub(super) fn patience(
    channel: &ChannelSettings,
    asked: Timestamp,
    deadline: Option<Timestamp>,
) -> SignedDuration {
    let half = deadline.map(|deadline| deadline.duration_since(asked) / 2);
    let delay = SignedDuration::try_from(channel.delay).unwrap_or(SignedDuration::MAX);
    half.map_or(delay, |half| delay.min(half)).max(SignedDuration::ZERO)
}

fn put_off(now: Timestamp, time: SignedDuration) -> Decision {
    Decision::Postpone(now.checked_add(time).unwrap_or(now))
}

/// How long to wait after so many attempts: 5 s, 10 s, 20 s and so on.
pub(super) fn pause(attempts: u32) -> Duration {
    let doubled = 2u32.saturating_pow(attempts.saturating_sub(1).min(16));
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_quarter_of_an_hour() {
        let seconds: Vec<u64> = (1..=10).map(|attempt| pause(attempt).as_secs()).collect();
        assert_eq!(seconds, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
    }
}

//! How long questions wait.

use std::time::Duration;

use super::StepTimeout;

/// How long questions wait that do not say, and how long any may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskLimits {
    /// The confirmation of a step that names no limit; `None` waits.
    pub confirmation: Option<Duration>,
    /// Any other question that names none; `None` waits.
    pub question: Option<Duration>,
    /// The least that one waits which has a limit.
    pub least: Duration,
    /// The most.
    pub most: Duration,
}

impl AskLimits {
    /// Nobody reads a question in less.
    pub const SHORTEST: Duration = Duration::from_secs(1);
    /// Nobody comes back later.
    pub const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// How long a question waits; `None` is for ever.
    pub fn wait(&self, written: StepTimeout, is_confirmation: bool) -> Option<Duration> {
        let limit = match written {
            StepTimeout::Unlimited => None,
            StepTimeout::After(limit) => Some(limit),
            StepTimeout::Default if is_confirmation => self.confirmation,
            StepTimeout::Default => self.question,
        };
        limit.map(|limit| limit.min(self.most).max(self.least))
    }
}

impl Default for AskLimits {
    fn default() -> Self {
        Self {
            confirmation: Some(Duration::from_secs(30)),
            question: Some(Duration::from_secs(5 * 60)),
            least: Self::SHORTEST,
            most: Self::LONGEST,
        }
    }
}

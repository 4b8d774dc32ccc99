//! A heal rule: which failures it is for, and the step that repairs them.

use std::time::Duration;

use crate::heal::HealMatch;

use super::Step;

/// A known error and what repairs it.
#[derive(Debug, Clone, PartialEq)]
pub struct HealRule {
    /// What people call it.
    pub name: String,
    /// Which failures it is for.
    pub when: HealMatch,
    /// What is done about them.
    pub repair: Step,
    /// How often a step is repaired and tried again.
    pub retries: u32,
    /// How long to wait before the step is tried again.
    pub backoff: Duration,
}

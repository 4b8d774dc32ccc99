//! How many children may run at once, and which they are.
//!
//! A slot is taken before anything else happens, under one lock, so that
//! calls made at the same moment cannot all pass the check. The same list
//! tells the tree scan which of our direct children lead a step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Children at once unless [`set_limit`] says otherwise.
pub const DEFAULT_LIMIT: usize = 10;

struct Table {
    limit: usize,
    next: u64,
    held: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    token: u64,
    /// 0 until the child has been started.
    leader: i32,
    /// It stands beside the others and does not count.
    aside: bool,
}

impl Table {
    fn counted(&self) -> usize {
        self.held.iter().filter(|entry| !entry.aside).count()
    }
}

static TABLE: Mutex<Table> = Mutex::new(Table { limit: DEFAULT_LIMIT, next: 1, held: Vec::new() });

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets how many children may run at once; at least one.
pub fn set_limit(limit: usize) {
    table().limit = limit.max(1);
}

/// The present limit.
#[must_use]
pub fn limit() -> usize {
    table().limit
}

/// The variable that carries the token of a step.
pub(crate) const TOKEN_VARIABLE: &str = "AYE_CHILD";

/// The value of [`TOKEN_VARIABLE`]; nested runners have other numbers.
pub(crate) fn token_value(token: u64) -> String {
    format!("{}.{token}", std::process::id())
}

/// A place among the running children, given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    token: u64,
}

impl Slot {
    /// Takes a place, or says how many there are. There is always room aside.
    pub(crate) fn reserve(aside: bool) -> Result<Self, usize> {
        let mut table = table();
        if !aside && table.counted() >= table.limit {
            return Err(table.limit);
        }
        let token = table.next;
        table.next += 1;
        table.held.push(Entry { token, leader: 0, aside });
        Ok(Self { token })
    }

    /// Unique in this process.
    pub(crate) fn token(&self) -> u64 {
        self.token
    }

    /// What the child carries in its environment.
    pub(crate) fn token_value(&self) -> String {
        token_value(self.token)
    }

    pub(crate) fn set_leader(&self, pid: i32) {
        if let Some(entry) = table().held.iter_mut().find(|entry| entry.token == self.token) {
            entry.leader = pid;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        table().held.retain(|entry| entry.token != self.token);
    }
}

/// `(token, leader)` of every child that has been started, and whether one is
/// just being started: it may exist already and not be in the list.
#[cfg(target_os = "linux")]
pub(crate) fn leaders() -> (Vec<(u64, i32)>, bool) {
    let table = table();
    let started: Vec<_> = table
        .held
        .iter()
        .filter(|entry| entry.leader != 0)
        .map(|entry| (entry.token, entry.leader))
        .collect();
    let starting = started.len() < table.held.len();
    (started, starting)
}

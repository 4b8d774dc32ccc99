//! The ways in which a store can be broken.

/// What is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Fault {
    /// An append is acknowledged and not written.
    AppendLost,
    /// Events come back in another order.
    EventsOutOfOrder,
    /// The number of an event is not looked at.
    NoSequenceCheck,
    /// Events of one append are written one by one.
    AppendInParts,
    /// A watcher's place is off by one.
    WatcherSkips,
    /// Runs whose ids begin alike count as inside.
    NeighboursAreInside,
    /// The text of a skill is not kept.
    SourceLost,
    /// The epoch is not looked at.
    NoEpochCheck,
    /// A lease covers every run.
    LeaseCoversAll,
    /// A lease is granted while someone has it.
    LeaseGivenTwice,
    /// A lease is never given back.
    LeaseKept,
    /// The epoch does not grow.
    EpochStands,
    /// Dropping a lost lease ends the next one.
    LateReturnEndsNext,
    /// Not every lease that is held is listed.
    HeldIsHidden,
    /// Verdicts are not written.
    VerdictLost,
    /// The last verdict stands.
    VerdictChanges,
    /// Verdicts are written before the events.
    VerdictBeforeEvents,
    /// Requests to a run that has ended wait for ever.
    EndedRunsAreSilent,
    /// Requests to runs inside are not found.
    InsideIsNotRead,
    /// A name that a run has is given to another.
    NameGivenTwice,
    /// The name of a run that has ended is not free.
    NameKept,
    /// The name of a run that no process drives is free.
    NameOfPausedIsFree,
    /// Anyone who comes last gets the name.
    QueueIgnored,
    /// A run that waits holds up others although no process drives it.
    AbsentHoldsUp,
    /// Runs may wait for each other.
    CircleAllowed,
    /// What was learned is not noted for memory.
    LessonLost,
    /// What memory has taken in stays noted.
    LessonKept,
    /// What is shown is not noted.
    PresenceLost,
    /// It stays noted for ever.
    PresenceKept,
    /// Nobody is asked which messages an event causes.
    AnnouncementLost,
    /// A claim is over at once.
    ClaimForgotten,
    /// What came of a message is not written.
    SettlementLost,
    /// Nothing is taken back.
    RetractionLost,
    /// A right to answer counts again and again.
    TokenCountsTwice,
    /// Nobody hears appends.
    WakeLost,
    /// Drivers do not hear requests.
    RequestWakeLost,
    /// Drivers hear every append.
    AppendsWakeDrivers,
    /// Open questions are not listed.
    RowsStale,
    /// Lists begin with the oldest.
    OldestFirst,
    /// An ambiguous name stands for the newest.
    NamesGuess,
    /// Every run is counted, whatever its status.
    CountsAll,
    /// Questions of runs inside are not counted.
    InsideWaitsUnseen,
    /// What a question says is forgotten once it is answered.
    AskedForgotten,
    /// Those who claim a name come in another order.
    ClaimantsOutOfOrder,
    /// Runs that someone holds are pruned.
    HeldIsPruned,
    /// An audit looks at nothing.
    AuditBlind,
    /// All logs are one file.
    LogsShared,
    /// Notes about logs are not kept.
    PlainLogsForgotten,
    /// Pruned runs leave nothing.
    EntriesLost,
    /// Entries say that nobody pruned the run.
    EntriesAnonymous,
    /// There are never any heads.
    HeadsEmpty,
    /// The hash of an event is never known.
    HashUnknown,
    /// Logs are not compared.
    LogsUnread,
    /// Every chain is whole.
    VerifyBlind,
}

impl Fault {
    pub(in super::super) const ALL: [Self; 54] = [
        Self::AppendLost,
        Self::EventsOutOfOrder,
        Self::NoSequenceCheck,
        Self::AppendInParts,
        Self::WatcherSkips,
        Self::NeighboursAreInside,
        Self::SourceLost,
        Self::NoEpochCheck,
        Self::LeaseCoversAll,
        Self::LeaseGivenTwice,
        Self::LeaseKept,
        Self::EpochStands,
        Self::LateReturnEndsNext,
        Self::HeldIsHidden,
        Self::VerdictLost,
        Self::VerdictChanges,
        Self::VerdictBeforeEvents,
        Self::EndedRunsAreSilent,
        Self::InsideIsNotRead,
        Self::NameGivenTwice,
        Self::NameKept,
        Self::NameOfPausedIsFree,
        Self::QueueIgnored,
        Self::AbsentHoldsUp,
        Self::CircleAllowed,
        Self::LessonLost,
        Self::LessonKept,
        Self::PresenceLost,
        Self::PresenceKept,
        Self::AnnouncementLost,
        Self::ClaimForgotten,
        Self::SettlementLost,
        Self::RetractionLost,
        Self::TokenCountsTwice,
        Self::WakeLost,
        Self::RequestWakeLost,
        Self::AppendsWakeDrivers,
        Self::RowsStale,
        Self::OldestFirst,
        Self::NamesGuess,
        Self::CountsAll,
        Self::InsideWaitsUnseen,
        Self::AskedForgotten,
        Self::ClaimantsOutOfOrder,
        Self::HeldIsPruned,
        Self::AuditBlind,
        Self::LogsShared,
        Self::PlainLogsForgotten,
        Self::EntriesLost,
        Self::EntriesAnonymous,
        Self::HeadsEmpty,
        Self::HashUnknown,
        Self::LogsUnread,
        Self::VerifyBlind,
    ];
}

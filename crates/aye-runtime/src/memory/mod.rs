//! Memory: what Aye learned, so that it asks about each error once.
//!
//! ```text
//! .aye/memory (project, shared) over AYE_HOME/memory (user)
//!   learned/patterns.yaml       known issues, by people; only read
//!   learned/fixes.yaml          fixes: match -> changed arguments, repair, replacement
//!   learned/confirmations.yaml  preferences: answers to give again
//!   learned/usage.yaml          calls that keep failing in the same way
//!   failures.yaml               the last 100
//!   state/*.yaml                work memory: what skills write down; the project's only
//!   agreed.yaml                 fixes that may be used on this machine; the user's only
//!
//! text -> fingerprint (what varies) -> words (patterns), similar, mistake, confidence   (pure)
//! documents (the port: one writer at a time) -> memory_file (read with lines) -> cache (until it changes) -> Memory
//! run -> memory_learned in its journal -> lesson (once) -> file
//! ```
//!
//! Nothing is read or locked before it is needed. Time is an argument, and so
//! is what hides secrets: every text passes it before it is written. What was
//! learned is data: code that shows it labels it so and escapes control characters.
//!
//! Touches files below `.aye/memory` and `AYE_HOME/memory`, or none: `open_memory` is the port that
//! decides. The driver asks it before and after steps.

mod agreement;
mod cache;
mod confidence;
mod documents;
mod emit;
mod entry;
mod error;
mod failure;
mod fingerprint;
mod fix;
mod generalise;
mod import;
mod issue;
mod keep;
mod learn;
mod lesson;
#[expect(clippy::module_inception, reason = "the type that everything here is for")]
mod memory;
mod memory_file;
mod mistake;
mod names;
mod near_miss;
mod note;
mod open_memory;
mod original;
mod pattern;
mod preference;
mod prevention;
mod proposal;
mod query;
mod reading;
mod remember_choice;
mod remember_fix;
mod salient_line;
mod similar;
mod state;
mod stats;
mod usage;
mod waiting;

pub use confidence::{BLOCK, WARN, confidence};
pub use documents::{Content, Documents, FileDocuments, InMemoryDocuments, Make, Version};
pub use emit::emit;
pub use entry::{EntryKind, fix_json, issue_json, proposal_json, usage_json};
pub use error::{MemoryError, Problem};
pub use failure::{Ending, Failure};
pub use fingerprint::fingerprint;
pub use fix::{
    Act, Agreement, Change, Fix, FixMatch, Origin, OriginKind, PROPOSED, Standing, look_up_obstacle,
};
pub use generalise::{Rule, generalise};
pub use import::{ImportOutcome, Imported, Importing};
pub use issue::{IN_ALL, Issue, PER_FAMILY, Rank, SHOWN};
pub use keep::{Keep, Mask};
pub use learn::Seen;
pub use lesson::{Lesson, LessonId, Once};
pub use memory::Memory;
pub use memory_file::read_mapping;
pub use mistake::{Mistake, mistake};
pub use near_miss::NearMiss;
pub use note::NewIssue;
pub use open_memory::{InMemory, MemoryFiles, OpenMemory};
pub use original::{OriginalChoice, OriginalEntry};
pub use pattern::{BadPattern, Pattern, looks_like_regex};
pub use preference::{
    ASKED, Allowed, COVERS, Chosen, EnvironmentRule, Preference, PreferenceQuery, Scope,
    is_production, question_digest,
};
pub use proposal::{Proposal, Proposed};
pub use query::{Layer, Placed, Query};
pub use remember_choice::NewChoice;
pub use remember_fix::{ErrorText, NewFix};
pub use salient_line::{around_values, pattern_of};
pub use similar::{SAME, similarity};
pub use state::{
    LearnedClaim, LearnedFix, Operation, Provenance, StateChange, StateKey, View, is_builtin_tool,
    is_function, no_function, query as query_state,
};
pub use stats::{Week, Weeks};
pub use usage::{Level, UsagePattern, Warning};
pub use waiting::WaitingProposal;

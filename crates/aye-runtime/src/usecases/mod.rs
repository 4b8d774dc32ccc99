//! What a front end can ask for, one file each. Requests, results and errors
//! are typed; nothing here prints, and nothing knows of options or colours.
//!
//! ```text
//! check_skill -> CheckedSkill -> Prepared -- plan
//!                                   |
//!                                   +-- start ----------> ActiveRun -- drive(Surface) --> FinishedRun
//! resume, retry ----------------------------------------^     ^
//!                                   |                         | run_in_background
//!                                   +-- start_detached ... another process
//! submit, cancel -> the driver of the run, or here if no process drives it (undriven)
//! call_tool -> CallOutcome: one step, in a journal that is kept in memory
//! propose_change -> a run that asks a person; its step is apply_change
//! try_tool -> a run of one step, of a tool that only looks
//! ask_in_run -> AskedInRun: the question of a script, as a run of one step
//! list_skills -> SkillList, read_skill -> FoundSkill: skills that may have errors
//! journal -> JournalReader: runs, questions, events, logs; subscribe -> Subscription
//! ```
//!
//! Touches everything below it, through its modules. Front ends show the results.

mod abandoned;
mod active_run;
mod answer;
mod audit;
pub mod background;
mod call_tool;
mod change_skill;
mod desktop;
mod fix_obstacles;
mod hand_over;
mod journal_reader;
mod late_answer;
mod lessons;
mod list_skills;
mod loaded_run;
mod log_search;
mod logs;
mod memory_counts;
mod notify;
mod person;
mod prepare;
mod presence;
mod prune;
mod question_facts;
mod references;
mod resume;
mod run_standing;
mod run_views;
mod schedules;
mod script_question;
mod skill_warnings;
mod start;
mod start_skill;
mod stats;
mod step_place;
mod step_process;
mod submit;
mod subscribe;
mod take_up;
mod tool_facts;
mod try_tool;
mod undriven;
mod warning;

pub use active_run::{ActiveRun, FinishedRun, Surface};
pub use answer::{AnswerError, AnswerRequest, Answerer, TakenAnswer};
pub use audit::parse_heads;
pub use call_tool::{CallOutcome, CallRequest};
pub use change_skill::{APPLY, ChangeRequest, SkillChange, is_change, receive_change};
pub use desktop::DesktopPrompters;
pub use journal_reader::JournalReader;
pub use list_skills::{FoundSkill, ListedSkill, SkillList};
pub use loaded_run::{LoadedRun, TextArguments};
pub use log_search::{LogMatches, search_log};
pub use logs::{LogItem, LogRequest, LogTail, LogTails, TailsRequest, has_log};
pub use memory_counts::Counts;
pub use notify::ListedChannel;
pub use prepare::{CheckedSkill, Prepared, SkillError, no_such_step};
pub use question_facts::{KnownIssue, QuestionFacts};
pub use resume::{ResumeRequest, RetryRequest, RetryTarget, run_command};
pub use run_standing::RunStanding;
pub use run_views::{AskingRun, ListedRun, OpenQuestion, Overview, RunDetails, RunHistory};
pub use schedules::{ListedSchedule, ScheduleRequest};
pub use script_question::{AskedInRun, ScriptOutcome, ScriptQuestion};
pub use start::StartRequest;
pub use start_skill::{RetryStep, StartSkill, StartSkillError, StartedRun};
pub use stats::{QuestionFigures, RunFigures, SkillStats, Spread, StatsRequest, StepFigures};
pub use step_place::StepPlace;
pub use step_process::process_of;
pub use submit::{CancelOutcome, Cancelling, Sent};
pub use subscribe::Subscription;
pub use take_up::AfterAnswer;
pub use tool_facts::ToolFacts;
pub use warning::Warning;

pub use crate::store::{
    Audited, Finding, Heads, MessageRow, MessageState, Occasion, QuestionRow, QuestionState,
    RunFilter, RunRow, RunStatus, Showing, ShowingProcess, Shown,
};

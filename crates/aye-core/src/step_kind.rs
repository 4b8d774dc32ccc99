//! What a step does, as one word.

use crate::word_enum;

word_enum! {
    /// The word for what a step does, in files, events and listings.
    StepKind {
        /// Runs a program.
        Command = "command",
        /// Runs a script.
        Shell = "shell",
        /// Asks whether to continue.
        Confirm = "confirm",
        /// Asks which.
        Choose = "choose",
        /// Asks for text.
        Input = "input",
        /// Asks what to do about a failure.
        Recover = "recover",
        /// Calls a tool.
        Tool = "tool",
        /// Evaluates a block.
        Compute = "compute",
        /// Runs another skill.
        Skill = "skill",
        /// Runs steps for each item.
        ForEach = "foreach",
        /// Ends the run with a result.
        Return = "return",
        /// Only says something.
        Note = "note",
    }
}

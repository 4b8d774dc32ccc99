//! Why a step failed, as one word that programs can act on.

use crate::word_enum;

word_enum! {
    /// Why a step failed.
    ErrorCode {
        /// There is no such program.
        CommandNotFound = "COMMAND_NOT_FOUND",
        /// The program cannot be executed.
        CommandNotExecutable = "COMMAND_NOT_EXECUTABLE",
        /// The policy does not allow the program.
        CommandNotAllowed = "COMMAND_NOT_ALLOWED",
        /// The policy does not allow the directory.
        PathTraversal = "PATH_TRAVERSAL",
        /// The working directory cannot be used.
        WorkingDirectoryNotFound = "WORKING_DIRECTORY_NOT_FOUND",
        /// It needs a terminal.
        NoTerminal = "NO_TERMINAL",
        /// It needs more than there is, or than is allowed.
        ResourceLimit = "RESOURCE_LIMIT",
        /// The program could not be started.
        SpawnFailed = "SPAWN_FAILED",
        /// Its time was up.
        Timeout = "TIMEOUT",
        /// Someone stopped it.
        Cancelled = "CANCELLED",
        /// A template is wrong.
        Template = "TEMPLATE",
        /// A name has no value.
        Undefined = "UNDEFINED",
        /// A value would change what a script does.
        InjectionDetected = "INJECTION_DETECTED",
        /// What has to hold after the step does not.
        Validation = "VALIDATION",
        /// A block failed.
        Compute = "COMPUTE",
        /// A run inside the step failed.
        Nested = "NESTED",
        /// There is no such tool.
        ToolNotFound = "TOOL_NOT_FOUND",
        /// The arguments do not fit the tool.
        ToolArguments = "TOOL_ARGUMENTS",
        /// The server of the tool cannot be used.
        ToolServer = "TOOL_SERVER",
        /// The tool ran and failed.
        ToolFailed = "TOOL_FAILED",
        /// Nobody has agreed to start the server.
        NotTrusted = "NOT_TRUSTED",
        /// What was agreed to is not what would run, time and again.
        Changed = "CHANGED",
        /// It was held back: such calls usually fail.
        UsuallyFails = "USUALLY_FAILS",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_its_word_in_a_journal() {
        for (code, word) in [
            (ErrorCode::CommandNotFound, "\"COMMAND_NOT_FOUND\""),
            (ErrorCode::Other("FROM_TOMORROW".to_owned()), "\"FROM_TOMORROW\""),
        ] {
            assert_eq!(serde_json::to_string(&code).expect("a word"), word);
            assert_eq!(serde_json::from_str::<ErrorCode>(word).expect("a code"), code);
        }
    }
}

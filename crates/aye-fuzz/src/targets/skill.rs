//! Skill files: reading, checking, listing.

use std::path::PathBuf;

use aye_runtime::skills::SkillFile;

use super::Target;

pub(super) struct Skill;

impl Target for Skill {
    fn run(&mut self, case: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(case).into_owned();
        let file = SkillFile::from_text(PathBuf::from("fuzz.yaml"), text);
        let shown = file.render(false);
        if file.has_errors() && shown.is_empty() {
            return Err("an error without a word".to_owned());
        }
        Ok(())
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "name: ",
            "steps:\n",
            "states:\n",
            "  - ",
            "compute: |\n",
            "shell: ",
            "command: ",
            "args: [",
            "condition: ",
            "foreach: ",
            "retry: { attempts: 3 }",
            "timeout: 1h",
            "match: '(a+)+$'",
            "heal:\n",
            "&a ",
            "*a",
            "<<: *a",
            "!!binary ",
            "? ",
            "| ",
            ">-\n",
            "---\n",
            "%YAML 1.2\n",
            "{{ ",
            " }}",
            "confirm:\n",
            "transitions: ",
            "initial: ",
            "inputs:\n",
            "type: secret",
            "default: ",
            "skill: ",
            "tool: ",
            "on_error: ",
        ]
    }
}

//! `aye completions`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use aye_runtime::error::Error;

use super::output::print;

// Options of `aye completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  aye completions bash > ~/.local/share/bash-completion/completions/aye\n  \
    aye completions zsh > ~/.zfunc/_aye\n  aye completions fish > ~/.config/fish/completions/aye.fish"
)]
pub struct CompletionsArgs {
    /// Which shell
    pub shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<u8, Error> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "aye", &mut bytes);
    print(&with_names(args.shell, &String::from_utf8_lossy(&bytes)))?;
    Ok(0)
}

/// The script, which knows verbs and options, made to ask `aye candidates`
/// where a name of the project or the journal may stand.
fn with_names(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => {
            let (body, end) = script.rsplit_once("\nif [[").unwrap_or((script, ""));
            let end = end.replace("complete -F _aye ", "complete -F _aye_names ");
            format!("{body}\n{BASH}\nif [[{end}")
        }
        Shell::Zsh => {
            let script = script.replace(":_default' \\", ":_aye_names' \\");
            let script = script.replacen(
                "\n_aye() {\n",
                "\n_aye() {\n    local -a aye_typed=(\"${(@)words[1,CURRENT]}\")\n",
                1,
            );
            let (body, end) = script.rsplit_once("\nif [ ").unwrap_or((&script, ""));
            format!("{body}\n{ZSH}\nif [ {end}")
        }
        Shell::Fish => format!("{script}{FISH}"),
        _ => script.to_owned(),
    }
}

const BASH: &str = r#"
_aye_names() {
    local line name so_far="${COMP_LINE:0:COMP_POINT}" typed=()
    COMPREPLY=()
    IFS=$' \t\n' read -ra typed <<< "$so_far"
    [[ $so_far == *[[:space:]] ]] && typed+=("")
    while IFS= read -r line; do
        printf -v name %q "${line%%$'\t'*}"
        COMPREPLY+=("$name")
    done < <(aye candidates "${typed[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        _aye "$@"
    elif [[ ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
"#;

const ZSH: &str = r#"
_aye_names() {
    local -a lines names shown
    lines=("${(@f)$(aye candidates "${(@Q)aye_typed}" 2>/dev/null)}")
    lines=("${(@)lines:#}")
    (( $#lines )) || { _default; return }
    names=("${(@)lines%%$'\t'*}")
    shown=("${(@)lines/$'\t'/  -- }")
    if [[ $names[1] == *= ]]; then
        compadd -S '' -l -d shown -a names
    else
        compadd -l -d shown -a names
    fi
}
"#;

const FISH: &str = r#"
function __fish_aye_names
    aye candidates (commandline -opc) (commandline -ct) 2>/dev/null
end
complete -c aye -n "not __fish_aye_needs_command" -a "(__fish_aye_names)"
complete -c aye -n "__fish_aye_using_subcommand run" -s i -l input -r -f -a "(__fish_aye_names)"
complete -c aye -n "__fish_aye_using_subcommand schedule; and __fish_seen_subcommand_from add" -s i -l input -r -f -a "(__fish_aye_names)"
complete -c aye -n "__fish_aye_using_subcommand run" -l from -r -f -a "(__fish_aye_names)"
complete -c aye -n "__fish_aye_using_subcommand run" -l only -r -f -a "(__fish_aye_names)"
complete -c aye -n "__fish_aye_using_subcommand runs" -l skill -r -f -a "(__fish_aye_names)"
"#;

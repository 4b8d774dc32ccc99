//! `aye tools` as a user would call it.

use insta::assert_snapshot;

use crate::cli::harness::{Place, signal, until};

use super::harness::own_server;

/// A place with our own server, trusted, and commands.
fn place() -> Place {
    let place = Place::new();
    let own = own_server(&place.work());
    place.write(
        "aye.toml",
        &format!(
            "{own}legacy = true\n\n\
             [tools.deploy]\ncommand = ['echo', '--to={{{{ args.environment }}}}', '{{{{ args.files }}}}']\n\
             description = 'Put it on a machine'\n\
             args = {{ environment = {{ enum = ['stage', 'production'], required = true }}, files = {{ type = 'array' }} }}\n\n\
             [tools.facts]\ncommand = ['sh', '-c', 'echo {{ \\\"n\\\": $N }}']\noutput = 'json'\nenv = {{ N = '4' }}\n\n\
             [tools.broken]\ncommand = ['sh', '-c', 'echo half; echo why >&2; exit 3']\n\n\
             [tools.slow]\ncommand = ['sh', '-c', 'echo $$ > pid; sleep 1000']\n"
        ),
    );
    place.aye(&["tools", "trust", "--yes"]).ok();
    place
}

#[test]
fn help() {
    let place = Place::new();
    assert_snapshot!(place.aye(&["tools", "--help"]).all(), @r#"
    --- stdout
    List and call the tools of this project

    Usage: aye tools [OPTIONS] <COMMAND>

    Commands:
      list    List the tools of this project
      call    Call a tool
      trust   Review what a server would start, and trust it
      forget  Stop trusting a server

    Options of every command:
          --home <DIR>    Where journal and logs are kept [default: ~/.local/state/aye] [env: AYE_HOME]
          --color <WHEN>  When to use colours: auto, always or never [env: AYE_COLOR] [default: auto]
          --json          Print JSON for programs [env: AYE_JSON]
      -q, --quiet         Print less: only the output of steps, and problems [env: AYE_QUIET]
      -v, --verbose       Print more: every event [env: AYE_VERBOSE]
          --plain         Plain ASCII lines, no live display: for screen readers and logs [env:
                          AYE_PLAIN]
      -h, --help          Print help

    Examples:
      aye tools list                              list this project's tools
      aye tools trust git                         review a server and trust it
      aye tools call git.git_status -a repo_path=.

    Tools are set up in `aye.toml`: `[tools.git]` with `server = ["uvx",
    "mcp-server-git"]` is an MCP server, `[tools.deploy]` with `command =
    ["./deploy", "{{ args.environment }}"]` a command.
    --- exit 0
    "#);
    assert_snapshot!(place.aye(&["tools", "call", "--help"]).all(), @r#"
    --- stdout
    Call a tool

    Usage: aye tools call [OPTIONS] <NAME>

    Arguments:
      <NAME>  `server.tool`, a tool that only one server has, or a command of `aye.toml`

    Options:
      -a, --arg <NAME=VALUE>  Set an argument, NAME=VALUE; converted to the type that the tool expects
          --args <JSON>       All arguments as one JSON object; `-` reads it from standard input
          --timeout <TIME>    How long it may take, such as DURATION or DURATION [default: as for steps]

    Options of every command:
          --home <DIR>    Where journal and logs are kept [default: ~/.local/state/aye] [env: AYE_HOME]
          --color <WHEN>  When to use colours: auto, always or never [env: AYE_COLOR] [default: auto]
          --json          Print JSON for programs [env: AYE_JSON]
      -q, --quiet         Print less: only the output of steps, and problems [env: AYE_QUIET]
      -v, --verbose       Print more: every event [env: AYE_VERBOSE]
          --plain         Plain ASCII lines, no live display: for screen readers and logs [env:
                          AYE_PLAIN]
      -h, --help          Print help

    Examples:
      aye tools call git.git_status -a repo_path=.
      aye tools call time.get_current_time --args '{"timezone": "Europe/Berlin"}'
      echo '{"environment": "stage"}' | aye tools call deploy --args -

    Exit codes: 0 done, 1 the tool failed, 2 the arguments do not fit, 3 there is
    no such tool, 5 declined, 6 nobody can be asked for trust, 124 timed out, 130
    interrupted.
    --- exit 0
    "#);
}

#[test]
fn listing() {
    let place = place();
    let list = place.aye(&["tools", "list"]).ok();
    assert_snapshot!(list.stdout.lines().filter(|line| !line.contains("server.sh")).collect::<Vec<_>>().join("\n"), @r"
      own.fine
        count  integer
      own.die
        count  integer
      own.never
        count  integer
      own.ask
        count  integer
      own.nonsense
        count  integer
      own.huge
        count  integer
      own.mute
        count  integer
    4 commands
      broken
      deploy  Put it on a machine
        environment  stage|production, required
        files  array
      facts
      slow
    ");
    let json = place.aye(&["tools", "list", "--json"]).ok().json();
    assert_eq!(json["servers"][0]["protocol"], "2025-11-25");
    assert_eq!(json["servers"][0]["tools"][0]["name"], "fine");
    assert_eq!(json["commands"][1]["name"], "deploy");
    assert_eq!(place.aye(&["tools", "list", "owm"]).code, 3);
    assert_snapshot!(Place::new().aye(&["tools", "list"]).all(), @r"
    --- stderr
    error: this project has no tools
    hint: `[tools.NAME]` in `aye.toml` names MCP servers and commands
    --- exit 3
    ");
}

#[test]
fn calling_a_server() {
    let place = place();
    assert_snapshot!(place.aye(&["tools", "call", "own.fine", "-a", "count=3"]).all(), @r"
    --- stdout
    Status: fine
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["tools", "call", "fine", "--json"]).all(), @r#"
    --- stdout
    {
      "value": "Status: fine",
      "text": "Status: fine",
      "parsed": {
        "status": "fine"
      }
    }
    --- exit 0
    "#);
    assert_snapshot!(place.aye_with_input(&["tools", "call", "own.fine", "--args", "-"], "{\"cuont\": 1}").all(), @r"
    --- stderr
    error: the arguments do not fit `own.fine`: `cuont` is not an argument of it
    hint: did you mean `count`?
    --- exit 2
    ");
    assert_snapshot!(place.aye(&["tools", "call", "own.fien"]).all(), @r"
    --- stderr
    error: the server `own` has no tool `fien`
    hint: did you mean `own.fine`?
    --- exit 3
    ");
    assert_snapshot!(place.aye(&["tools", "call", "own.die"]).all(), @r"
    --- stderr
    error: the server `own` ended during the call: it ended with exit code 7
    hint: its last output: out of cheese
    --- exit 1
    ");
    assert_snapshot!(place.aye(&["tools", "call", "own.never", "--timeout", "300ms"]).all(), @r"
    --- stderr
    error: `own.never` took longer than DURATION
    --- exit 124
    ");
    assert_snapshot!(place.aye(&["tools", "call", "own.fine", "-a", "count"]).all(), @r"
    --- stderr
    error: `count` is not an argument
    hint: write `-a name=value`
    --- exit 2
    ");
    assert_snapshot!(place.aye(&["tools", "call", "own.fine", "--args", "[1]"]).all(), @r#"
    --- stderr
    error: `--args` is not a JSON object: invalid type: sequence, expected a map at line 1 column 0
    hint: write `--args '{"name": "value"}'`
    --- exit 2
    "#);
}

#[test]
fn calling_a_command() {
    let place = place();
    let files = r#"{"environment": "stage", "files": ["a b", "$(c)"]}"#;
    assert_snapshot!(place.aye(&["tools", "call", "deploy", "--args", files]).all(), @r"
    --- stdout
    --to=stage a b $(c)
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["tools", "call", "deploy", "-a", "environment=prod"]).all(), @r"
    --- stderr
    error: the arguments do not fit `deploy`: `environment` must be `stage` or `production`, not `prod`
    hint: `aye tools list` shows the arguments of `deploy`
    --- exit 2
    ");
    assert_snapshot!(place.aye(&["tools", "call", "facts", "--json"]).all(), @r#"
    --- stdout
    {
      "value": {
        "n": 4
      },
      "text": "{ \"n\": 4 }",
      "parsed": null
    }
    --- exit 0
    "#);
    assert_snapshot!(place.aye(&["tools", "call", "broken"]).all(), @r"
    --- stderr
    why
    error: `broken` ended with exit code 3: half
    --- exit 1
    ");
    assert_snapshot!(place.aye(&["tools", "call", "slow", "--timeout", "200ms"]).all(), @r"
    --- stderr
    error: `slow` took longer than DURATION
    --- exit 124
    ");
    assert_snapshot!(place.aye(&["tools", "call", "deplou", "-a", "environment=stage"]).all(), @r"
    --- stderr
    error: there is no tool `deplou`
    hint: did you mean `deploy`?
    --- exit 3
    ");
}

#[test]
fn ctrl_c_cancels_a_call() {
    let place = place();
    let child = place.start(&["tools", "call", "own.never"]);
    until("the call", || place.read("notes").contains("tools/call"));
    signal(&child, rustix::process::Signal::INT);
    let ran = place.finish(child);
    assert_eq!(ran.code, 130, "{}", ran.all());
    assert!(place.read("notes").contains("notifications/cancelled"));

    let child = place.start(&["tools", "call", "slow"]);
    until("the command", || !place.read("pid").trim().is_empty());
    signal(&child, rustix::process::Signal::INT);
    assert_eq!(place.finish(child).code, 130);
}

#[test]
fn an_agreement_is_taken_back() {
    let place = place();
    assert_snapshot!(place.aye(&["tools", "forget", "own"]).all(), @r"
    --- stdout
    own is no longer trusted
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["tools", "forget", "own"]).all(), @r"
    --- stdout
    own was not trusted
    --- exit 0
    ");
    assert_eq!(place.aye(&["tools", "call", "own.fine"]).code, 6);
}

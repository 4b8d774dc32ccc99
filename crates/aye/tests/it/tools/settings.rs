//! `[tools.*]` as people write it, also when they write it wrong.

use insta::assert_snapshot;

use crate::cli::harness::Place;

/// What Aye says to this `aye.toml`.
fn said(text: &str) -> String {
    let place = Place::new();
    place.write("aye.toml", text);
    let ran = place.aye(&["tools", "list"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    ran.stderr.lines().filter(|line| !line.contains("aye init")).collect::<Vec<_>>().join("\n")
}

#[test]
fn neither_a_server_nor_a_command() {
    assert_snapshot!(said("[tools.x]\ndescription = 'what?'\n"), @r#"
    error: `tools.x` needs one of `server`, `url`, `command`
      --> aye.toml:1:8
       |
     1 | [tools.x]
       |        ^
       |
    hint: `server = ["npx", "…"]` starts an MCP server, `url = "https://…"` connects to one, `command = ["./script"]` names a command
    "#);
    assert_snapshot!(said("[tools.x]\nserver = ['a']\nurl = 'https://x'\n"), @r#"
    error: `tools.x` needs one of `server`, `url`, `command`
      --> aye.toml:1:8
       |
     1 | [tools.x]
       |        ^
       |
    hint: `server = ["npx", "…"]` starts an MCP server, `url = "https://…"` connects to one, `command = ["./script"]` names a command
    "#);
    assert_snapshot!(said("[tools.'a.b']\nserver = ['a']\n"), @r"
    error: `a.b` cannot name a tool
      --> aye.toml:1:8
       |
     1 | [tools.'a.b']
       |        ^^^^^
       |
    hint: use letters, digits, `_` and `-`
    ");
    assert_snapshot!(said("[tools.x]\nserver = []\n"), @r#"
    error: the list names no program
      --> aye.toml:2:10
       |
     2 | server = []
       |          ^^
       |
    hint: `["program", "argument"]`
    "#);
    assert_snapshot!(said("[tools.x]\nserver = ['a']\nargs = { a = {} }\n"), @r"
    error: `args` is for commands, not for MCP servers
      --> aye.toml:3:8
       |
     3 | args = { a = {} }
       |        ^^^^^^^^^^
       |
    hint: an MCP server describes its own tools
    ");
    assert_snapshot!(said("[tools.x]\nserver = ['a']\ntimeuot = '1s'\n"), @r"
    error: unknown key `timeuot`, expected one of `server`, `url`, `command`, `args`, `description`, `output`, `cwd`, `env`, `pass_env`, `token_env`, `timeout`, `start_timeout`, `legacy`, `destructive`, `read_only`
      --> aye.toml:3:1
       |
     3 | timeuot = '1s'
       | ^^^^^^^
    ");
}

#[test]
fn a_server_written_as_elsewhere() {
    assert_snapshot!(said("[tools.x]\ncommand = 'npx'\nargs = ['-y', 'server']\n"), @r#"
    error: `command` is a list: the program and its arguments
      --> aye.toml:2:11
       |
     2 | command = 'npx'
       |           ^^^^^
       |
    hint: `command = ["./script", "{{ args.name }}"]`; an MCP server is written `server = ["program", "argument"]`
    "#);
    assert_snapshot!(said("[tools.x]\ncommand = ['npx']\nargs = ['-y', 'server']\n"), @r#"
    error: `args` says which arguments the command has
      --> aye.toml:3:8
       |
     3 | args = ['-y', 'server']
       |        ^^^^^^^^^^^^^^^^
       |
    hint: `args = { name = { type = "string", required = true } }`; an MCP server is written `server = ["program", "argument"]`
    "#);
}

#[test]
fn addresses_are_encrypted_or_here() {
    assert_snapshot!(said("[tools.x]\nurl = 'http://example.org/mcp'\n"), @r"
    error: `http://example.org/mcp` is not encrypted
      --> aye.toml:2:7
       |
     2 | url = 'http://example.org/mcp'
       |       ^^^^^^^^^^^^^^^^^^^^^^^^
       |
    hint: use `https://`; plain `http://` is for this machine: `http://127.0.0.1:PORT/…`
    ");
    assert_snapshot!(said("[tools.x]\nurl = 'https://me:secret@example.org/mcp'\n"), @r#"
    error: the `url` of `tools.x` holds a user or password
      --> aye.toml
    hint: `token_env = "NAME"` sends the token that a variable holds
    "#);
    assert_snapshot!(said("[tools.x]\nurl = 'ftp://example.org'\n"), @r"
    error: `ftp://example.org` is not an address of a server
      --> aye.toml:2:7
       |
     2 | url = 'ftp://example.org'
       |       ^^^^^^^^^^^^^^^^^^^
       |
    hint: write `https://host/path`
    ");
    assert_snapshot!(said("[tools.x]\nurl = '/mcp'\n"), @r"
    error: `/mcp` names no host
      --> aye.toml:2:7
       |
     2 | url = '/mcp'
       |       ^^^^^^
       |
    hint: write `https://host/path`
    ");
}

#[test]
fn arguments_of_commands() {
    assert_snapshot!(said("[tools.x]\ncommand = ['a']\nargs = { n = { type = 'int' } }\n"), @r"
    error: argument `n`: there is no type `int`
      --> aye.toml:3:8
       |
     3 | args = { n = { type = 'int' } }
       |        ^^^^^^^^^^^^^^^^^^^^^^^^
       |
    hint: types are `string`, `integer`, `number`, `boolean`, `array` and `object`
    ");
    assert_snapshot!(said("[tools.x]\ncommand = ['a']\nargs = { n = { kind = 'integer' } }\n"), @r"
    error: argument `n`: unknown key `kind`, expected one of `type`, `required`, `description`, `enum`, `default`, `match`, `min`, `max`
      --> aye.toml:3:8
       |
     3 | args = { n = { kind = 'integer' } }
       |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(said("[tools.x]\ncommand = ['a']\nargs = { n = { type = 'integer', default = 'x' } }\n"), @r"
    error: argument `n`: its `default` must be a whole number, not text
      --> aye.toml:3:8
       |
     3 | args = { n = { type = 'integer', default = 'x' } }
       |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(said("[tools.x]\ncommand = ['a']\nargs = { n = { required = true, default = 'x' } }\n"), @r"
    error: argument `n`: it is required, so its `default` is never used
      --> aye.toml:3:8
       |
     3 | args = { n = { required = true, default = 'x' } }
       |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
    hint: leave out one of the two
    ");
    assert_snapshot!(said("[tools.x]\ncommand = ['a']\nlegacy = true\n"), @r#"
    error: `legacy` is for MCP servers, not for commands
      --> aye.toml:3:10
       |
     3 | legacy = true
       |          ^^^^
       |
    hint: an MCP server is written `server = ["program", "argument"]`
    "#);
    assert_snapshot!(said("[tools.x]\ncommand = ['a']\ntimeout = 5\n"), @r#"
    error: invalid type: integer `5`, expected a string
      --> aye.toml:3:11
       |
     3 | timeout = 5
       |           ^
       |
    hint: write a time with its unit, in quotes: `"5s"` for seconds, `"5ms"` for milliseconds
    "#);
}

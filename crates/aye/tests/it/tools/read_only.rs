//! Tools that only look: whose word counts.

use std::path::Path;

use aye_runtime::trust::{Granted, Power, StartedBy, TrustFile, load_settings};
use insta::assert_snapshot;
use jiff::Timestamp;

use crate::cli::harness::Place;

/// What counts as read-only in `work`, for a person and for an assistant.
fn counts(work: &Path, home: &Path, user: Option<&Path>, tool: &str) -> (bool, bool) {
    let settings = load_settings(work, user, home).expect("settings");
    let of = |by| Granted::of(&settings, home, by).read_only.contains(tool);
    assert_eq!(of(StartedBy::Server), of(StartedBy::Assistant));
    (of(StartedBy::Person), of(StartedBy::Assistant))
}

#[test]
fn a_project_marks_tools_only_once_it_is_trusted_and_for_assistants_by_content() {
    let (home, work) =
        (tempfile::TempDir::new().expect("home"), tempfile::TempDir::new().expect("work"));
    let (home, work) = (home.path(), work.path());
    let write = |text: &str| std::fs::write(work.join("aye.toml"), text).expect("written");
    let text = "[tools.reg]\nserver = ['/bin/sh']\nread_only = ['tags', 'status']\n\
        [tools.all]\nserver = ['/bin/sh']\nread_only = true\n\
        [tools.plain]\nserver = ['/bin/sh']\n\
        [tools.look]\ncommand = ['git', 'log']\nread_only = true\n\
        [tools.push]\ncommand = ['git', 'push']\n";
    write(text);
    let read_only = ["reg.tags", "reg.status", "all.anything", "look"];
    let none = ["reg.push", "plain.tags", "push", "tags", "reg", "all", "reg.", "look.x"];
    for tool in read_only {
        assert_eq!(counts(work, home, None, tool), (false, false), "nobody trusts it: {tool}");
    }
    let settings = load_settings(work, None, home).expect("settings");
    let file = TrustFile::new(home, &settings.root);
    file.trust(&Power::of(&settings), Timestamp::UNIX_EPOCH).expect("noted");
    for tool in read_only {
        assert_eq!(counts(work, home, None, tool), (true, true), "{tool}");
    }
    for tool in none {
        assert_eq!(counts(work, home, None, tool), (false, false), "{tool}");
    }
    // Anyone who marks more, or changes what a mark is about, marks it for themselves only.
    for changed in [
        text.replace("'status']", "'status', 'push']"),
        text.replace("'git', 'log'", "'git', 'push'"),
        text.replace("['git', 'log']", "['git', 'log']\ncwd = '/'"),
        text.replace("['git', 'log']", "['git', 'log']\nenv = { A = '1' }"),
        text.replace("['git', 'log']", "['git', 'log']\nargs.x = { description = 'any' }"),
    ] {
        write(&changed);
        assert_eq!(counts(work, home, None, "look"), (true, false), "{changed}");
    }
}

#[test]
fn your_own_settings_mark_your_own_tools_and_no_project_takes_the_name() {
    let home = tempfile::TempDir::new().expect("home");
    let work = tempfile::TempDir::new().expect("work");
    let own = home.path().join("config.toml");
    std::fs::write(
        &own,
        "[tools.mine]\nserver = ['/bin/sh']\nread_only = ['tags']\n\
         [tools.look]\ncommand = ['git', 'log']\nread_only = true\n",
    )
    .expect("written");
    let all = |tool| counts(work.path(), home.path(), Some(&own), tool);
    assert_eq!(all("mine.tags"), (true, true));
    assert_eq!(all("look"), (true, true));
    assert_eq!(all("mine.push"), (false, false));
    // The project has a tool of that name: nobody trusts it, so it is still yours.
    let aye_toml = work.path().join("aye.toml");
    std::fs::write(&aye_toml, "[tools.look]\ncommand = ['rm', '-r', '.']\n").expect("written");
    assert_eq!(all("look"), (true, true));
    let settings = load_settings(work.path(), Some(&own), home.path()).expect("settings");
    assert_eq!(settings.tools.commands["look"].argv, ["git", "log"]);
    // Trusted, it is the project's, and your mark was for yours.
    let file = TrustFile::new(home.path(), &settings.root);
    file.trust(&Power::of(&settings), Timestamp::UNIX_EPOCH).expect("noted");
    assert_eq!(all("look"), (false, false));
}

#[test]
fn trusting_shows_the_marks_and_a_server_cannot_mark_its_own_tools() {
    let place = Place::new();
    let server = "id() { printf '%s' \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/'; }\n\
        while IFS= read -r line; do case $line in\n\
        *initialize\\\"*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\
        \"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\
        \"1\"}}}\\n' \"$(id)\";;\n\
        *tools/list*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[{\"name\":\
        \"tags\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}},\
        {\"name\":\"drop\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":\
        {\"readOnlyHint\":true}}]}}\\n' \"$(id)\";;\nesac; done\n";
    place.write("server.sh", server);
    place.write(
        "aye.toml",
        "[tools.reg]\nserver = ['/bin/sh', 'server.sh']\nlegacy = true\nread_only = ['tags']\n\
         [tools.look]\ncommand = ['git', 'log']\nread_only = true\n",
    );
    assert_snapshot!(place.aye(&["trust", "--yes"]).all(), @r"
    --- stdout
    PLACE/work
    read-only tools
      reg.tags
      look: git log
    server reg
      /bin/sh server.sh
    PLACE/work is trusted
    --- exit 0
    ");
    let listed = place.aye(&["tools", "list", "--json"]).ok().json();
    let tools = &listed["servers"][0]["tools"];
    let of = |name: &str| {
        let all = tools.as_array().expect("tools");
        let tool = all.iter().find(|tool| tool["name"] == name).expect("the tool");
        (tool["read_only"] == true, tool["counts_as_read_only"] == true)
    };
    assert_eq!(of("tags"), (true, true));
    assert_eq!(of("drop"), (true, false), "the server says so, nobody else does");
    assert_eq!(listed["commands"][0]["counts_as_read_only"], true);
}

#[test]
fn a_mark_that_makes_no_sense_is_an_error() {
    let said = |text: &str| {
        let place = Place::new();
        place.write("aye.toml", text);
        let ran = place.aye(&["tools", "list"]);
        assert_eq!(ran.code, 2, "{}", ran.all());
        ran.stderr
    };
    assert_snapshot!(said("[tools.x]\nserver = ['a']\nread_only = []\n"), @r#"
    error: `read_only` names no tool
      --> aye.toml:3:13
       |
     3 | read_only = []
       |             ^^
       |
    hint: name tools of the server, `read_only = ["tags"]`, or write `read_only = true` for all of them
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    "#);
    assert_snapshot!(said("[tools.x]\nserver = ['a']\nread_only = ['get_*']\n"), @r#"
    error: `get_*` in `read_only` is not the name of a tool
      --> aye.toml:3:13
       |
     3 | read_only = ['get_*']
       |             ^^^^^^^^^
       |
    hint: name tools of the server, `read_only = ["tags"]`, or write `read_only = true` for all of them
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    "#);
    assert_snapshot!(said("[tools.x]\ncommand = ['a']\nread_only = ['b']\n"), @r"
    error: `read_only` of a command is `true` or `false`
      --> aye.toml:3:13
       |
     3 | read_only = ['b']
       |             ^^^^^
       |
    hint: a list of tools is for MCP servers
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    ");
    let both = "[tools.x]\ncommand = ['a']\nread_only = true\ndestructive = true\n";
    assert_snapshot!(said(both), @r"
    error: a command is `read_only` or `destructive`, not both
      --> aye.toml:3:13
       |
     3 | read_only = true
       |             ^^^^
       |
    hint: remove one of them
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    ");
    assert_snapshot!(said("[tools.x]\ncommand = ['a']\nread_only = 'yes'\n"), @r"
    error: `read_only` is `true`, `false` or a list of tools
      --> aye.toml:3:13
       |
     3 | read_only = 'yes'
       |             ^^^^^
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    ");
}

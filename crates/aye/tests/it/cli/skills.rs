//! Looking at skills: `list`, `check`, `graph`, `schema`, `init`.

use insta::assert_snapshot;

use super::harness::Place;

const GOOD: &str = "\
name: release
description: Promote a commit
inputs:
  - { name: commit, required: true, description: Which }
  - { name: environment, default: stage }
steps:
  - { name: build, command: make }
  - { name: ship, command: echo, args: ['{{ build }}'], confirmation: Ship? }
";

const WARNS: &str = "\
name: warns
initial: a
states:
  a: { shell: echo a, transitions: { success: done } }
  lost: { shell: echo lost, transitions: { success: done } }
  done: { type: final }
";

const BROKEN: &str = "\
name: broken
steps:
  - name: one
    comand: echo
  - name: one
    shell: echo
    timeout: 5
";

fn project() -> Place {
    let place = Place::new();
    place.write("skills/release.yaml", GOOD);
    place.write("skills/deep/warns.yml", WARNS);
    place.write("skills/broken.yaml", BROKEN);
    place.write("skills/notes.txt", "no skill");
    place
}

#[test]
fn list_shows_the_skills_with_what_they_need() {
    assert_snapshot!(project().aye(&["list"]).all(), @r"
    --- stdout
    ✗ broken   3 errors: aye check skills/broken.yaml
    ▸ warns
    ▸ release  Promote a commit  -i commit=…
    --- exit 0
    ");
}

#[test]
fn list_as_json() {
    let place = project();
    std::fs::remove_file(place.work().join("skills/broken.yaml")).unwrap();
    assert_snapshot!(place.aye(&["list", "--json"]).all(), @r#"
    --- stdout
    [
      {
        "name": "warns",
        "description": null,
        "file": "skills/deep/warns.yml",
        "inputs": [],
        "steps": 2,
        "errors": 0
      },
      {
        "name": "release",
        "description": "Promote a commit",
        "file": "skills/release.yaml",
        "inputs": [
          {
            "name": "commit",
            "type": "string",
            "required": true,
            "description": "Which"
          },
          {
            "name": "environment",
            "type": "string",
            "required": false,
            "description": null,
            "default": "stage"
          }
        ],
        "steps": 2,
        "errors": 0
      }
    ]
    --- exit 0
    "#);
}

#[test]
fn list_looks_where_the_settings_say() {
    let place = Place::new();
    assert_snapshot!(place.aye(&["list"]).all(), @r#"
    --- stderr
    error: there are no skills here
    hint: `aye init` makes a first one; `skills = ["…"]` in `aye.toml` says where to look
    --- exit 3
    "#);
    assert_eq!(place.aye(&["list", "--json"]).ok().json(), serde_json::json!([]));
    place.write("aye.toml", "skills = [\"books\"]\n");
    place.write("books/release.yaml", GOOD);
    place.write("below/x", "");
    let output = place.command(&["list"]).current_dir(place.work().join("below")).output().unwrap();
    let ran = super::harness::Ran::of(output, &place).ok();
    assert!(ran.stdout.contains("release"), "{}", ran.all());
}

#[test]
fn check_says_what_is_wrong_and_where() {
    assert_snapshot!(project().aye(&["check"]).all(), @r"
    --- stdout
    error[unknown-key]: unknown key `comand` in step `one`
      --> skills/broken.yaml:4:5
       |
     4 |     comand: echo
       |     ^^^^^^ did you mean `command`?

    error[duplicate-name]: step `one` is there twice
      --> skills/broken.yaml:5:11
       |
     3 |   - name: one
       |           --- first here
    ...
     5 |   - name: one
       |           ^^^ again here

    error[bad-duration]: `5` has no unit
      --> skills/broken.yaml:7:14
       |
     7 |     timeout: 5
       |              ^
       |
    hint: write `DURATION` for seconds or `DURATION` for milliseconds

    warning[unreachable]: state `lost` cannot be reached
      --> skills/deep/warns.yml:5:3
       |
     5 |   lost: { shell: echo lost, transitions: { success: done } }
       |   ^^^^

    ✗ 2 valid skills in 3 files: 3 errors, 1 warning
    --- exit 2
    ");
}

#[test]
fn check_takes_files_and_directories() {
    let place = project();
    assert_snapshot!(place.aye(&["check", "skills/release.yaml"]).all(), @r"
    --- stdout
    ✓ 1 valid skill in 1 file
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["check", "skills/deep", "skills/release.yaml"]).all(), @r"
    --- stdout
    warning[unreachable]: state `lost` cannot be reached
      --> skills/deep/warns.yml:5:3
       |
     5 |   lost: { shell: echo lost, transitions: { success: done } }
       |   ^^^^

    ✓ 2 valid skills in 2 files: 1 warning
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["check", "gone.yaml"]).all(), @r"
    --- stderr
    error: cannot read `PLACE/work/gone.yaml`: No such file or directory (os error 2)
    hint: check the path
    --- exit 3
    ");
    std::fs::create_dir(place.work().join("empty")).unwrap();
    assert_snapshot!(place.aye(&["check", "empty"]).all(), @r"
    --- stderr
    error: there is nothing to check
    hint: name a file or a directory, or make a skill with `aye init`
    --- exit 3
    ");
    std::fs::write(place.work().join("latin.yaml"), b"name: gr\xfcn\n").unwrap();
    assert_snapshot!(place.aye(&["check", "latin.yaml"]).all(), @r"
    --- stderr
    error: cannot read `PLACE/work/latin.yaml`: invalid utf-8 sequence of 1 bytes from index 8
    hint: save it as UTF-8 text
    --- exit 4
    ");
}

#[test]
fn strict_makes_errors_of_warnings() {
    let place = project();
    assert_eq!(place.aye(&["check", "skills/deep"]).code, 0);
    let ran = place.aye(&["check", "skills/deep", "--strict"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stdout.ends_with("\u{2717} 1 valid skill in 1 file: 1 warning\n"), "{}", ran.all());
}

#[test]
fn check_as_json() {
    let place = project();
    assert_snapshot!(place.aye(&["check", "--json", "skills/deep"]).all(), @r#"
    --- stdout
    [
      {
        "severity": "warning",
        "code": "unreachable",
        "message": "state `lost` cannot be reached",
        "file": "skills/deep/warns.yml",
        "line": 5,
        "column": 3,
        "end_line": 5,
        "end_column": 7,
        "labels": [
          {
            "text": "",
            "line": 5,
            "column": 3,
            "end_line": 5,
            "end_column": 7
          }
        ]
      }
    ]
    --- exit 0
    "#);
    let ran = place.aye(&["check", "--json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.json().as_array().unwrap().len() > 2);
}

/// A picture by a program that knows no CSS variables has the colours of the light page.
#[test]
fn graph_draws_pixels() {
    const COLOURS: &str = r#"
import collections, struct, sys, zlib
data = open(sys.argv[1], "rb").read()
width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
packed, at = b"", 8
while at < len(data):
    size, name = struct.unpack(">I4s", data[at:at + 8])
    packed += data[at + 8:at + 8 + size] if name == b"IDAT" else b""
    at += 12 + size
raw, step = zlib.decompress(packed), {2: 3, 6: 4}[kind]
before, seen = bytearray(width * step), collections.Counter()
for row in range(height):
    start = row * (width * step + 1)
    how, line = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
    for i in range(len(line)):
        a = line[i - step] if i >= step else 0
        b, c = before[i], before[i - step] if i >= step else 0
        nearest = min((a, b, c), key=lambda one: abs(a + b - c - one))
        line[i] = (line[i] + (0, a, b, (a + b) // 2, nearest)[how]) & 255
    before = line
    seen.update(bytes(line[x:x + 3]).hex() for x in range(0, len(line), step))
print(seen.most_common(1)[0][0], seen["b45309"] > 0, seen["f0fdf4"] > 0)
"#;
    let place = project();
    place.aye(&["graph", "release", "-f", "png", "-o", "release.png"]).ok();
    let file = place.work().join("release.png");
    assert!(std::fs::read(&file).unwrap().starts_with(b"\x89PNG"), "not a PNG picture");
    let colours = std::process::Command::new("python3").args(["-c", COLOURS]).arg(&file).output();
    let colours = String::from_utf8(colours.unwrap().stdout).unwrap();
    assert_eq!(colours.trim(), "ffffff True True", "page, gate, a good end");
}

#[test]
fn graph_draws_in_four_ways() {
    let place = project();
    assert_snapshot!(place.aye(&["graph", "release"]).all(), @r"
    --- stdout
    release  Promote a commit

      ▸ build      make
      ▸ ship       echo {{ build }}
      │ ⚑ asks first  Ship?
      │ └ declined → cancelled
      │
      ■ end
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["graph", "release", "--format", "mermaid"]).all(), @r#"
    --- stdout
    flowchart TD
      start((" "))
      n0["build<br/>make"]
      n1["ship<br/>⚑ asks first#58; Ship#63;<br/>echo #123;#123; build #125;#125;"]
      n2(["end"])
      n3(["cancelled"])
      start --> n0
      n0 --> n1
      n1 --> n2
      n1 -.->|"declined"| n3
      classDef command fill:#eef2f7,stroke:#64748b,color:#0f172a
      classDef question fill:#fef3c7,stroke:#b45309,color:#451a03
      classDef gate fill:#eef2f7,stroke:#d97706,stroke-width:3px,color:#0f172a
      classDef note fill:#f8fafc,stroke:#94a3b8,stroke-dasharray:3 3,color:#334155
      classDef completed fill:#dcfce7,stroke:#15803d,color:#052e16
      classDef failed fill:#fee2e2,stroke:#b91c1c,color:#450a0a
      classDef cancelled fill:#f1f5f9,stroke:#64748b,stroke-dasharray:4 3,color:#1e293b
      classDef start fill:#64748b,stroke:#64748b
      classDef unreached opacity:0.5
      class start start
      class n0 command
      class n1 gate
      class n2 completed
      class n3 cancelled
    --- exit 0
    "#);
    assert_snapshot!(place.aye(&["graph", "release", "-f", "dot"]).all(), @r##"
    --- stdout
    digraph flow {
      graph [label="release", labelloc=t, fontname=Helvetica, rankdir=TB]
      node [fontname=Helvetica, fontsize=11, style=filled, shape=box]
      edge [fontname=Helvetica, fontsize=9]
      start [label="", shape=circle, width=0.18, fillcolor="#64748b", color="#64748b"]
      n0 [label="build\nmake", shape=box, style="filled", fillcolor="#eef2f7", color="#64748b", fontcolor="#0f172a"]
      n1 [label="ship\n⚑ asks first: Ship?\necho {{ build }}", shape=box, style="filled,bold", fillcolor="#eef2f7", color="#d97706", fontcolor="#0f172a"]
      n2 [label="end", shape=box, style="filled,rounded", fillcolor="#dcfce7", color="#15803d", fontcolor="#0f172a"]
      n3 [label="cancelled", shape=box, style="filled,rounded,dashed", fillcolor="#f1f5f9", color="#64748b", fontcolor="#0f172a"]
      start -> n0
      n0 -> n1 [color="#475569", fontcolor="#475569"]
      n1 -> n2 [color="#475569", fontcolor="#475569"]
      n1 -> n3 [label="declined", color="#b45309", fontcolor="#b45309", style=dashed]
    }
    --- exit 0
    "##);
    let svg = place.aye(&["graph", "release", "-f", "svg"]).ok().stdout;
    let document = roxmltree::Document::parse(&svg).expect("SVG is XML");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    assert!(svg.contains("build") && svg.contains("ship"));
}

#[test]
fn graph_refuses_what_it_cannot_draw() {
    let place = project();
    assert_snapshot!(place.aye(&["graph", "release", "-f", "pdf"]).all(), @r"
    --- stderr
    error: `pdf` does not fit `--format <FORMAT>`
    hint: it is one of: text, mermaid, dot, svg, png
    --- exit 2
    ");
    assert_snapshot!(place.aye(&["graph", "skills/broken.yaml"]).all(), @r"
    --- stderr
    error[unknown-key]: unknown key `comand` in step `one`
      --> skills/broken.yaml:4:5
       |
     4 |     comand: echo
       |     ^^^^^^ did you mean `command`?

    error[duplicate-name]: step `one` is there twice
      --> skills/broken.yaml:5:11
       |
     3 |   - name: one
       |           --- first here
    ...
     5 |   - name: one
       |           ^^^ again here

    error[bad-duration]: `5` has no unit
      --> skills/broken.yaml:7:14
       |
     7 |     timeout: 5
       |              ^
       |
    hint: write `DURATION` for seconds or `DURATION` for milliseconds

    error: `skills/broken.yaml` cannot be drawn
    --- exit 2
    ");
    assert_eq!(place.aye(&["graph", "nosuch"]).code, 3);
}

#[test]
fn schema_is_the_one_that_is_published() {
    let ran = Place::new().aye(&["schema"]).ok();
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/skill.schema.json");
    let published = std::fs::read_to_string(published).unwrap();
    assert_eq!(ran.json(), serde_json::from_str::<serde_json::Value>(&published).unwrap());
}

#[test]
fn init_makes_a_skill_that_runs_and_overwrites_nothing() {
    let place = Place::new();
    assert_snapshot!(place.aye(&["init"]).all(), @r"
    --- stdout
    ✓ aye.toml
    ✓ skills/hello.yaml
    ✓ .aye/skill.schema.json

    Run it:  aye run hello
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["check", "--strict"]).all(), @r"
    --- stdout
    ✓ 1 valid skill in 1 file
    --- exit 0
    ");
    assert_eq!(
        place.aye(&["-q", "run", "hello", "--yes", "-i", "who=you"]).ok().stdout,
        "Hello, you!\nHello, you!\n"
    );
    // The line by which editors find the schema, from where the skill is.
    let skill = place.read("skills/hello.yaml");
    let schema = skill.lines().next().unwrap().strip_prefix("# yaml-language-server: $schema=");
    let schema = place.work().join("skills").join(schema.expect("the first line names it"));
    let schema = std::fs::read_to_string(schema.canonicalize().unwrap()).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&schema).unwrap().is_object());
    let settings = place.read("aye.toml");
    let mine = place.write("skills/hello.yaml", "mine");
    assert_snapshot!(place.aye(&["init"]).all(), @r"
    --- stderr
    error: `skills/hello.yaml` is there already; nothing was changed
    hint: choose another name: `aye init NAME`
    --- exit 2
    ");
    assert_eq!(std::fs::read_to_string(mine).unwrap(), "mine");
    assert_snapshot!(place.aye(&["init", "release"]).all(), @r"
    --- stdout
    − aye.toml is there already
    ✓ skills/release.yaml
    − .aye/skill.schema.json is there already

    Run it:  aye run release
    --- exit 0
    ");
    assert_eq!(place.read("aye.toml"), settings);
    assert_snapshot!(place.aye(&["init", "../evil"]).all(), @r"
    --- stderr
    error: `../evil` is not a name for a skill
    hint: use letters, digits, `-` and `_`, beginning with a letter
    --- exit 2
    ");
}

#[test]
fn init_does_not_write_through_links() {
    for (link, to) in [("skills", "folder"), ("skills/hello.yaml", "folder/victim")] {
        let place = Place::new();
        place.write("../folder/kept", "");
        if link != "skills" {
            std::fs::create_dir(place.work().join("skills")).unwrap();
        }
        std::os::unix::fs::symlink(place.path().join(to), place.work().join(link)).unwrap();
        let ran = place.aye(&["init"]);
        assert_eq!(ran.code, 1, "{link}: {}", ran.all());
        assert!(ran.stderr.contains(&format!("{link}` is a link")), "{}", ran.all());
        let there = std::fs::read_dir(place.path().join("folder")).unwrap().count();
        assert_eq!(there, 1, "{link}: nothing is written there");
        assert!(!place.work().join("aye.toml").exists(), "{link}: nothing is written here");
    }
}

const ASKS: &str = "\
name: clean
description: |
  Remove what is old.
  Asks before.
inputs:
  - { name: age, type: integer, default: 30, description: Days }
  - { name: where, enum: [stage, production], required: true }
  - { name: token, type: secret, default: hunter2 }
  - { name: tag, match: 'v[0-9]+', required: false }
steps:
  - { name: find, command: find, description: Looks }
  - { name: sure, confirm: \"Remove from {{ inputs.where }}?\", condition: inputs.age > 7 }
  - { name: remove, command: rm, destructive: true, confirmation: Sure? }
outputs: [{ name: found, value: '{{ find }}' }]
";

#[test]
fn list_shows_one_skill_whole() {
    let place = Place::new();
    place.write("skills/clean.yaml", ASKS);
    assert_snapshot!(place.aye(&["list", "clean"]).all(), @r"
    --- stdout
    clean  skills/clean.yaml
      Remove what is old.
      Asks before.

    inputs
      age    integer, default 30  Days
      where  stage | production, required
      token  secret, has a default
      tag    string, like v[0-9]+

    3 steps
      1. find  command  Looks
      2. sure  confirm
         if inputs.age > 7
         ? Remove from {{ inputs.where }}?
      3. remove  command destructive
         ? Sure?

    aye run clean -i where=…
    --- exit 0
    ");
    let whole = place.aye(&["list", "clean", "--json"]).ok().json();
    assert_eq!(whole["inputs"][0]["default"], 30);
    assert_eq!(whole["inputs"][1]["enum"], serde_json::json!(["stage", "production"]));
    assert_eq!(whole["inputs"][2].get("default"), None);
    assert_eq!(whole["inputs"][3]["match"], "v[0-9]+");
    assert_eq!(whole["plan"][2]["message"], "Sure?");
    assert_eq!(whole["outputs"], serde_json::json!(["found"]));
    assert_snapshot!(place.aye(&["list", "claen"]).all(), @r"
    --- stderr
    error: there is no skill `claen`
    hint: did you mean `clean`?
    --- exit 3
    ");
}

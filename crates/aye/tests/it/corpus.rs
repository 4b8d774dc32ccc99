//! Many skills: what `aye check` says of them, and whether they run to their
//! end with tools that answer.
//!
//! They are our own small ones, or with `./test corpus DIR` those of a folder.
//! What is inside of them (templates, conditions, blocks) is measured in
//! `aye-runtime`, in `compute/corpus.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Map, Value, json};

use super::cli::harness::Place;

/// The folder with the skills, and whether they are our own.
fn folder() -> (PathBuf, bool) {
    match std::env::var_os("AYE_TEST_CORPUS") {
        Some(folder) => (PathBuf::from(folder), false),
        None => {
            let here = Path::new(env!("CARGO_MANIFEST_DIR"));
            (here.join("../aye-runtime/tests/fixtures/skills").canonicalize().unwrap(), true)
        }
    }
}

/// The files, and what each says as data.
fn files(folder: &Path) -> BTreeMap<PathBuf, Value> {
    let listed = std::fs::read_dir(folder);
    let listed = listed.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = listed.map(|entry| entry.unwrap().path());
    let files: BTreeMap<PathBuf, Value> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let tree = aye_core::yaml::read(&text, &mut Vec::new()).unwrap();
            let value = tree.value(tree.root());
            (path, value)
        })
        .collect();
    assert!(!files.is_empty(), "{} has no skill files", folder.display());
    files
}

/// What `aye check` says, by file.
fn checked(place: &Place, folder: &Path) -> BTreeMap<PathBuf, Vec<Value>> {
    let said = place.aye(&["check", "--json", folder.to_str().unwrap()]);
    let said: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let mut by_file = BTreeMap::<_, Vec<Value>>::new();
    for one in said {
        let file = place.work().join(one["file"].as_str().unwrap());
        by_file.entry(file).or_default().push(one);
    }
    by_file
}

fn has(said: &BTreeMap<PathBuf, Vec<Value>>, file: &Path, key: &str, word: &str) -> bool {
    said.get(file).is_some_and(|all| all.iter().any(|one| one[key] == word))
}

#[test]
fn every_file_loads_or_is_refused_with_a_place_and_a_hint() {
    let (folder, is_ours) = folder();
    let place = Place::new();
    let files = files(&folder);
    let said = checked(&place, &folder);
    let mut counts = BTreeMap::<String, usize>::new();
    for one in said.values().flatten() {
        let word = format!("{} {}", one["severity"].as_str().unwrap(), one["code"]);
        *counts.entry(word).or_default() += 1;
        assert!(one["line"].as_u64() > Some(0) && one["column"].as_u64() > Some(0), "{one}");
        let remarks = one["labels"].as_array().unwrap().iter();
        let helps = remarks
            .chain([&json!({ "text": one["hint"] })])
            .any(|remark| remark["text"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(helps || one["severity"] == "warning", "says nothing of what to write: {one}");
    }
    let refused = files.keys().filter(|file| has(&said, file, "severity", "error")).count();
    println!("{} files: {} load, {refused} are refused", files.len(), files.len() - refused);
    counts.iter().for_each(|(word, count)| println!("  {count:3} {word}"));
    assert!(refused * 2 < files.len());
    if is_ours {
        assert_eq!((files.len(), refused), (11, 2));
    }
}

/// How a run ended.
struct Ended {
    code: i32,
    text: String,
}

#[test]
fn skills_run_to_their_end_with_tools_that_answer() {
    let (folder, is_ours) = folder();
    let python = python().expect("python3 is on the PATH: the tools are written in it");
    let place = Place::new();
    let files = files(&folder);
    let tools: BTreeSet<&str> = files.values().flat_map(tools_in).collect();
    let list = place.write("tools.json", &json!(tools).to_string());
    let stub = place.write("stub.py", include_str!("corpus_stub.py"));
    let server =
        format!("[tools.stub]\nserver = [{python:?}, {stub:?}, {list:?}]\nlegacy = true\n");
    let said = checked(&place, &folder);
    let (refused, sound): (BTreeMap<_, _>, BTreeMap<_, _>) =
        files.into_iter().partition(|(file, _)| has(&said, file, "severity", "error"));
    println!("as they are: {} load", sound.len());
    let ends = ["strict", "lenient"].map(|mode| measure(&place, &server, mode, &said, &sound));
    if is_ours {
        // One has a name without a value; two want a module or a file.
        let ended = |reached| Reached { reached, runnable: 7, modules: 1, files: 1 };
        assert_eq!(ends, [ended(6), ended(7)]);
    }
    // What the hints say, done: a step under `outputs` is moved up to `steps`.
    let fixed = refused.into_iter().filter_map(|(file, skill)| {
        let name = format!("fixed/{}", file.file_name().unwrap().display());
        let skill = with_steps_in_their_place(skill)?;
        Some((place.write(&name, &skill.to_string()), skill))
    });
    let mut fixed: BTreeMap<PathBuf, Value> = fixed.collect();
    let said = checked(&place, &place.work().join("fixed"));
    fixed.retain(|file, _| !has(&said, file, "severity", "error"));
    println!("with steps moved to where the hint says: {} more load", fixed.len());
    let ends = measure(&place, &server, "lenient", &said, &fixed);
    if is_ours {
        assert_eq!(ends, Reached { reached: 1, runnable: 1, modules: 0, files: 0 });
    }
}

/// How many skills reached their end, of those that need nothing that is not here; and how many
/// need modules or files.
#[derive(Debug, PartialEq, Eq)]
struct Reached {
    reached: usize,
    runnable: usize,
    modules: usize,
    files: usize,
}

/// Runs skills and says how many reach their end; all that need nothing that
/// is not here do, in a lenient project.
fn measure(
    place: &Place,
    server: &str,
    mode: &str,
    said: &BTreeMap<PathBuf, Vec<Value>>,
    skills: &BTreeMap<PathBuf, Value>,
) -> Reached {
    place.write("aye.toml", &format!("{server}[run]\nundefined = \"{mode}\"\n"));
    place.aye(&["tools", "trust", "--yes"]).ok();
    let ends = run_all(place, skills);
    let wants_modules = |file: &Path| has(said, file, "code", "missing-module");
    let wants_files = |end: &Ended| end.text.contains("block sees no files");
    let (mut runnable, mut reached, mut modules, mut files, mut luck) = (0, 0, 0, 0, 0);
    for (file, end) in &ends {
        if wants_modules(file) || wants_files(end) {
            modules += usize::from(wants_modules(file));
            files += usize::from(!wants_modules(file));
            luck += usize::from(end.code == 0);
            continue;
        }
        runnable += 1;
        reached += usize::from(end.code == 0);
        if end.code != 0 {
            let last = end.text.lines().rfind(|line| line.contains("failed")).unwrap_or_default();
            println!("  {}: {last}", file.file_name().unwrap().display());
            // What strictness stops are names without a value, and nothing else.
            let nothing = last.contains("is not defined") || last.contains("has no value");
            assert!(mode == "strict" && nothing, "{}", end.text);
        }
    }
    println!(
        "  {mode}: {reached} of {runnable} runnable ones reach their end; {modules} want modules \
         that are not here and {files} files ({luck} of these reach it all the same)"
    );
    assert!(runnable > 0);
    Reached { reached, runnable, modules, files }
}

/// A skill whose steps stand under `outputs`, with them where they belong.
fn with_steps_in_their_place(mut skill: Value) -> Option<Value> {
    let outputs = skill["outputs"].as_array_mut()?;
    let is_step = |item: &Value| {
        ["tool", "compute", "condition", "output"].iter().any(|key| item.get(key).is_some())
    };
    let (steps, outputs): (Vec<Value>, Vec<Value>) = outputs.drain(..).partition(is_step);
    skill["steps"].as_array_mut()?.extend(steps);
    skill["outputs"] = Value::Array(outputs);
    Some(skill)
}

fn python() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join("python3")).find(|path| path.is_file())
}

/// Runs each skill once, two at a time.
fn run_all(place: &Place, skills: &BTreeMap<PathBuf, Value>) -> BTreeMap<PathBuf, Ended> {
    let waiting = Mutex::new(skills.iter());
    let ended = Mutex::new(BTreeMap::new());
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().next();
                    let Some((file, skill)) = next else { break };
                    let name = file.file_stem().unwrap().display();
                    let inputs = format!("{name}.json");
                    place.write(&inputs, &made_up(skill).to_string());
                    let args =
                        ["run", file.to_str().unwrap(), "--yes", "--no-input", "--inputs", &inputs];
                    let ran = place.aye(&args);
                    let end = Ended { code: ran.code, text: ran.stdout + &ran.stderr };
                    ended.lock().unwrap().insert(file.clone(), end);
                }
            });
        }
    });
    ended.into_inner().unwrap()
}

/// Values for the inputs that have to be given.
fn made_up(skill: &Value) -> Value {
    let mut inputs = Map::new();
    for input in skill["inputs"].as_array().into_iter().flatten() {
        if input["required"] != true || !input["default"].is_null() {
            continue;
        }
        let value = match (input["enum"].get(0), input["type"].as_str()) {
            (Some(first), _) => first.clone(),
            (None, Some("boolean")) => json!(true),
            (None, Some("integer" | "number")) => json!(7),
            (None, Some("array")) => json!(["AAP-12345"]),
            (None, Some("object")) => json!({}),
            _ => json!("AAP-12345"),
        };
        inputs.insert(input["name"].as_str().unwrap().to_owned(), value);
    }
    Value::Object(inputs)
}

/// The names of the tools that a skill calls, anywhere in it.
fn tools_in(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().flat_map(tools_in).collect(),
        Value::Object(map) => {
            let own = map.get("tool").and_then(Value::as_str);
            own.into_iter().chain(map.values().flat_map(tools_in)).collect()
        }
        _ => Vec::new(),
    }
}

/// A file that someone brings from elsewhere: its name, the unit that its readers
/// write times in, what it is given, how many of its lines `--fix` changes, and
/// how its run ends.
type Document = (&'static str, &'static str, &'static [&'static str], usize, i32);

/// The examples of the documents that Aye was planned with.
const THEIRS: [Document; 6] = [
    ("confirm_action", "s", &[], 1, 0),
    ("confirm_release", "s", &["-i", "commit_sha=abc1234"], 0, 0),
    ("exit-code-test", "ms", &[], 0, 1),
    ("release_confirmed", "s", &["-i", "commit_sha=abc1234"], 1, 0),
    ("test-with-confirmation", "ms", &[], 1, 0),
    ("test-workflow", "ms", &[], 0, 0),
];

/// Our own with the same features.
const OURS: [Document; 6] = [
    ("ask-first", "s", &[], 1, 0),
    ("name-a-tag", "s", &["-i", "tag=V2"], 0, 0),
    ("ends-badly", "ms", &[], 0, 1),
    ("roll-out", "s", &["-i", "tag=V2"], 2, 0),
    ("gated-states", "ms", &[], 1, 0),
    ("two-states", "ms", &[], 0, 0),
];

#[test]
fn documents_run_with_exactly_what_fix_writes() {
    let (skills, is_ours) = folder();
    let folder = skills.parent().unwrap().join("documents");
    for (name, unit, inputs, lines, code) in if is_ours { OURS } else { THEIRS } {
        let file = folder.join(format!("{name}.yaml"));
        let text = std::fs::read_to_string(&file);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let place = Place::new();
        place.write("it.yaml", &text);
        let fixed = place.aye(&["check", "it.yaml", "--fix", "--unit", unit, "--yes"]);
        assert_eq!(fixed.code, 0, "{name}: {}", fixed.all());
        let fixed = place.read("it.yaml");
        assert_eq!(fixed.lines().count(), text.lines().count(), "{name}: {fixed}");
        let changed = fixed.lines().zip(text.lines()).filter(|(a, b)| a != b).count();
        println!("{name}: {changed} lines changed");
        assert_eq!(changed, lines, "{name}: {fixed}");
        let ran = place.aye(&[&["run", "it.yaml", "--yes"], inputs].concat());
        assert_eq!(ran.code, code, "{name}: {}", ran.all());
        if name == "roll-out" {
            assert!(ran.all().contains("started V2"), "{}", ran.all());
        }
    }
}

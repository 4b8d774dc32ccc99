//! Many skills: how much of what is inside of them works.
//!
//! They are our own small ones, or with `./test corpus DIR` those of a folder.

mod memory;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use aye_core::text::{names_in_condition_with, names_in_with};
use aye_runtime::compute::{Block, Host, Limits, PythonExpressions, check, run};
use serde_json::{Map, Value, json};

use super::scope_of;

/// The skills.
fn skills() -> Vec<(String, Value)> {
    let folder = match std::env::var_os("AYE_TEST_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/skills"),
    };
    let listed = std::fs::read_dir(&folder);
    let listed = listed.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = listed
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    assert!(!files.is_empty(), "{} has no skill files", folder.display());
    files.sort();
    let mut skills = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let tree = aye_core::yaml::read(&text, &mut Vec::new()).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        skills.push((name, tree.value(tree.root())));
    }
    skills
}

fn list<'v>(skill: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    skill[key].as_array().into_iter().flatten()
}

/// Every text with something to render; conditions apart.
fn templates(value: &Value, found: &mut Vec<String>, conditions: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains("{{") || text.contains("{%") => {
            found.push(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| templates(item, found, conditions)),
        Value::Object(map) => {
            for (key, item) in map {
                match (key.as_str(), item) {
                    ("compute", _) => {}
                    ("condition", Value::String(text)) => conditions.push(text.clone()),
                    _ => templates(item, found, conditions),
                }
            }
        }
        _ => {}
    }
}

fn share(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of as f64
}

#[test]
fn templates_and_conditions_can_be_read() {
    let (mut found, mut conditions) = (Vec::new(), Vec::new());
    for (_, skill) in skills() {
        templates(&skill, &mut found, &mut conditions);
    }
    assert!(!found.is_empty() && !conditions.is_empty());
    let other = Some(&PythonExpressions as &dyn aye_core::text::Expressions);
    let unreadable = |texts: &[String], read: &dyn Fn(&str) -> bool| {
        let bad: Vec<String> = texts.iter().filter(|text| !read(text)).cloned().collect();
        bad.iter().take(5).for_each(|text| eprintln!("cannot be read: {text}"));
        texts.len() - bad.len()
    };
    let good = unreadable(&found, &|text| names_in_with(text, other).is_ok());
    println!("templates: {good} of {} can be read", found.len());
    let sound = unreadable(&conditions, &|text| names_in_condition_with(text, other).is_ok());
    println!("conditions: {sound} of {} can be read", conditions.len());
    let jinja = found.iter().filter(|text| names_in_with(text, None).is_ok()).count();
    let plain =
        conditions.iter().filter(|text| names_in_condition_with(text, None).is_ok()).count();
    println!("without Python: {jinja} templates, {plain} conditions");
    assert!(share(good, found.len()) >= 99.0);
    assert!(share(sound, conditions.len()) >= 99.0);
}

/// A block and the skill it is of.
struct Real {
    place: String,
    block: Block,
    contexts: Vec<Value>,
}

fn blocks() -> Vec<Real> {
    let mut found = Vec::new();
    for (name, skill) in skills() {
        let mut known = BTreeSet::<String>::new();
        let steps = list(&skill, "steps").map(|step| (step, "output"));
        for (step, key) in steps.chain(list(&skill, "outputs").map(|output| (output, "name"))) {
            let own = step[key].as_str().or(step["name"].as_str());
            if let Some(code) = step["compute"].as_str() {
                let block = Block {
                    code: code.to_owned(),
                    output: own.map(str::to_owned),
                    workspace: PathBuf::from("/nowhere"),
                    ..Block::default()
                };
                // A name of the context is not a result.
                let others = known.iter().filter(|name| Some(name.as_str()) != own);
                let others = others.filter(|name| code.contains(name.as_str()));
                let contexts = contexts(code, &skill, &others.cloned().collect());
                found.push(Real { place: format!("{name}: {}", step["name"]), block, contexts });
            }
            known.extend(own.map(str::to_owned));
        }
    }
    found
}

#[test]
fn compute_blocks_can_be_read() {
    let blocks = blocks();
    assert!(!blocks.is_empty());
    let good = blocks.iter().filter(|real| match check(&real.block, super::SOON) {
        Ok(()) => true,
        // A mistake of its author's, and well said.
        Err(error) if error.kind == "Result" => {
            eprintln!("{}: {error}", real.place);
            true
        }
        Err(error) => {
            eprintln!("{}: {}", real.place, error.render());
            false
        }
    });
    let good = good.count();
    println!("compute blocks: {good} of {} can be read", blocks.len());
    assert!(share(good, blocks.len()) >= 99.0);
}

/// Contexts that a block might meet: names with texts, mappings, lists, nothing.
fn contexts(code: &str, skill: &Value, known: &BTreeSet<String>) -> Vec<Value> {
    let keys = keys_in(code);
    let text = "AAP-12345 fix login (!1403)\nStatus: In Progress\nbranch: main\nabc1234 ok\n- item one\nerror: none\n";
    let mapping = |item: &dyn Fn(usize) -> Value| {
        let pairs = keys.iter().enumerate().map(|(i, key)| (key.clone(), item(i)));
        Value::Object(pairs.collect())
    };
    let words = mapping(&|i| json!(format!("AAP-{i} main line\nsecond: {i}")));
    let mixed = mapping(&|i| match i % 5 {
        0 => json!("2025-12-30T10:00:00"),
        1 => json!(i),
        2 => json!(true),
        3 => json!([]),
        _ => json!(null),
    });
    let lists = mapping(&|i| json!([{ "name": format!("main {i}"), "status": "Failed", "id": i }]));
    let shapes = [
        Some(json!(text)),
        Some(words.clone()),
        Some(mixed.clone()),
        Some(lists),
        Some(json!([words, mixed])),
        Some(json!("")),
        Some(Value::Null),
        None,
    ];
    let given = |filled: bool| {
        let pairs = list(skill, "inputs").filter_map(|input| {
            let name = input["name"].as_str()?.to_owned();
            let default = input.get("default").cloned();
            let value =
                default.filter(|default| !default.is_string() || filled).unwrap_or_else(|| {
                    match input["type"].as_str() {
                        Some("boolean") => json!(filled),
                        Some("integer" | "number") => json!(7),
                        Some("array" | "list") => json!(["a"]),
                        _ => json!(if filled { "AAP-12345" } else { "" }),
                    }
                });
            Some((name, value))
        });
        Value::Object(pairs.collect())
    };
    let mut contexts = Vec::new();
    for (index, shape) in shapes.iter().enumerate() {
        let mut names = Map::from_iter([("inputs".to_owned(), given(index % 2 == 0))]);
        if let Some(shape) = shape {
            names.extend(known.iter().map(|name| (name.clone(), shape.clone())));
        }
        contexts.push(Value::Object(names));
    }
    contexts
}

/// What looks like a key: `x.get("key")`, `x["key"]`, `x.key`.
fn keys_in(code: &str) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for (at, _) in code.match_indices(['"', '\'', '.']) {
        let word: String =
            code[at + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !word.is_empty() && word.len() < 24 {
            keys.insert(word);
        }
    }
    keys
}

/// Remembers what was asked, and answers as the reference does.
#[derive(Default)]
struct Recorder(Vec<Value>);

impl Host for Recorder {
    fn memory(
        &mut self,
        function: &str,
        args: &[Value],
        named: &Map<String, Value>,
    ) -> Result<Value, String> {
        self.0.push(json!([function, args, named]));
        aye_runtime::compute::Quiet::default().memory(function, args, named)
    }

    fn log(&mut self, _line: &str) {}

    fn emit(&mut self, _name: &str, _data: Value) {}
}

/// What `python3` makes of the blocks, in one process.
fn reference(blocks: &[Real]) -> Vec<Value> {
    let mut child = Command::new("python3")
        .args(["-c", include_str!("reference.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is on the PATH: it is what the blocks are compared with");
    let work: Vec<Value> = blocks
        .iter()
        .map(|real| json!({ "code": real.block.code, "output": real.block.output, "contexts": real.contexts }))
        .collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(json!(work).to_string().as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn pure_blocks_do_what_python_does() {
    let blocks = blocks();
    assert!(!blocks.is_empty());
    let answers = reference(&blocks);
    let (mut pure, mut exercised, mut same, mut runs, mut refused) = (0, 0, 0, 0, 0);
    let limits = Limits::default();
    for (real, answer) in blocks.iter().zip(&answers) {
        if answer["pure"] != true {
            continue;
        }
        pure += 1;
        let mut differs = None;
        let (mut ran, mut no_result) = (false, false);
        for (context, expected) in real.contexts.iter().zip(answer["runs"].as_array().unwrap()) {
            if expected["ok"] != true {
                continue;
            }
            ran = true;
            runs += 1;
            let mut names = context.clone();
            let inputs = names["inputs"].take();
            names.as_object_mut().unwrap().shift_remove("inputs");
            let scope = scope_of(inputs, names);
            let mut host = Recorder::default();
            let result = run(&real.block, &scope, &mut host, &limits, &AtomicBool::new(false));
            let wrong = match result {
                // Python gives None for what we call a slip: told apart, not agreed.
                Err(error) if error.kind == "Result" && error.message.contains("sets neither") => {
                    no_result = true;
                    None
                }
                Err(error) => Some(error.render()),
                Ok(value) if !equal(&value, &expected["value"]) => {
                    Some(format!("gives {value}\nnot {}", expected["value"]))
                }
                Ok(_) if json!(host.0) != expected["calls"] => {
                    Some("asks for other things".to_owned())
                }
                Ok(_) => None,
            };
            differs = differs.or(wrong);
        }
        // What was never compared agrees with nothing.
        if !ran {
            continue;
        }
        match differs {
            None if no_result => {
                refused += 1;
                continue;
            }
            None => same += 1,
            Some(differs) => eprintln!("{}: {differs}\n", real.place),
        }
        exercised += 1;
    }
    println!(
        "pure blocks: {same} of {exercised} do what python3 does, in {runs} runs; {refused} more \
         never set their result; {} of {pure} have no context in which python3 succeeds",
        pure - exercised - refused
    );
    assert!(share(same, exercised) >= 98.0);
    assert!(share(exercised, pure) >= 80.0);
}

/// Equal as data; sets have no order.
fn equal(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Object(map)) if map.contains_key("$set") => {
            let mut ours: Vec<String> = ours.iter().map(sorted_text).collect();
            ours.sort();
            let texts: Vec<Value> = theirs["$set"].as_array().cloned().unwrap_or_default();
            let parse = |text: &Value| serde_json::from_str(text.as_str().unwrap_or_default()).ok();
            let mut theirs: Vec<String> =
                texts.iter().filter_map(parse).map(|value: Value| sorted_text(&value)).collect();
            theirs.sort();
            ours == theirs
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (ours, theirs) => ours == theirs,
    }
}

fn sorted_text(value: &Value) -> String {
    value.to_string()
}

//! What skills write to work memory, against a reference in Python: each block
//! and each tool step that writes leaves in the files what its calls say.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use aye_core::id::RunId;
use aye_core::text::render_value;
use aye_runtime::compute::{Host, Limits, run};
use aye_runtime::memory::{
    Lesson, LessonId, Memory, Once, Origin, OriginKind, Pattern, Provenance, StateKey, View,
};
use serde_json::{Map, Value, json};

use super::{blocks, contexts, list, scope_of, skills};

/// Calls that change something.
const WRITERS: [&str; 9] = [
    "write_memory(",
    "append_to_list(",
    "update_field(",
    "remove_from_list(",
    "add_follow_up(",
    "add_active_issue(",
    "add_open_mr(",
    "remove_active_issue(",
    "remove_open_mr(",
];
/// Tool steps that change something.
const TOOLS: [&str; 5] =
    ["memory_append", "memory_update", "memory_write", "memory_session_log", "learn_tool_fix"];

/// What is there before: a file that blocks add to.
fn before() -> Value {
    json!({
        "state/current_work": {
            "active_issues": [{ "key": "AAP-12345", "status": "New" }, { "key": "AAP-1", "status": "Done" }],
            "open_mrs": [{ "id": 1403, "issue": "AAP-12345" }],
            "follow_ups": [],
        },
    })
}

/// Something that writes, in one context.
struct Work {
    place: String,
    asked: Value,
}

/// What came of the contexts of a place.
#[derive(Default)]
struct Compared {
    /// In how many it was compared.
    runs: usize,
    /// In how many of those it left something that was not there before.
    wrote: usize,
    /// Why it was not compared, if so.
    why: Option<String>,
}

/// Contexts for blocks that none of those that are made up has write: `SKILL: STEP` and a list.
const CONTEXTS: &str = include_str!("memory_contexts.json");
/// Blocks that write nothing in any context that Aye can give them: the author comes from
/// `parsers`, which only the original engine has.
const SILENT: [&str; 1] = ["review_pr: track_author_code_issues"];

/// Asks memory as a step does.
struct Asking(View);

impl Host for Asking {
    fn memory(
        &mut self,
        function: &str,
        args: &[Value],
        named: &Map<String, Value>,
    ) -> Result<Value, String> {
        self.0.call(function, args, named)
    }

    fn log(&mut self, _line: &str) {}

    fn emit(&mut self, _name: &str, _data: Value) {}
}

fn reference(work: &[Work]) -> Vec<Value> {
    let mut child = Command::new("python3")
        .args(["-c", include_str!("memory_reference.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is on the PATH: it is what memory is compared with");
    let asked: Vec<&Value> = work.iter().map(|one| &one.asked).collect();
    let text = json!(asked).to_string();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Writes what a view wants, through the files; says what it learned about errors.
fn settle(memory: &Memory, view: View, number: u64) -> Value {
    let run: RunId = "abcdefgh12".to_owned().try_into().unwrap();
    let from = Provenance {
        run: run.to_string(),
        skill: "s".to_owned(),
        step: "x".to_owned(),
        execution: 1,
        by: "ana".to_owned(),
        at: jiff::Timestamp::UNIX_EPOCH,
    };
    let (changes, told) = view.into_changes(&from);
    let learned = told.iter().map(|fix| json!([fix.tool, fix.error, fix.cause, fix.fix])).collect();
    let fixes = told.into_iter().map(|fix| {
        let from = Origin {
            kind: OriginKind::Skill,
            by: from.skill.clone(),
            run: Some(from.run.clone()),
            at: from.at,
            other: Map::new(),
        };
        memory.fix_lesson(fix.into_fix(from), &str::to_owned).unwrap().1
    });
    let fixes: Vec<Lesson> = fixes.collect();
    let lessons = changes.into_iter().map(|change| Lesson::State { change: Box::new(change) });
    for (at, lesson) in lessons.chain(fixes).enumerate() {
        let id = LessonId { run: run.clone(), seq: number * 100 + at as u64 };
        let is_pending = |_: &LessonId| Some(true);
        // Twice is once.
        for _ in 0..2 {
            let once = Once { id: &id, is_pending: &is_pending };
            assert_eq!(memory.take_in(lesson.clone(), once).unwrap(), None);
        }
    }
    learned
}

/// Whether memory has the fixes that calls told it of, and no others.
fn has_fixes(memory: &Memory, told: &Value) -> bool {
    let told: BTreeSet<Vec<String>> = serde_json::from_value(told.clone()).unwrap();
    let kept: Vec<_> = memory.fixes().into_iter().map(|fix| fix.value).collect();
    let is_kept = |told: &Vec<String>| {
        let words = [&told[2], &told[3]].into_iter().filter(|words| !words.is_empty());
        let words = words.map(String::as_str).collect::<Vec<_>>().join(": ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        kept.iter().any(|fix| {
            let pattern = Pattern::new(&fix.matches.error).unwrap();
            fix.matches.tool.as_ref() == Some(&told[0])
                && pattern.is_in(&told[1])
                && fix.about.as_deref() == Some(&words)
        })
    };
    kept.len() == told.len() && told.iter().all(is_kept)
}

/// A memory with what is there before.
fn memory(place: &std::path::Path) -> Arc<Memory> {
    let state = place.join(".aye/memory/state");
    std::fs::create_dir_all(&state).unwrap();
    for (key, value) in before().as_object().unwrap() {
        let file = format!("{}.yaml", key.trim_start_matches("state/"));
        std::fs::write(state.join(file), aye_runtime::memory::emit(value)).unwrap();
    }
    Arc::new(Memory::open(Some(place), &place.join("user")))
}

fn files(memory: &Memory) -> Value {
    let all = memory.state_keys().into_iter();
    let all = all.map(|key: StateKey| (key.to_string(), memory.state(&key).unwrap()));
    Value::Object(all.collect())
}

fn writes(skill: &Value) -> bool {
    let text = skill.to_string();
    let by_tool = |step: &Value| step["tool"].as_str().is_some_and(|tool| TOOLS.contains(&tool));
    WRITERS.iter().any(|call| text.contains(&format!("memory.{call}")))
        || list(skill, "steps").chain(list(skill, "outputs")).any(by_tool)
}

#[test]
fn each_skill_writes_what_its_calls_say() {
    let skills = skills();
    let writing: BTreeSet<String> =
        skills.iter().filter(|(_, skill)| writes(skill)).map(|(name, _)| name.clone()).collect();
    let made: BTreeMap<String, Vec<Value>> = serde_json::from_str(CONTEXTS).unwrap();
    let mut work: Vec<Work> = Vec::new();
    let (mut places, mut steps) = (BTreeMap::<String, Compared>::new(), 0);
    for real in blocks() {
        if !WRITERS.iter().any(|call| real.block.code.contains(&format!("memory.{call}"))) {
            continue;
        }
        let place = real.place.replace('"', "");
        places.entry(place.clone()).or_default();
        for context in real.contexts.iter().chain(made.get(&place).into_iter().flatten()) {
            let asked = json!({
                "code": real.block.code, "output": real.block.output, "context": context,
                "files": before(),
            });
            work.push(Work { place: place.clone(), asked });
        }
    }
    let limits = Limits::default();
    for (name, skill) in &skills {
        for step in list(skill, "steps").chain(list(skill, "outputs")) {
            let Some(tool) = step["tool"].as_str().filter(|tool| TOOLS.contains(tool)) else {
                continue;
            };
            let place = format!("{name}: {}", step["name"].as_str().unwrap_or_default());
            places.entry(place.clone()).or_default();
            steps += 1;
            let text = step["args"].to_string();
            let known = list(skill, "steps").filter_map(|one| {
                one["output"].as_str().or(one["name"].as_str()).map(str::to_owned)
            });
            let known: BTreeSet<String> =
                known.filter(|name| text.contains(name.as_str())).collect();
            for mut context in contexts(&text, skill, &known) {
                let inputs = context["inputs"].take();
                context.as_object_mut().unwrap().shift_remove("inputs");
                let scope = aye_core::text::Scope { lenient: true, ..scope_of(inputs, context) };
                let Ok(args) = render_value(&step["args"], &scope) else { continue };
                // What is written as YAML is data; that it is, is tested elsewhere.
                let Some(args) = as_data(args) else { continue };
                let asked = json!({ "tool": tool, "args": args, "files": before() });
                work.push(Work { place: place.clone(), asked });
            }
        }
    }
    let answers = reference(&work);
    let mut wrong = Vec::new();
    for (number, (work, expected)) in work.iter().zip(&answers).enumerate() {
        let seen = places.get_mut(&work.place).unwrap();
        if expected["ok"] != true {
            seen.why = Some(expected["why"].to_string());
            continue;
        }
        let place = tempfile::tempdir().unwrap();
        let memory = memory(place.path());
        let now: jiff::Timestamp = "2026-01-01T12:30:00Z".parse().unwrap();
        let mut host = Asking(View::new(Arc::clone(&memory), now));
        let asked = &work.asked;
        let done = match asked["tool"].as_str() {
            Some(tool) => host.0.call(tool, &[], asked["args"].as_object().unwrap()).map(drop),
            None => {
                let mut names = asked["context"].clone();
                let inputs = names["inputs"].take();
                names.as_object_mut().unwrap().shift_remove("inputs");
                let block = aye_runtime::compute::Block {
                    code: asked["code"].as_str().unwrap().to_owned(),
                    output: asked["output"].as_str().map(str::to_owned),
                    ..Default::default()
                };
                let scope = scope_of(inputs, names);
                let ran = run(&block, &scope, &mut host, &limits, &AtomicBool::new(false));
                ran.map(drop).map_err(|error| error.render())
            }
        };
        match done {
            Err(error) if error.contains("sets neither") => {
                seen.why = Some(error);
                continue;
            }
            Err(error) => wrong.push(format!("{}: {error}", work.place)),
            Ok(()) => {
                let told = settle(&memory, host.0, number as u64);
                let (has, wanted) = (files(&memory), &expected["files"]);
                if has != *wanted {
                    wrong.push(format!("{}:\nhas    {has}\nwanted {wanted}", work.place));
                }
                let (fixes, wanted) = (memory.fixes(), &expected["fixes"]);
                if told != *wanted || !has_fixes(&memory, wanted) {
                    wrong.push(format!("{}:\nhas    {fixes:?}\nwanted {wanted}", work.place));
                }
            }
        }
        seen.runs += 1;
        let wrote = expected["files"] != asked["files"] || expected["fixes"] != json!([]);
        seen.wrote += usize::from(wrote);
    }
    let runs: usize = places.values().map(|place| place.runs).sum();
    let wrote: usize = places.values().map(|place| place.wrote).sum();
    println!(
        "{} skills write memory, in {} blocks and {steps} tool steps; compared in {runs} runs, in \
         {wrote} of them something was written; {} differ",
        writing.len(),
        places.len() - steps,
        wrong.len()
    );
    // Each of them, and where it writes.
    let unseen = places.iter().filter(|(name, place)| match SILENT.contains(&name.as_str()) {
        true => place.runs == 0 || place.wrote > 0,
        false => place.wrote == 0,
    });
    let unseen: Vec<String> = unseen
        .map(|(name, Compared { runs, why, .. })| format!("{name}: {runs} runs, {why:?}"))
        .collect();
    assert!(unseen.is_empty(), "what these write was not compared:\n{}", unseen.join("\n"));
    wrong.iter().take(5).for_each(|wrong| eprintln!("{wrong}"));
    assert!(wrong.is_empty(), "{} differ", wrong.len());
    // As many as a text search finds in the files of the public project; our own small ones are few.
    let least = if skills.len() >= 42 { (34, 70, 111) } else { (1, 2, 2) };
    let found = (writing.len(), places.len() - steps, steps);
    assert!(
        found.0 >= least.0 && found.1 >= least.1 && found.2 >= least.2,
        "only {found:?} skills, blocks and steps write memory"
    );
}

/// Items of tool steps as the data that they say.
fn as_data(args: Value) -> Option<Value> {
    let mut args = args;
    for key in ["item", "value", "content"] {
        if let Some(text) = args.get(key).and_then(Value::as_str) {
            let reads_otherwise =
                || serde_json::from_str::<Value>(text).is_ok() || text.contains([':', '{', '[']);
            args[key] = match text.contains('\n') {
                true => aye_runtime::memory::read_mapping(text).ok()?,
                // A word is the same word.
                false if reads_otherwise() || text.is_empty() => return None,
                false => json!(text),
            };
        }
    }
    Some(args)
}

//! Two stories as the assistant sees them, with every SDK, with and without
//! forms, over both transports: all of them tell the same, and docs/reference/transcripts.md
//! has it.

use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::cli::harness::{Place, until};

use super::peer::{Peer, Reply, with_each};
use super::service::Service;
use super::tokens;

const RELEASE: &str = "\
name: release
description: Promote a commit to production
inputs: [{ name: commit, type: string, required: true }]
steps:
  - { name: tests, command: echo, args: ['214 passed'], output: tests }
  - name: sure
    confirm:
      title: Production release
      message: 'Release `{{ inputs.commit }}` ({{ tests }})?'
      options:
        - { label: Proceed, value: proceed, description: Create the merge request }
        - { label: Cancel, value: cancel }
      timeout: 0
      ai_assist: true
  - { name: merge_request, command: echo, args: ['!42'], output: request }
outputs: [{ name: request, value: '{{ request }}' }]
";

const PLAN: &str = "\
name: plan
description: Work out what to release
inputs: [{ name: commit, type: string, required: true }]
steps:
  - { name: image, compute: \"result = {'tag': inputs['commit'], 'exists': True}\", output: image }
  - name: plan
    on_error: ask
    compute: |
      result = {'sha': image['sha'], 'verified': image['exists']}
    output: plan
outputs: [{ name: sha, value: '{{ plan.sha }}' }]
";

const FIXED: &str = "result = {'sha': image['tag'], 'verified': image['exists']}\n";

/// What is said and done, in order.
struct Transcript<'a> {
    peer: &'a mut Peer,
    place: &'a Place,
    forms: bool,
    lines: Vec<String>,
    /// What a model is given: the texts of the results, as they are.
    told: Vec<String>,
    /// What differs from run to run, and what stands in its place.
    names: Vec<(String, &'static str)>,
}

impl Transcript<'_> {
    fn name(&mut self, value: &Value, stands_for: &'static str) {
        if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
            self.names.push((text.to_owned(), stands_for));
        }
    }

    fn learn(&mut self, reply: &Reply) {
        for (name, stands_for) in
            [("execution_id", "EXECUTION_ID"), ("expires_at", "TIME"), ("question", "QUESTION")]
        {
            self.name(&reply.data[name].clone(), stands_for);
        }
        for call in reply.data["next"].as_array().cloned().into_iter().flatten() {
            self.name(&call["arguments"]["execution_id"], "EXECUTION_ID");
        }
        self.name(&reply.data["advice"][0]["by"].clone(), "CLIENT for YOU");
        self.name(&reply.data["run"].clone(), "RUN");
    }

    fn say(&mut self, who: &str, text: &str) {
        let indented: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
        self.lines.push(format!("{who}\n{}", indented.join("\n")));
    }

    /// The assistant calls a tool; where the client shows a form meanwhile, the
    /// person accepts it with this choice.
    fn call(&mut self, tool: &str, args: Value, choice: Option<&str>) -> Reply {
        self.say("assistant", &format!("{tool} {args}"));
        let since = self.peer.seen.len();
        let call = self.peer.start_call(tool, args);
        if let Some(choice) = choice.filter(|_| self.forms) {
            let (number, form) = self.peer.elicitation(since);
            self.say("the client's form", form["message"].as_str().unwrap());
            self.peer.answer(number, "accept", json!({ "choice": choice }));
            self.say("the person, in the form", choice);
        }
        let reply = self.peer.reply(call);
        self.learn(&reply);
        self.say("aye", &reply.text);
        self.told.push(reply.text.clone());
        reply
    }

    /// The whole, with what differs named.
    fn told(self) -> String {
        let mut names = self.names;
        names.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        let mut text = self.lines.join("\n");
        text = text.replace(&*self.place.work().to_string_lossy(), "/work");
        for (value, stands_for) in &names {
            text = text.replace(value, stands_for);
        }
        // Who learned a fix, and when, is in its id.
        let fix = regex_lite::Regex::new("fix-[0-9a-f]{8,64}").unwrap();
        let text = fix.replace_all(&text, "FIX_ID");
        text.lines().map(|line| of_any_machine(line) + "\n").collect()
    }
}

/// A line without what differs from machine to machine.
fn of_any_machine(line: &str) -> String {
    let line = line.trim_end();
    let (begin, end) = match (line.find("| machine"), line.find("(sha256 ")) {
        (Some(at), _) => {
            let from = at + line[at..].find(": ").map_or(line.len() - at, |colon| colon + 2);
            return format!("{}HOST", &line[..from]);
        }
        (None, Some(at)) => (at + "(sha256 ".len(), at + line[at..].find(')').unwrap()),
        (None, None) => return line.to_owned(),
    };
    format!("{}DIGEST{}", &line[..begin], &line[end..])
}

/// A release: the assistant looks at the question, advises, and carries the word.
fn release(story: &mut Transcript<'_>) {
    let args = json!({ "skill": "release", "inputs": { "commit": "abc123" } });
    let asks = story.call("skill_run", args, None).stands("awaiting_confirmation");
    let advice = "214 tests passed; nothing else is being released.";
    let looked = json!({ "execution_id": asks.id(), "advice": advice });
    let advised = story.call("skill_continue", looked, Some("proceed"));
    if story.forms {
        advised.stands("completed");
        return;
    }
    let asks = advised.stands("awaiting_confirmation");
    story.say("the person, in the conversation", "Go ahead.");
    let word = json!({ "execution_id": asks.id(), "choice": "proceed", "reason": "Go ahead." });
    story.call("skill_continue", word, None).stands("completed");
}

/// A block fails: the assistant proposes other code, and a person accepts it.
fn plan(story: &mut Transcript<'_>) {
    let args = json!({ "skill": "plan", "inputs": { "commit": "abc123" } });
    let failed = story.call("skill_run", args, None).stands("compute_error");
    story.call("debug_tool", json!({ "execution_id": failed.id() }), None);
    let fixed = json!({
        "execution_id": failed.id(), "step": "plan", "args": { "code": FIXED },
        "reason": "`image` has a tag, not a sha",
    });
    let tried = story.call("skill_retry_step", fixed, Some("proceed"));
    if story.forms {
        tried.stands("completed");
        return;
    }
    let asks = tried.stands("awaiting_confirmation");
    let question = asks.data["question"].as_str().unwrap();
    let inbox = story.place.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(inbox[0]["question"], question, "{inbox}");
    story.place.aye(&["answer", question, "proceed"]).ok();
    story.say("the person, in `aye inbox`", "proceed");
    until("completed", || story.place.status() == "completed");
    let wait = json!({ "execution_id": asks.id(), "wait": 30 });
    story.call("skill_status", wait, None).stands("completed");
}

/// How a story is played.
type Play = fn(&mut Transcript<'_>);

const TITLES: [(&str, Play, bool); 4] = [
    ("A release with advice, without forms", release, false),
    ("A release with advice, with forms", release, true),
    ("A block that fails, without forms", plan, false),
    ("A block that fails, with forms", plan, true),
];

/// The page as a peer gets it, and what its model is given.
fn tell(peer: &mut Peer, http: bool) -> (String, Vec<String>) {
    let (mut whole, mut told) = (String::new(), Vec::new());
    for (title, play, forms) in TITLES {
        let place = Place::new();
        place.write("skills/release.yaml", RELEASE);
        place.write("skills/plan.yaml", PLAN);
        place.aye(&["trust", "--yes"]).ok();
        let service = http.then(|| Service::start(&place));
        let can = if forms { json!({}) } else { json!({ "elicitation": false }) };
        match &service {
            Some(service) => peer.connect_http_with(&service.url, &service.token, can),
            None => peer.connect_with(&place, can),
        };
        let (lines, names) = (Vec::new(), Vec::new());
        let mut story = Transcript { peer, place: &place, forms, lines, told: Vec::new(), names };
        play(&mut story);
        told.append(&mut story.told);
        // The form names the client, which the data need not.
        let by = place.aye(&["show", "last", "--json"]).ok().json();
        for decision in by["decisions"].as_array().cloned().into_iter().flatten() {
            let stands_for = match decision["prompter"].as_str() {
                Some("assistant" | "elicited") => "CLIENT for YOU",
                _ => "YOU",
            };
            story.name(&decision["by"], stands_for);
        }
        whole.push_str(&format!("\n## {title}\n\n```text\n{}```\n", story.told()));
        peer.close();
    }
    (whole, told)
}

/// The most tokens of a result, whichever tokenizer counts them.
const MOST_TOKENS: usize = 800;

const INTRODUCTION: &str = "\
# Transcripts

What an assistant sees, as the tests played it with the SDKs for Python and TypeScript of both eras, \
over stdio and HTTP: all of them got the same results. Ids, times and names are replaced by words \
in capitals. Written by `AYE_UPDATE=1 ./test transcripts`.
";

fn matches_the_page(http: bool) {
    let told: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
    let results: Mutex<Vec<String>> = Mutex::new(Vec::new());
    with_each(|peer| {
        let (text, mut given) = tell(peer, http);
        told.lock().unwrap().push((format!("{:?}", peer.sdk), text));
        results.lock().unwrap().append(&mut given);
    });
    let results = results.into_inner().unwrap();
    for (result, counted) in results.iter().zip(tokens::count(&results)) {
        assert!(counted.iter().all(|tokens| *tokens <= MOST_TOKENS), "{counted:?}: {result}");
    }
    let told = told.into_inner().unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/transcripts.md");
    if std::env::var_os("AYE_UPDATE").is_some() && !http {
        std::fs::write(&page, format!("{INTRODUCTION}{}", told[0].1)).unwrap();
    }
    let page = std::fs::read_to_string(&page).unwrap_or_default();
    for (sdk, text) in told {
        let whole = format!("{INTRODUCTION}{text}");
        let differs = page.lines().zip(whole.lines()).find(|(page, told)| page != told);
        assert!(page == whole, "{sdk} is told something else: {differs:?}\n{text}");
    }
}

#[test]
fn every_client_is_told_what_the_page_tells_over_stdio() {
    matches_the_page(false);
}

#[test]
fn every_client_is_told_what_the_page_tells_over_http() {
    matches_the_page(true);
}

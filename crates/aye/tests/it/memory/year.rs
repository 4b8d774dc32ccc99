//! A year of twenty skills: fewer questions, and no gate is looser.

use serde_json::Value;

use crate::cli::harness::{Place, Ran};

/// How many weeks, and how many skills run in each.
const WEEKS: u32 = 52;
const EACH: u32 = 5;

/// What a skill does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Deploys a short tag, which only the registry can make a full one of.
    LookUp,
    /// Wants a `v` before the tag; each has an error of its own.
    Prefix,
    /// Sometimes fails for nothing; someone said that it is tried again.
    Transient,
    /// A gate before something that destroys.
    Destructive,
    /// A gate of production.
    Production,
    /// A gate that wants a person.
    Human,
    /// A gate whose yes may be remembered.
    Remembered,
}

fn kind(skill: u32) -> Kind {
    match skill {
        0..8 => Kind::LookUp,
        8..11 => Kind::Prefix,
        11 => Kind::Transient,
        12..15 => Kind::Destructive,
        15..17 => Kind::Production,
        17 => Kind::Human,
        _ => Kind::Remembered,
    }
}

/// Whether a person is asked each time, whatever was said before.
fn is_gate(skill: u32) -> bool {
    matches!(kind(skill), Kind::Destructive | Kind::Production | Kind::Human)
}

fn skill(number: u32) -> String {
    let gate = |more: &str, step: &str| {
        format!(
            "name: s{number}\ninputs: [{{ name: tag, required: true }}]\nsteps:\n\
             \x20 - name: act\n    command: echo\n    args: [did]\n{step}    confirmation: {{ message: Act?{more} }}\n"
        )
    };
    match kind(number) {
        Kind::LookUp => format!(
            "name: s{number}\ninputs: [{{ name: tag, required: true }}]\nsteps:\n\
             \x20 - {{ name: act, tool: deploy, args: {{ image: img{number}, image_tag: '{{{{ inputs.tag }}}}' }}, on_error: ask }}\n"
        ),
        Kind::Prefix => format!(
            "name: s{number}\ninputs: [{{ name: tag, required: true }}]\nsteps:\n\
             \x20 - {{ name: act, command: ./prefix{number}, args: ['{{{{ inputs.tag }}}}'], on_error: ask }}\n"
        ),
        // Fails at first, each time it is run.
        Kind::Transient => format!(
            "name: s{number}\ninputs: [{{ name: tag, required: true }}]\nsteps:\n\
             \x20 - name: act\n    shell: 'rm tried 2>/dev/null || {{ touch tried; echo \"Error: connection reset by peer $TAG\" >&2; exit 1; }}'\n\
             \x20   env: {{ TAG: '{{{{ inputs.tag }}}}' }}\n    on_error: {{ ask: {{ remember: {{ any: [inputs.tag] }} }} }}\n"
        ),
        Kind::Destructive => gate("", "    destructive: true\n"),
        Kind::Production => gate(", remember: true", "").replace(
            "required: true }]",
            "required: true }, { name: where, default: production }]\nenvironment: inputs.where",
        ),
        Kind::Human => gate(", by: human", ""),
        Kind::Remembered => gate(", remember: true", ""),
    }
}

fn place() -> Place {
    let place = Place::new();
    let program = |name: &str, text: &str| {
        let path = place.write(name, text);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    };
    program(
        "deploy",
        "#!/bin/sh\n[ ${#2} = 40 ] || { echo \"Error: manifest unknown: $2\" >&2; exit 1; }\n",
    );
    program(
        "tags",
        "#!/bin/sh\nprintf '{\"full\": \"%s%s\"}\\n' \"$1\" 0000000000000000000000000000000000\n",
    );
    for number in (0..20).filter(|number| kind(*number) == Kind::Prefix) {
        let text = format!(
            "#!/bin/sh\ncase $1 in v*) ;; *) echo \"Error: bad channel number {number} of kind k{number}x: $1\" >&2; exit 1;; esac\n"
        );
        program(&format!("prefix{number}"), &text);
    }
    for number in 0..20 {
        place.write(&format!("s{number}.yaml"), &skill(number));
    }
    place.write(
        "aye.toml",
        "[tools.deploy]\ncommand = ['./deploy', '{{ args.image }}', '{{ args.image_tag }}']\n\
         args = { image = { required = true }, image_tag = { required = true } }\n\
         [tools.tags]\ncommand = ['./tags', '{{ args.tag }}']\nargs = { tag = { required = true } }\n\
         output = 'json'\nread_only = true\n[journal]\nkeep = '0'\n",
    );
    place.aye(&["trust", "--yes"]).ok();
    place
}

fn in_week(place: &Place, week: u32, args: &[&str]) -> Ran {
    let mut command = place.command(args);
    command.env("AYE_TEST_DAYS", (7 * week).to_string());
    Ran::of(command.output().unwrap(), place)
}

/// Runs a skill to its end as a person would; how often they were asked.
fn live(place: &Place, week: u32, number: u32, taught: &mut bool) -> u32 {
    let tag = format!("{:06x}", 0xa1_0000 + week * 64 + number);
    let file = format!("s{number}.yaml");
    let mut ran = in_week(place, week, &["run", &file, "-i", &format!("tag={tag}"), "--no-input"]);
    let mut asked = 0;
    while ran.code == 6 {
        asked += 1;
        assert!(asked < 5, "it asks for ever: {}", ran.all());
        let inbox = in_week(place, week, &["inbox", "--json"]).ok().json();
        let question = inbox[0]["question"].as_str().unwrap().to_owned();
        let full = format!("image_tag={tag}{}", "0".repeat(34));
        let prefixed = format!("1=v{tag}");
        let answer: Vec<&str> = match kind(number) {
            Kind::LookUp => vec!["edit", "--set", &full],
            Kind::Prefix => vec!["edit", "--set", &prefixed, "--remember", "always"],
            Kind::Remembered => vec!["yes", "--remember", "step"],
            Kind::Transient => vec!["retry", "--remember", "error"],
            // They want it remembered, each time, as far as it could reach.
            Kind::Destructive | Kind::Production | Kind::Human => {
                vec!["yes", "--remember", ["step", "skill", "always"][week as usize % 3]]
            }
        };
        let args = [&["answer", &question][..], &answer, &["--resume"]].concat();
        ran = in_week(place, week, &args);
        if is_gate(number) {
            assert!(ran.all().contains("the answer counts, but it was not"), "{}", ran.all());
        }
        if kind(number) == Kind::LookUp && !*taught {
            *taught = true;
            let learn = [
                "memory",
                "learn",
                "--tool",
                "deploy",
                "--error",
                "Error: manifest unknown: a10000",
                "--look-up",
                "tags",
                "--with",
                "tag={{ args.image_tag }}",
                "--set",
                "image_tag={{ first.full }}",
            ];
            in_week(place, week, &learn).ok();
        }
    }
    assert_eq!(ran.code, 0, "s{number} in week {week}: {}", ran.all());
    asked
}

/// The weeks in which every skill runs twice: a yes that counts for 30 days is given once.
const SPAN: usize = 2 * 20 / EACH as usize;

/// The number of the skill that a run or an entry of memory is of.
fn number_of(entry: &Value) -> u32 {
    let name = entry["skill"].as_str().unwrap_or_else(|| panic!("{entry}"));
    name.trim_start_matches('s').parse().unwrap_or_else(|_| panic!("{entry}"))
}

/// The quarter of a year that a week is in.
fn quarter(week: u32) -> usize {
    (week / 13) as usize
}

#[test]
fn a_year_of_twenty_skills_asks_less_and_loosens_no_gate() {
    let place = place();
    // Each skill runs once in four weeks.
    let mut taught = false;
    let mut by_skill = vec![(0_u32, 0_u32); 20];
    // What memory may spare people, and what it must not: questions, and the runs they are of.
    let (mut spared, mut gates) = ([(0_u32, 0_u32); 4], [(0_u32, 0_u32); 4]);
    let mut learned = [0_u32; 4];
    let mut by_week = [(0_u32, 0_u32); WEEKS as usize];
    for week in 0..WEEKS {
        for turn in 0..EACH {
            let number = (week * EACH + turn) % 20;
            let asked = live(&place, week, number, &mut taught);
            let is_gate = is_gate(number);
            let counted = if is_gate { &mut gates } else { &mut spared };
            let (runs, questions) = &mut counted[quarter(week)];
            *runs += 1;
            *questions += asked;
            let (all, at_gates) = &mut by_week[week as usize];
            *all += asked;
            *at_gates += if is_gate { asked } else { 0 };
            if matches!(kind(number), Kind::LookUp | Kind::Prefix) {
                learned[quarter(week)] += asked;
            }
            let (runs, questions) = &mut by_skill[number as usize];
            *runs += 1;
            *questions += asked;
        }
    }
    println!(
        "runs and questions by quarter: {spared:?} that memory may answer, {gates:?} gates; \
         by skill: {by_skill:?}"
    );
    for (number, (runs, questions)) in by_skill.iter().enumerate() {
        match kind(number as u32) {
            // A gate is asked about each time, whatever was learned.
            Kind::Destructive | Kind::Production | Kind::Human => {
                assert_eq!(questions, runs, "s{number}");
            }
            // Of all of them one question is enough.
            Kind::LookUp => assert!(*questions <= 1, "s{number}: {questions}"),
            Kind::Prefix => assert_eq!(*questions, 1, "s{number}"),
            // A yes counts for 30 days: every other time, four weeks apart.
            Kind::Transient | Kind::Remembered => {
                assert_eq!(*questions, runs.div_ceil(2), "s{number}");
            }
        }
    }
    // Gates stay exactly as many: one for each run, in every quarter.
    for (runs, questions) in gates {
        assert_eq!(questions, runs, "{gates:?}");
    }
    // Week by week: the running sum of the last eight weeks never rises, falls as long as there
    // is something to learn, and none of that is a gate's.
    let sums = by_week.windows(SPAN).map(|weeks| {
        weeks.iter().fold((0, 0), |(all, gates), week| (all + week.0, gates + week.1))
    });
    let sums: Vec<(u32, u32)> = sums.collect();
    println!("questions, and those of gates, in every eight weeks: {sums:?}");
    assert!(sums.windows(2).all(|pair| pair[1].0 <= pair[0].0), "{sums:?}");
    assert!(sums.iter().all(|(_, gates)| *gates == sums[0].1), "{sums:?}");
    let [first, last] = [sums[0], sums[sums.len() - 1]].map(|(all, gates)| all - gates);
    assert!(2 * last < first, "{sums:?}");
    // An error is asked about once for each thing to learn: one lookup, three prefixes.
    assert_eq!(learned, [1 + 3, 0, 0, 0]);
    // With the answers that count for 30 days, fewer questions for each run than at first.
    let per_run = spared.map(|(runs, questions)| f64::from(questions) / f64::from(runs));
    for later in &per_run[1..] {
        assert!(*later < per_run[0], "{spared:?}");
    }

    // No gate was answered by memory but those that allow it.
    let runs = place.aye(&["runs", "-n", "1000", "--json"]);
    let runs: Value = serde_json::from_str(&runs.stdout).unwrap_or_default();
    let gated = runs.as_array().into_iter().flatten().filter(|run| is_gate(number_of(run)));
    let mut seen = 0;
    for run in gated {
        let shown = place.aye(&["show", run["run"].as_str().unwrap(), "--json"]).ok().json();
        for decision in shown["decisions"].as_array().into_iter().flatten() {
            seen += 1;
            assert_ne!(decision["prompter"], "memory", "{decision}");
        }
    }
    assert!(seen >= 60, "{seen} decisions were looked at");
    // Nor does memory have an answer to one, however often someone wanted that.
    let known = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    let known: Vec<u32> = known["preferences"].as_array().unwrap().iter().map(number_of).collect();
    assert!(known.contains(&18) && !known.iter().any(|skill| is_gate(*skill)), "{known:?}");
}

//! Random scripts made of quoting pieces, with random hostile values, run.

use aye_core::text::{Verbatim, shell_script};
use proptest::prelude::*;
use serde_json::json;

use super::executed::{HOSTILE, Place, arguments, shells};

/// A part of a word: the template, and what it is worth with `@` for the value.
#[derive(Debug, Clone)]
struct Part {
    template: String,
    worth: String,
}

fn part(template: &str, worth: &str) -> Part {
    Part { template: template.to_owned(), worth: worth.to_owned() }
}

/// Parts that may stand unquoted.
fn parts() -> impl Strategy<Value = Part> {
    let leaf = prop_oneof![
        Just(part("{{ x }}", "@")),
        Just(part("{{ x | quote }}", "@")),
        Just(part("b", "b")),
        Just(part("\\$", "$")),
        Just(part("\\'", "'")),
        Just(part("\\\"", "\"")),
        Just(part("a#b", "a#b")),
        Just(part("${u}", "")),
        Just(part("'$(id) \"`'", "$(id) \"`")),
        Just(part("'{{ x }}\"'", "@\"")),
        Just(part("\"'{{ x }}\\\\\"", "'@\\")),
        Just(part("\"a \\\" {{ x }} \\` \\$(id)\"", "a \" @ ` $(id)")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let many = prop::collection::vec(inner, 1..4);
        (many, 0..7u8).prop_map(|(parts, shape)| {
            let template: String = parts.iter().map(|part| part.template.as_str()).collect();
            let worth: String = parts.iter().map(|part| part.worth.as_str()).collect();
            // A command's output loses the line breaks at its end: a dot keeps them.
            match shape {
                0 => Part { template, worth },
                1 => Part {
                    template: format!("\"$(printf '%s.' {template})\""),
                    worth: format!("{worth}."),
                },
                // Bash does not agree with itself about quotes in nested ones.
                2 if !template.contains('\'') => {
                    Part { template: format!("${{u:-{template}}}"), worth }
                }
                2 => Part { template, worth },
                3 => Part {
                    template: format!("\"$(case a in a) printf '%s.' {template};; esac)\""),
                    worth: format!("{worth}."),
                },
                // The length makes the delimiters of nested ones differ.
                4 => Part {
                    template: format!(
                        "\"$(cat <<E{length}\n$(printf '%s.' {template})\nE{length}\n)\"",
                        length = template.len()
                    ),
                    worth: format!("{worth}."),
                },
                5 => Part {
                    template: format!("\"$( # it's {{{{ x }}}}\n(printf '%s.' {template})\n)\""),
                    worth: format!("{worth}."),
                },
                _ => Part {
                    template: format!("\"{{{{ x }}}}$(printf '%s.' {template})'\""),
                    worth: format!("@{worth}.'"),
                },
            }
        })
    })
}

fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&HOSTILE[..]).prop_map(str::to_owned),
        // Made of what shells act upon.
        "[a '\"`$(){}\\[\\]\\\\;&|<>*?~!#=\n\t-]{0,24}",
        "[^\u{0}\u{1}]{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_arrive_whole(words in prop::collection::vec(parts(), 1..4), value in values()) {
        let templates: Vec<&str> = words.iter().map(|word| word.template.as_str()).collect();
        let template = format!("show {} end", templates.join(" "));
        let made = shell_script(&template, &super::scope(&json!(value)), Verbatim::Anything).unwrap();
        let mut expected: Vec<String> =
            words.iter().map(|word| word.worth.replace('@', &value)).collect();
        expected.push("end".to_owned());
        // Nothing at all is not a word.
        let expected: Vec<String> =
            expected.into_iter().zip(words.iter().map(|word| word.template.as_str()).chain(["end"]))
                .filter(|(_, template)| !vanishes(template)).map(|(word, _)| word).collect();
        let place = Place::new();
        for shell in shells() {
            prop_assert_eq!(arguments(shell, &made, &place), expected.clone(), "{:?}: {}", shell, template);
        }
        prop_assert_eq!(place.traces(), Vec::<String>::new());
    }

    /// Scripts of any shape: they may be refused or fail, but run nothing.
    #[test]
    fn no_script_runs_its_values(
        pieces in prop::collection::vec(prop::sample::select(&SHAPES[..]), 1..12),
        value in values(),
    ) {
        let template = pieces.concat();
        let made = shell_script(&template, &super::scope(&json!(value)), Verbatim::Anything);
        if let Ok(made) = made {
            let place = Place::new();
            for shell in shells() {
                super::executed::try_run(shell, &made, &place);
            }
            let traces = place.traces();
            prop_assert!(!traces.iter().any(|name| name == "PWNED"), "{}: {:?}", template, traces);
        }
    }
}

/// Whether a word is only variables that are not set.
fn vanishes(template: &str) -> bool {
    let rest = template.replace("${u:-", "").replace("${u}", "").replace('}', "");
    rest.is_empty()
}

const SHAPES: [&str; 50] = [
    "{{ x }}",
    "{{ x }}",
    "{{ x }}",
    "{{ x | quote }}",
    "'",
    "\"",
    "\\",
    "`",
    "$(",
    "${y:-",
    "${y#",
    "${y:",
    "$((",
    "((",
    "(",
    ")",
    "))",
    "}",
    "{",
    "[[ ",
    " ]]",
    "[ ",
    " ]",
    "test ",
    " -eq 1",
    "[",
    "]",
    "a[",
    "a=(",
    "]=",
    "<<EOF\n",
    "\nEOF\n",
    "<<'EOF'\n",
    "\n",
    " ",
    ";",
    "#",
    "$'",
    "$",
    "echo ",
    ": ",
    "case a in ",
    " esac ",
    "let ",
    "y=",
    "true && ",
    "unset ",
    "export ",
    "declare -i n=",
    "$[",
];

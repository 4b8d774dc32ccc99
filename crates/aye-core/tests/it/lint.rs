//! What is said about a skill before it runs.

use std::collections::BTreeSet;

use aye_core::diagnostic::{Diagnostic, without_allowed};
use aye_core::flow::{Flow, lint};
use aye_core::skill::parse;

/// Everything found, a line each: severity, code, message, what to write.
fn found(text: &str) -> Vec<Diagnostic> {
    let parsed = parse("demo.yaml", text);
    assert!(!parsed.has_errors(), "{:#?}", parsed.diagnostics);
    let flows = parsed.skills.into_iter().map(Flow::compile);
    let all = flows.flat_map(|flow| lint(&flow, text, None)).chain(parsed.diagnostics);
    without_allowed(all.collect(), text)
}

fn said(text: &str) -> Vec<String> {
    let line = |found: &Diagnostic| {
        let label = found.labels.first().map_or("", |(_, label)| label.as_str());
        let hint = found.hint.as_deref().unwrap_or(label);
        format!("{} {}: {} | {hint}", found.severity.word(), found.code, found.message)
    };
    found(text).iter().map(line).collect()
}

/// A skill with one input and these steps.
fn steps(steps: &str) -> String {
    format!("name: demo\ninputs: [{{ name: feature_name, type: string }}]\nsteps:\n{steps}")
}

#[test]
fn a_name_that_nothing_gives_is_an_error() {
    let one = |text: &str| said(&steps(text));
    assert_eq!(
        one("  - { name: a, command: echo, args: ['{{ nothing }}'] }\n"),
        [
            "error unknown-name: `nothing` is not defined anywhere | no step gives it; write `nothing | default('')` if it may be missing"
        ]
    );
    assert_eq!(
        one("  - { name: a, command: echo, condition: feature_name == 'x' }\n"),
        [
            "error unknown-name: `feature_name` is not defined anywhere | did you mean `inputs.feature_name`?"
        ]
    );
    // Anyone who asks whether it is there knows that it may not be.
    assert_eq!(
        one("  - { name: a, command: echo, args: [\"{{ nothing | default('') }}\"] }\n"),
        [
            "warning unknown-name: `nothing` is not defined anywhere | no step gives it; write `nothing | default('')` if it may be missing"
        ]
    );
    let lenient = steps("  - { name: a, command: echo, args: ['{{ nothing }}'] }\n");
    assert_eq!(
        said(&format!("undefined: lenient\n{lenient}")),
        [
            "warning unknown-name: `nothing` is not defined anywhere | no step gives it; write `nothing | default('')` if it may be missing"
        ]
    );
    assert_eq!(
        one(
            "  - { name: a, command: date }\n  - { name: b, command: echo, args: ['{{ a.stdout }}'] }\n"
        ),
        [
            "error unknown-name: `a.stdout` is never defined | `a` is the text itself: write `{{ a }}` or `{{ steps.a.stdout }}`"
        ]
    );
    assert_eq!(
        one("  - { name: a, command: echo, condition: always() }\n"),
        [
            "error unknown-name: `always` is not defined anywhere | a step runs only if those before it did not fail; write `on_error: continue` at the one that may, and test `steps.NAME.status` here"
        ]
    );
}

#[test]
fn a_result_goes_by_the_name_of_its_output() {
    let build = "  - { name: build, command: make, output: image }\n";
    let use_of = |name: &str| {
        said(&steps(&format!(
            "{build}  - {{ name: b, command: echo, args: ['{{{{ {name} }}}}'] }}\n"
        )))
    };
    assert_eq!(use_of("image"), Vec::<String>::new());
    assert_eq!(use_of("steps.build.stdout"), Vec::<String>::new());
    assert_eq!(
        use_of("build"),
        [
            "error unknown-name: `build` is not defined anywhere | step `build` gives its result as `image`: write `{{ image }}`"
        ]
    );
    assert_eq!(
        use_of("steps.image.stdout"),
        ["error unknown-name: `steps.image` is not defined anywhere | did you mean `steps.build`?"]
    );
}

#[test]
fn a_step_that_a_built_in_name_hides_is_an_error_where_it_is_used() {
    let use_of = |step: &str, name: &str| {
        let text = steps(&format!(
            "  - {{ name: {step}, command: make }}\n  - {{ name: b, command: echo, args: ['{{{{ {name} }}}}'] }}\n"
        ));
        let all = said(&text);
        all.into_iter().filter(|said| said.starts_with("error")).collect::<Vec<_>>()
    };
    let hint = |name: &str| {
        format!(
            "add `output: {name}_result` to the step and write `{name}_result`, or `steps.{name}.stdout`"
        )
    };
    assert_eq!(
        use_of("env", "env"),
        [format!("error built-in-name: `env` is not the result of step `env` | {}", hint("env"))]
    );
    assert_eq!(
        use_of("branch", "branch"),
        [format!(
            "error built-in-name: `branch` is not the result of step `branch` | {}",
            hint("branch")
        )]
    );
    assert_eq!(
        use_of("run", "run.stdout"),
        [format!(
            "error built-in-name: `run.stdout` is not the result of step `run` | {}",
            hint("run")
        )]
    );
    for (step, name) in [("env", "env.HOME"), ("run", "run.id"), ("build", "branch")] {
        assert_eq!(use_of(step, name), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn single_braces_are_told_with_the_right_spelling() {
    let one = |word: &str| {
        said(&steps(&format!("  - {{ name: a, command: echo, args: ['x-{word}'] }}\n")))
    };
    assert_eq!(
        one("{feature_name}"),
        [
            "warning single-braces: `{feature_name}` stays as it is | write `{{ inputs.feature_name }}`"
        ]
    );
    assert_eq!(
        one("{branch}"),
        ["warning single-braces: `{branch}` stays as it is | write `{{ branch }}`"]
    );
    assert_eq!(
        one("{timestamp}"),
        ["warning single-braces: `{timestamp}` stays as it is | write `{{ now }}`"]
    );
    for fine in ["{}", "{other}", "${branch}", "{{ branch }}", "{a,b}", "{branch"] {
        assert_eq!(one(fine), Vec::<String>::new(), "{fine}");
    }
}

#[test]
fn every_pair_of_single_braces_is_told_at_its_place() {
    let text = steps(
        "  - { name: a, command: echo, args: ['{branch} {feature_name} {branch} {{ branch }}'] }\n",
    );
    let places: Vec<&str> =
        found(&text).iter().map(|one| &text[one.span().start..one.span().end]).collect();
    assert_eq!(places, ["{branch}", "{feature_name}", "{branch}"]);
    let starts: BTreeSet<usize> = found(&text).iter().map(|one| one.span().start).collect();
    assert_eq!(starts.len(), 3);
    let dollars = steps("  - { name: a, shell: 'echo ${{ branch }} ${{ branch }}' }\n");
    assert_eq!(found(&dollars).len(), 2);
}

#[test]
fn nothing_is_none() {
    let text = steps("  - { name: a, command: echo, condition: 'inputs.feature_name == null' }\n");
    let found = found(&text);
    assert_eq!(found[0].labels[0].1, "did you mean `none`?");
    let fixed = found[0].fixes[0].apply(&text).unwrap();
    assert_eq!(said(&fixed), Vec::<String>::new(), "{fixed}");
}

#[test]
fn what_a_step_discards_is_always_empty() {
    for (name, found) in [("a", true), ("steps.a.stdout", true), ("steps.a.stderr", false)] {
        let all = said(&steps(&format!(
            "  - {{ name: a, shell: make, stdout: discard }}\n  - {{ name: b, command: echo, args: ['{{{{ {name} }}}}'] }}\n"
        )));
        let expected = format!(
            "warning always-empty: `{name}` is always empty | take `stdout: discard` out of step `a`, or do not use it"
        );
        let expected: Vec<String> = found.then_some(expected).into_iter().collect();
        assert_eq!(all, expected, "{name}");
    }
}

/// A warning does not hide an error, and the first wrong name not the second.
#[test]
fn every_wrong_name_of_a_text_is_told() {
    let all = said(&steps(
        "  - { name: a, shell: make, stdout: discard }\n  - { name: b, command: echo, args: ['{{ a }} {{ yy }} {{ zz.one }} {{ zz.two }}'] }\n",
    ));
    let told: Vec<&str> = all.iter().filter_map(|said| said.split(" | ").next()).collect();
    assert_eq!(
        told,
        [
            "warning always-empty: `a` is always empty",
            "error unknown-name: `yy` is not defined anywhere",
            "error unknown-name: `zz` is not defined anywhere",
        ]
    );
}

#[test]
fn what_a_program_printed_is_no_number() {
    let two = |condition: &str| {
        said(&steps(&format!(
            "  - {{ name: count, shell: wc -l, output: failures }}\n  - {{ name: b, command: echo, condition: \"{condition}\" }}\n"
        )))
    };
    assert_eq!(
        two("failures > 0"),
        [
            "warning text-as-number: `failures > 0` compares text with a number | write `failures | float > 0`"
        ]
    );
    assert_eq!(
        two("3 == steps.count.stdout"),
        [
            "warning text-as-number: `3 == steps.count.stdout` compares text with a number | write `3 == steps.count.stdout | float`"
        ]
    );
    for fine in
        ["failures | float > 0", "failures == '0'", "steps.count.exit_code == 0", "failures"]
    {
        assert_eq!(two(fine), Vec::<String>::new(), "{fine}");
    }
}

#[test]
fn a_warning_is_silenced_where_it_stands() {
    let text = |comment: &str| {
        format!(
            "name: demo\nstates:\n  a: {comment}\n    command: make\n    on_success: b\n  b:\n    command: make\n    on_success: a\n    on_failure: end\n  end: {{ type: final, status: failed }}\n"
        )
    };
    assert_eq!(said(&text("")), ["warning cycle: cycle: a -> b -> a | "]);
    assert_eq!(said(&text("# aye: allow cycle")), Vec::<String>::new());
    assert_eq!(said(&text("# aye: allow no-end")).len(), 1);
}

#[test]
fn certain_fixes_come_with_what_is_found() {
    let text = steps(
        "  - { name: count, shell: wc -l }\n  - { name: b, command: echo, condition: count > 0, args: ['{feature_name} ${{ branch }}', '{{ feature_name }}'] }\n",
    );
    let mut text = text;
    for _ in 0..9 {
        let fix = found(&text).iter().find_map(|one| one.fixes.first().cloned());
        let Some(fix) = fix else { break };
        text = fix.apply(&text).unwrap();
    }
    assert!(
        text.ends_with("condition: count | float > 0, args: ['{{ inputs.feature_name }} {{ branch }}', '{{ inputs.feature_name }}'] }\n"),
        "{text}"
    );
    assert_eq!(said(&text), Vec::<String>::new());
}

#[test]
fn a_secret_in_the_arguments_of_a_program_is_warned_about() {
    let skill = |step: &str| {
        format!(
            "name: demo\ninputs: [{{ name: token, type: secret }}, {{ name: plain }}]\nsteps:\n  \
             - {{ name: code, input: {{ message: 'Code?', secret: true }} }}\n  \
             - {{ name: a, {step} }}\n"
        )
    };
    let hint = |name: &str| {
        format!(
            "let the program read it: `stdin: '{{{{ {name} }}}}'`, or `env:` with a variable that it knows"
        )
    };
    for name in ["inputs.token", "code"] {
        assert_eq!(
            said(&skill(&format!("command: curl, args: [-u, 'me:{{{{ {name} }}}}']"))),
            [format!(
                "warning secret-in-arguments: the secret `{name}` is an argument of `curl` | {}",
                hint(name)
            )]
        );
    }
    for fine in [
        "command: curl, args: ['{{ inputs.plain }}']",
        "command: curl, stdin: '{{ inputs.token }}'",
        "command: curl, env: { TOKEN: '{{ code }}' }",
    ] {
        assert_eq!(said(&skill(fine)), Vec::<String>::new(), "{fine}");
    }
}

#[test]
fn a_secret_is_found_in_arguments_however_it_is_written() {
    let said_of = |steps: &str| {
        let all = said(&format!(
            "name: demo\ninputs: [{{ name: token, type: secret }}, {{ name: plain }}]\nsteps:\n{steps}"
        ));
        let warned = all.iter().filter_map(|one| one.strip_prefix("warning secret-in-arguments: "));
        warned.map(|one| one.split(" | ").next().unwrap_or(one).to_owned()).collect::<Vec<_>>()
    };
    let curl = |argument: &str| {
        said_of(&format!("  - {{ name: a, command: curl, args: [{argument}] }}\n"))
    };
    for written in [
        "'{{ inputs.token | safe }}'",
        "'{{ (inputs.token | upper) ~ inputs.plain }}'",
        "'{{ inputs.token.strip() }}'",
        "'{{ inputs.token[:4] }}'",
        "\"{{ inputs['token'] }}\"",
        "\"{{ inputs.get('token') }}\"",
        "\"{{ inputs.get('token', '') | trim }}\"",
        "'{{ inputs[inputs.plain] }}'",
        "'{{ inputs | tojson }}'",
        "'{% set t = inputs.token %}{{ t }}'",
        "'{{ inputs.token if inputs.plain else inputs.plain }}'",
    ] {
        assert_eq!(
            curl(written),
            ["the secret `inputs.token` is an argument of `curl`"],
            "{written}"
        );
    }
    for fine in [
        "\"{{ inputs['plain'] }}\"",
        "\"{{ inputs.get('plain') }}\"",
        "inputs.token",
        "'{{ plain.token }}'",
    ] {
        assert_eq!(curl(fine), [""; 0], "{fine}");
    }
    // A result that was made from the secret.
    let made = ["`made` is made from the secret `inputs.token` and is an argument of `curl`"];
    for code in [
        "'result = inputs.token[::-1]'",
        "\"x = inputs['token']\\nresult = x\"",
        "'result = dict(inputs)'",
    ] {
        let steps = format!(
            "  - {{ name: b, compute: {code}, output: made }}\n  \
             - {{ name: c, command: curl, args: ['{{{{ made }}}}'] }}\n"
        );
        assert_eq!(said_of(&steps), made, "{code}");
        let twice = format!(
            "  - {{ name: b, compute: {code}, output: first }}\n  \
             - {{ name: c, compute: 'result = first.upper()', output: made }}\n  \
             - {{ name: d, command: curl, args: ['{{{{ made.x }}}}'] }}\n"
        );
        assert_eq!(said_of(&twice), made, "{code}");
        let fine = steps.replace("args: [", "stdin: ").replace("'] }", "' }");
        assert_eq!(said_of(&fine), [""; 0], "{fine}");
    }
    let plain = "  - { name: b, compute: 'result = inputs.plain' }\n  \
                 - { name: c, command: curl, args: ['{{ b }}'] }\n";
    assert_eq!(said_of(plain), [""; 0]);
    // The items of a loop, what is inside of it, and its result.
    let each = "  - name: each\n    foreach: ['{{ inputs.token }}', b]\n    as: part\n    steps:\n      \
                - { name: in, compute: 'result = part' }\n      \
                - { name: x, command: curl, args: ['{{ in }}', '{{ part }}'] }\n";
    assert_eq!(
        said_of(each),
        ["in", "part"].map(|name| format!(
            "`{name}` is made from the secret `inputs.token` and is an argument of `curl`"
        ))
    );
    // Repairs and guards start programs too.
    let healed = "  - { name: a, command: curl }\nheal:\n  - name: h\n    match: { error: x }\n    \
                  repair: { command: login, args: ['{{ inputs.token }}'] }\n";
    assert_eq!(said_of(healed), ["the secret `inputs.token` is an argument of `login`"]);
}

#[test]
fn the_name_of_concurrency_is_known_before_the_first_step_and_no_secret() {
    let one = |name: &str| {
        said(&format!(
            "name: demo\nconcurrency: \"{name}\"\ninputs:\n  - {{ name: env, type: string }}\n  \
             - {{ name: token, type: secret }}\nsteps:\n  - {{ name: a, command: echo }}\n"
        ))
    };
    assert_eq!(one("deploy-{{ inputs.env }}-{{ branch }}"), Vec::<String>::new());
    assert_eq!(
        one("deploy-{{ a }}"),
        [
            "error bad-concurrency: the name of `concurrency` uses `a` | use `inputs` and built-in names"
        ]
    );
    assert_eq!(
        one("deploy-{{ steps.a.status }}"),
        [
            "error bad-concurrency: the name of `concurrency` uses `steps.a.status` | use `inputs` and built-in names"
        ]
    );
    assert_eq!(
        one("deploy-{{ inputs.token }}"),
        [
            "error bad-concurrency: the name of `concurrency` uses `inputs.token` | use inputs that are not secret"
        ]
    );
    assert_eq!(
        one("deploy-{{ inputs.enw }}"),
        ["error unknown-name: `inputs.enw` is not defined anywhere | did you mean `inputs.env`?"]
    );
    let empty =
        parse("demo.yaml", "name: demo\nconcurrency: ' '\nsteps: [{ name: a, command: x }]\n");
    assert!(empty.diagnostics.iter().any(|found| found.message == "`concurrency` is empty"));
}

#[test]
fn a_limit_that_cannot_be_kept_is_told() {
    let unlimited = "name: x\nsteps: [{ name: a, command: 'true' }]\nfinally:\n  - { name: q, \
                     shell: 'true', confirmation: { message: Clean?, timeout: 0 } }\n";
    assert!(said(unlimited).iter().any(|it| it.contains("`timeout: 0` of step `q`")));
    assert!(said(&unlimited.replace("timeout: 0", "timeout: 9s")).is_empty());
    let never = |ask: &str| {
        format!(
            "name: x\nstates:\n  pick: {{ confirm: {{ message: Go?, {ask} }}, transitions: {{ \
             success: a, timeout: a }} }}\n  a: {{ type: final }}\n"
        )
    };
    let never_taken = |ask: &str| said(&never(ask)).iter().any(|it| it.contains("never taken"));
    assert!(never_taken("timeout: 0") && never_taken("default: cancel"));
    assert!(!never_taken("timeout: 3s"));
}

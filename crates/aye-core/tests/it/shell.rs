//! Values in `shell:` scripts: what becomes of them, and that no shell runs them.

mod executed;
mod machine;
mod random;

use std::sync::Arc;

use aye_core::error_code::ErrorCode;
use aye_core::secrets::Secrets;
use aye_core::text::{Scope, Script, TextError, Verbatim, World, shell_script, text};
use serde_json::{Value, json};

use crate::build::{Fakes, dawn};

/// A scope with `inputs.x` and, as an output, `x`.
pub(crate) fn scope(value: &Value) -> Scope {
    Scope {
        world: World { now: dawn(), names: Arc::new(Fakes::default()) },
        inputs: Arc::new([("x".to_owned(), value.clone())].into()),
        outputs: Arc::new([("x".to_owned(), value.clone())].into()),
        steps: Arc::default(),
        secrets: Arc::new(Secrets::default()),
        run: Arc::new(json!({})),
        skill: Arc::new(json!({})),
        locals: Arc::default(),
        lenient: false,
    }
}

fn try_script(template: &str, value: &Value) -> Result<Script, TextError> {
    shell_script(template, &scope(value), Verbatim::Anything)
}

fn script(template: &str, value: &str) -> Script {
    try_script(template, &json!(value)).unwrap_or_else(|error| panic!("{template}: {error}"))
}

#[test]
fn each_place_is_quoted_as_it_needs() {
    for (template, expected) in [
        ("echo {{ x }}", r#"echo "${AYE_V1}""#),
        ("echo a{{ x }}b", r#"echo a"${AYE_V1}"b"#),
        ("echo \"a {{ x }}\"", r#"echo "a ${AYE_V1}""#),
        ("echo \"[a] {{ x }}\"", r#"echo "[a] ${AYE_V1}""#),
        ("echo '[{{ x }}]'", r#"echo '['"${AYE_V1}"']'"#),
        ("echo 'a {{ x }}'", r#"echo 'a '"${AYE_V1}"''"#),
        ("echo $(cat {{ x }})", r#"echo $(cat "${AYE_V1}")"#),
        ("echo \"$(cat {{ x }} '{{ x }}')\"", r#"echo "$(cat "${AYE_V1}" ''"${AYE_V1}"'')""#),
        ("echo `cat {{ x }}`", r#"echo `cat "${AYE_V1}"`"#),
        ("echo ${y:-{{ x }}}", r#"echo ${y:-"${AYE_V1}"}"#),
        ("echo \"${y:-{{ x }}}\"", r#"echo "${y:-${AYE_V1}}""#),
        ("echo \"${y#{{ x }}}\"", r#"echo "${y#"${AYE_V1}"}""#),
        ("cat <<EOF\n{{ x }}\nEOF\necho {{ x }}", "cat <<EOF\n${AYE_V1}\nEOF\necho \"${AYE_V1}\""),
        ("# {{ x }}\necho", "# \necho"),
        ("echo a#{{ x }}", r##"echo a#"${AYE_V1}""##),
        ("echo \\' {{ x }}", r#"echo \' "${AYE_V1}""#),
        ("echo \"\\\"{{ x }}\"", r#"echo "\"${AYE_V1}""#),
        ("echo $# {{ x }}", r##"echo $# "${AYE_V1}""##),
        ("a=$(case y in y) echo {{ x }};; esac)", r#"a=$(case y in y) echo "${AYE_V1}";; esac)"#),
        ("f() { echo {{ x }}; }", r#"f() { echo "${AYE_V1}"; }"#),
        ("cat <(echo {{ x }})", r#"cat <(echo "${AYE_V1}")"#),
        ("{{ x }}", r#""${AYE_V1}""#),
    ] {
        let made = script(template, "v");
        assert_eq!(made.text, expected, "{template}");
        for (index, (name, value)) in made.values.iter().enumerate() {
            assert_eq!(
                (name.as_str(), value.as_str()),
                (format!("AYE_V{}", index + 1).as_str(), "v")
            );
        }
    }
}

#[test]
fn a_script_without_values_is_untouched() {
    for template in ["echo 'unclosed", "x=$((1 + a[\"$(id)\"]))", "cat <<'EOF'\n$x\nEOF", "a ) b"] {
        let made = script(template, "v");
        assert_eq!((made.text.as_str(), made.values.len()), (template, 0));
        assert_eq!(made.shown(str::to_owned), template);
    }
    let made = script("{% if x %}echo 'it{% endif %}", "v");
    assert_eq!(made.text, "echo 'it");
}

#[test]
fn equal_values_share_a_variable_and_loops_make_many() {
    let made = try_script("echo{% for i in x %} {{ i }}{% endfor %}", &json!(["a", "b", "a", 3]));
    let made = made.unwrap();
    assert_eq!(made.text, r#"echo "${AYE_V1}" "${AYE_V2}" "${AYE_V1}" "${AYE_V3}""#);
    let values: Vec<&str> = made.values.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["a", "b", "3"]);
}

#[test]
fn arithmetic_takes_integers_only() {
    for (template, value, expected) in [
        ("echo $((1+{{ x }}))", json!(2), "echo $((1+2))"),
        ("echo $((1-{{ x }}))", json!("-2"), "echo $((1-(-2)))"),
        ("((i = {{ x }} << 1))", json!("007"), "((i = 7 << 1))"),
        ("echo ${y:{{ x }}:1}", json!(3), "echo ${y:3:1}"),
        ("echo $[{{ x }}]", json!(3), "echo $[3]"),
        ("echo ${a[{{ x }}]}", json!(3), "echo ${a[3]}"),
    ] {
        assert_eq!(try_script(template, &value).unwrap().text, expected);
    }
    for template in [
        "echo $((1+{{ x }}))",
        "echo \"$(( (1+{{ x }}) ))\"",
        "((i = {{ x }}))",
        "for ((i=0; i<{{ x }}; i++)); do :; done",
        "echo ${y:{{ x }}}",
        "echo ${y:0:{{ x }}}",
        "echo $((${y:-{{ x }}}))",
        "echo $[{{ x }}]",
        "echo ${a[{{ x }}]}",
        "a[{{ x }}]=1",
        "a[\"{{ x }}\"]=1",
        "declare a[{{ x }}]=1",
        "let {{ x }}",
        "let \"y = {{ x }}\"",
        "[[ {{ x }} -eq 1 ]]",
        "[[ 1 -lt '{{ x }}' ]]",
        "if true && [[ ( -n a && \"{{ x }}\" -gt 1 ) ]]; then :; fi",
        "[[ ${y:-{{ x }}} -eq 1 ]]",
        "[[ -v {{ x }} ]]",
        "test -v {{ x }}",
        "unset {{ x }}",
        "export {{ x }}",
        "export \"{{ x }}=1\"",
        "read -r {{ x }}",
        "printf -v {{ x }} a",
        "A=1 declare '{{ x }}'",
        "2>/dev/null unset {{ x }}",
        "command unset {{ x }}",
        "[ {{ x }} -eq 1 ]",
        "test 1 -gt \"{{ x }}\"",
        "a[b[0]+{{ x }}]=1",
        "a=([{{ x }}]=1)",
        "declare -A a=([y]=1 [{{ x }}]=1)",
        "declare -i n={{ x }}",
        "local -n n={{ x }}",
        "\\unset {{ x }}",
        "true || { unset {{ x }}; }",
    ] {
        for value in ["a[$(touch PWNED)]", "1 + 1", "x y", ""] {
            let refused = try_script(template, &json!(value)).expect_err(template);
            assert_eq!(refused.code, ErrorCode::InjectionDetected, "{template}");
            assert!(refused.hint.is_some());
        }
    }
    // The same commands with what they are meant for.
    for (template, value) in [
        ("[[ {{ x }} -eq 1 ]]", "1"),
        ("[[ {{ x }} == 1 ]] && [ {{ x }} = 1 ] && [ 1 -eq 1 ]", "any thing"),
        ("test {{ x }} = 1; [ $y -eq 1 ]", "any thing"),
        ("a[0]={{ x }} ls foo[{{ x }}]", "any thing"),
        ("a=({{ x }} [1]={{ x }})", "any thing"),
        ("declare a[0]={{ x }}", "any thing"),
        ("declare -i n={{ x }}", "-7"),
        ("[[ -n {{ x }} ]]; [[ $y -eq 1 ]]", "any thing"),
        ("export A={{ x }} B=\"{{ x }}\"", "any thing"),
        ("read -r -p {{ x }} y", "any thing"),
        ("export {{ x }}", "NAME"),
        ("unset '{{ x }}'", "NAME"),
        ("printf '%s' -v {{ x }}x", "NAME"),
        ("echo a; unset b; echo {{ x }}", "any thing"),
    ] {
        script(template, value);
    }
}

#[test]
fn doubtful_places_are_refused() {
    for (template, part) in [
        ("cat <<'EOF'\n{{ x }}\nEOF", "here-document that expands nothing"),
        ("cat <<\\EOF\n{{ x }}\nEOF", "here-document that expands nothing"),
        ("cat <<{{ x }}\na\nEOF", "delimiter"),
        ("echo 'a {{ x }}", "single quote of the script is not closed"),
        ("echo \"a {{ x }}", "double quote of the script is not closed"),
        ("echo $(a {{ x }}", "not closed"),
        ("echo $(a 'b) {{ x }}", "not closed"),
        ("cat <<EOF\n{{ x }}\n", "here-document of the script is not closed"),
        ("echo \\{{ x }}", "backslash"),
        ("echo \"\\{{ x }}\"", "backslash"),
        ("echo ${{ x }}", "follows a `$`"),
        ("echo \"${{ x }}\"", "follows a `$`"),
        ("echo ${ {{ x }} }", "without a name"),
        ("echo ${y{{ x }}}", "inside `${…}`"),
        ("echo ${!y{{ x }}}", "inside `${…}`"),
        ("echo ${y@{{ x }}}", "inside `${…}`"),
        ("echo \"${y:-\"{{ x }}\"}\"", "quotes inside"),
        ("echo \"${y:-it's}\" {{ x }}", "quotes inside"),
        ("echo $'a{{ x }}'", "`$'…'`"),
        ("echo $'it\\'s' {{ x }}", "`$'…'`"),
        ("echo `echo \\`id\\` {{ x }}`", "backticks"),
        ("echo `echo 'a` {{ x }}'", "backtick"),
        ("a ) {{ x }}", "without its `(`"),
        ("echo $((a); echo {{ x }})", "arithmetic or not"),
        ("((echo 'a') | cat) {{ x }}", "quote inside arithmetic"),
        ("cat <<EOF $(a\nb) {{ x }}\nEOF\n", "here-document"),
        ("$(cat <<EOF) {{ x }}", "here-document"),
        ("cat <<EOF\na\\\nEOF\n{{ x }}\nEOF\n", "here-document"),
    ] {
        let refused = try_script(template, &json!("v")).expect_err(template);
        assert!(refused.message.contains(part), "{template}: {refused}");
    }
    // No value after the doubt, no refusal.
    for template in [
        "echo {{ x }} 'a",
        "echo {{ x }} \"${y:-it's}\"",
        "echo {{ x }}; cat <<'EOF'\n$y\nEOF\n",
        "cat <<'EOF'\n$y\nEOF\necho {{ x }}",
        "cat <<-EOF\n\t{{ x }}\n\tEOF\necho {{ x }}",
        "cat <<A <<'B'\n{{ x }}\nA\n'\nB\necho {{ x }}",
        "echo \"${y:-\"d\"}\" \"${y%'a'}\" {{ x }}",
        "echo $'a\\tb' {{ x }}",
        "(cd a && echo {{ x }})",
        "( (echo 'a') | cat) ; echo {{ x }}",
    ] {
        script(template, "v");
    }
}

#[test]
fn safe_is_code_and_quote_knows_its_place() {
    let list = json!(["a b", "it's"]);
    for (template, value, text, values) in [
        ("{{ x | safe }} {{ x }}", json!("ls -l"), "ls -l \"${AYE_V1}\"", vec!["ls -l"]),
        ("echo {{ x | quote }}", json!("it's"), "echo \"${AYE_V1}\"", vec!["it's"]),
        (
            "echo {{ x | quote }}",
            list.clone(),
            "echo \"${AYE_V1}\" \"${AYE_V2}\"",
            vec!["a b", "it's"],
        ),
        (
            "sh -c \"ls {{ x | quote }}\"",
            json!("it's"),
            "sh -c \"ls ${AYE_V1}\"",
            vec![r"'it'\''s'"],
        ),
        ("ssh h \"ls {{ x | quote }}\"", list, "ssh h \"ls ${AYE_V1}\"", vec![r"'a b' 'it'\''s'"]),
        // Only what is emitted as it is counts: what becomes of it is data.
        ("echo {{ (x | safe) ~ '!' }}", json!("$(id)"), "echo \"${AYE_V1}\"", vec!["$(id)!"]),
        ("echo {{ x | tojson }}", json!("$(id)"), "echo \"${AYE_V1}\"", vec!["\"$(id)\""]),
        ("echo {{ x | e }}", json!("$(id)"), "echo \"${AYE_V1}\"", vec!["$(id)"]),
        ("echo {{ x }}", json!([1, "$(id)"]), "echo \"${AYE_V1}\"", vec!["[1, '$(id)']"]),
        // Captured text is a value like any other.
        ("{% set y %}a {{ x }}{% endset %}{{ y }}", json!("b"), "\"${AYE_V1}\"", vec!["a b"]),
        (
            "{% set y %}{{ x | safe }}{% endset %}{{ y }}",
            json!("b c"),
            "\"${AYE_V1}\"",
            vec!["b c"],
        ),
        (
            "{% macro m(y) %}<{{ y }}>{% endmacro %}{{ m(x) }}",
            json!("b"),
            "\"${AYE_V1}\"",
            vec!["<b>"],
        ),
        ("{% filter upper %}a {{ x }}{% endfilter %}", json!("b"), "\"${AYE_V1}\"", vec!["A B"]),
        ("echo {{ x }}", json!(""), "echo \"${AYE_V1}\"", vec![""]),
        ("echo {{ 'a' if false }}", json!(""), "echo \"${AYE_V1}\"", vec![""]),
    ] {
        let made = try_script(template, &value).unwrap();
        assert_eq!(made.text, text, "{template}");
        let made: Vec<&str> = made.values.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(made, values, "{template}");
    }
    assert_eq!(text("{{ x | quote }}", &scope(&json!("it's"))).unwrap(), r"'it'\''s'");
    for template in ["{{ y | quote }}", "{{ y | safe }}", "{{ y }}"] {
        let refused = try_script(template, &json!("")).unwrap_err();
        assert_eq!(
            (refused.message.as_str(), refused.code),
            ("`y` is not defined", ErrorCode::Template)
        );
    }
}

#[test]
fn policy_wants_plain_words_from_safe() {
    let with = |template: &str, value: &str| {
        shell_script(template, &scope(&json!(value)), Verbatim::PlainWord)
            .map(|script| script.text)
            .map_err(|error| error.code)
    };
    assert_eq!(with("git {{ x | safe }}", "fetch").as_deref(), Ok("git fetch"));
    assert_eq!(with("git {{ x }}", "$(id)").as_deref(), Ok("git \"${AYE_V1}\""));
    for hostile in ["a;b", "$(id)", "a b", "-rf", "a\nb", ""] {
        assert_eq!(with("git {{ x | safe }}", hostile), Err(ErrorCode::InjectionDetected));
    }
}

#[test]
fn room_is_limited_and_zero_bytes_are_refused() {
    let refused = |template: &str, value: Value| {
        let error = try_script(template, &value).unwrap_err();
        (error.message, error.code)
    };
    let all = "echo{% for i in x %} {{ i }}{% endfor %}";
    let many: Vec<usize> = (0..1_001).collect();
    let (message, code) = refused(all, json!(many));
    assert_eq!(
        (message.as_str(), code),
        ("the script uses more than 1000 values", ErrorCode::ResourceLimit)
    );
    assert!(try_script(all, &json!(&many[..1_000])).is_ok());
    let (message, code) = refused("echo {{ x }}", json!("a".repeat(200_000)));
    assert_eq!(code, ErrorCode::ResourceLimit);
    assert!(message.contains("200000 bytes"), "{message}");
    let big: Vec<String> = (0..11).map(|n| format!("{n}{}", "a".repeat(100_000))).collect();
    assert_eq!(refused(all, json!(big)).1, ErrorCode::ResourceLimit);
    for template in ["echo {{ x }}", "echo {{ x | quote }}"] {
        assert_eq!(refused(template, json!("a\0b")).1, ErrorCode::InjectionDetected);
    }
    assert_eq!(refused("echo {{ x | safe }}", json!("a\0b")).1, ErrorCode::Template);
}

#[test]
fn what_is_shown_is_what_a_person_would_write() {
    let shown = |template: &str, value: &str| script(template, value).shown(str::to_owned);
    assert_eq!(shown("deploy {{ x }} --to \"{{ x }}\"", "main"), "deploy main --to \"main\"");
    assert_eq!(shown("rm {{ x }}", "a b; id"), "rm 'a b; id'");
    assert_eq!(shown("rm \"{{ x }}\"", "$(id)"), "rm \"\\$(id)\"");
    assert_eq!(shown("rm '{{ x }}'", "it's"), r"rm 'it'\''s'");
    assert_eq!(shown("cat <<A\n{{ x }}\nA\n", "`id`"), "cat <<A\n\\`id\\`\nA\n");
    assert_eq!(shown("# {{ x }}\n", "a\nb"), "# a b\n");
    let masked = script("login '{{ x }}' {{ x }}", "it's").shown(|_| "***".to_owned());
    assert_eq!(masked, "login '***' '***'");
    assert!(!format!("{:?}", script("{{ x }}", "hunter2")).contains("hunter2"));
}

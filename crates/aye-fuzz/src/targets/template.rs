//! Templates, conditions and scripts.

use aye_core::text::{self, Expressions, Scope, Verbatim};
use aye_runtime::compute::PythonExpressions;

use super::Target;
use super::scope::scope;

pub(super) struct Template {
    strict: Scope,
    lenient: Scope,
}

impl Template {
    pub(super) fn new() -> Self {
        let strict = scope();
        Self { lenient: Scope { lenient: true, ..strict.clone() }, strict }
    }
}

impl Target for Template {
    fn run(&mut self, case: &[u8]) -> Result<(), String> {
        let template = &*String::from_utf8_lossy(case);
        let others = Some(&PythonExpressions as &dyn Expressions);
        // Each of these alone stays within its time, so one of them is enough.
        let scope = if case.len().is_multiple_of(2) { &self.strict } else { &self.lenient };
        let _ = text::names_in_with(template, others);
        let _ = text::unknown_word_in(template, others);
        let rendered = match case.first().copied().unwrap_or_default() % 4 {
            0 => text::render(template, scope).map(|value| value.to_string().len()),
            1 => text::text(template, scope).map(|text| text.len()),
            2 => {
                let _ = text::names_in_condition_with(template, others);
                text::holds(template, scope).map(usize::from)
            }
            _ => text::shell_script(template, scope, Verbatim::default())
                .map(|script| script.text.len()),
        };
        match rendered {
            Ok(size) if size > 64 << 20 => Err(format!("{size} bytes came out")),
            Err(error) if error.message.contains("interpreter crashed") => Err(error.message),
            _ => Ok(()),
        }
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "{{ ",
            " }}",
            "{% if ",
            "{% for a in rows %}",
            "{% endfor %}",
            "{% endif %}",
            "{% set a = ",
            "{% macro m(a) %}",
            "{% endmacro %}",
            "{% raw %}",
            "{# ",
            " #}",
            " | format(",
            " | replace('a', ",
            " | join(",
            " * ",
            " ** ",
            " ~ ",
            " | indent(",
            " | tojson(indent=",
            " | quote",
            " | safe",
            ".format(",
            "range(",
            "namespace(a=",
            "inputs.commit",
            "env.HOME",
            "now()",
            "'a'",
            "n",
            "rows",
            "long",
            " for x in rows",
            "lambda: ",
            "loop.index",
            " | map('string')",
            " | batch(",
            " is defined",
            " and ",
            " or ",
            " not ",
            " if ",
            " else ",
            "[0]",
            "[::",
            ".items()",
            "%}",
            "-%}",
            "$(",
            "\"",
            "'",
            "<<EOF\n",
            "`",
            "'%99999999d'",
            "'{:>99999999}'",
            " | default(",
            "caller()",
            "{% call m() %}",
            "{% filter upper %}",
            "{% include 'a' %}",
        ]
    }
}

//! Options whose value is one word of several.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Parses one of these words; manual pages and completions say what each of them means.
pub(super) fn one_of<T, const N: usize>(
    all: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let words = all.each_ref().map(|(word, _, about)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(words).try_map(move |given| {
        let found = all.iter().find(|(word, ..)| *word == given);
        found.map(|(_, value, _)| *value).ok_or("not one of the words")
    })
}

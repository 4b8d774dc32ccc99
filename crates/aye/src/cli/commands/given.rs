//! Inputs from the command line.

use std::io;
use std::path::Path;

use aye_core::skill::Given;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use aye_runtime::error::Error;
use aye_runtime::usecases::TextArguments;

/// `-i k=v` and `--inputs FILE`; what stands on the command line wins.
pub(super) fn collect(
    pairs: &[String],
    file: Option<&Path>,
) -> Result<IndexMap<String, Given>, Error> {
    let mut given = match file {
        Some(file) => from_file(file)?,
        None => IndexMap::new(),
    };
    for (name, value) in texts(pairs)? {
        given.insert(name, Given::Text(value));
    }
    Ok(given)
}

/// `NAME=VALUE`. Split once: a value may hold further `=`.
pub(super) fn split(pair: &str) -> Option<(&str, &str)> {
    pair.split_once('=').filter(|(name, _)| !name.is_empty())
}

/// `-i k=v` alone.
pub(super) fn texts(pairs: &[String]) -> Result<IndexMap<String, String>, Error> {
    let mut texts = IndexMap::new();
    for pair in pairs {
        let (name, value) = split(pair).ok_or_else(|| {
            Error::usage(format!("`{pair}` is not an input"), "write `-i name=value`")
        })?;
        texts.insert(name.to_owned(), value.to_owned());
    }
    Ok(texts)
}

/// `--set k=v`: text where the argument is text, else JSON where it is some.
pub(super) fn values(pairs: &[String], text: &TextArguments) -> Result<Map<String, Value>, Error> {
    let mut values = Map::new();
    for pair in pairs {
        let (name, written) = split(pair).ok_or_else(|| {
            Error::usage(format!("`{pair}` is not NAME=VALUE"), "write `--set name=value`")
        })?;
        // `1.10` is a version, and not the number 1.1.
        let read = || serde_json::from_str::<Value>(written).ok();
        let value = (!text.contains(name)).then(read).flatten().filter(|value| {
            value.as_number().is_none_or(|number| *number.to_string() == *written.trim())
        });
        values.insert(name.to_owned(), value.unwrap_or_else(|| written.into()));
    }
    Ok(values)
}

fn from_file(file: &Path) -> Result<IndexMap<String, Given>, Error> {
    let text = if file == Path::new("-") {
        io::read_to_string(io::stdin()).map_err(Error::Input)?
    } else {
        let failed = Error::file("read", file);
        std::fs::read_to_string(file).map_err(failed)?
    };
    let data: IndexMap<String, Value> = serde_json::from_str(&text).map_err(|error| {
        let message = format!("cannot read inputs from `{}`: {error}", file.display());
        Error::usage(message, "write a JSON object: {\"name\": \"value\"}")
    })?;
    Ok(data.into_iter().map(|(name, value)| (name, Given::Data(value))).collect())
}

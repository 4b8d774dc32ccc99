//! Where the server of a home is, as it says itself in `serve.json`.

use std::path::Path;

use crate::presence::is_there;

/// The address of the server of this home, if one runs. A file that a killed server left
/// behind does not count.
pub(crate) fn announced_server(home: &Path) -> Option<String> {
    let text = std::fs::read_to_string(home.join("serve.json")).ok()?;
    let said: serde_json::Value = serde_json::from_str(&text).ok()?;
    let pid = u32::try_from(said.get("pid")?.as_u64()?).ok()?;
    let url = said.get("url")?.as_str().filter(|url| url.starts_with("http"))?;
    is_there(pid).then(|| url.trim_end_matches('/').to_owned())
}

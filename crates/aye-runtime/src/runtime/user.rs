//! Who we are.

use std::sync::OnceLock;

use crate::origin;

/// The operating system's user, not what the environment or a user namespace claims. Looked
/// up once.
pub(super) fn name() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| account_name(origin::real_user())).clone()
}

/// The name of a user of the operating system; its number, if it has none.
pub fn account_name(uid: u32) -> String {
    let uid = uid.to_string();
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    name.unwrap_or(uid)
}

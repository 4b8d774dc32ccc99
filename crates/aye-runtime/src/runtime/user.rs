//! Who we are.

use std::sync::OnceLock;

use crate::origin;

/// The operating system's user, not what the environment or a user namespace claims. Looked
/// up once.
pub(super) fn name() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(look_up).clone()
}

fn look_up() -> String {
    let uid = origin::real_user().to_string();
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    name.unwrap_or(uid)
}

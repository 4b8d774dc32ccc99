//! Whether a window can be shown, as far as that is known without trying.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::program::{DialogProgram, PROGRAMS};

/// What is known of the session that this process runs in.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Its environment.
    pub env: Arc<BTreeMap<String, String>>,
    /// The settings name the desktop: someone over ssh, or in a container, means it.
    pub named: bool,
}

/// Why no window is to be shown, as far as that is known without trying.
pub fn obstacle(surroundings: &Surroundings) -> Option<String> {
    obstacle_below(surroundings, Path::new("/"))
}

/// The same; `root` is where a container leaves its marks.
fn obstacle_below(surroundings: &Surroundings, root: &Path) -> Option<String> {
    from_environment(surroundings).or_else(|| container(surroundings, root))
}

/// Why not, from the environment alone.
fn from_environment(surroundings: &Surroundings) -> Option<String> {
    let Surroundings { env, named } = surroundings;
    let set = |name: &str| {
        env.get(name).is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
    };
    let unless_named = |why: &str| (!named).then(|| why.to_owned());
    if set("CI") {
        return Some("this is a CI job (`CI` is set)".to_owned());
    }
    if set("SSH_CONNECTION") || set("SSH_TTY") {
        return unless_named("this session came over ssh").or_else(|| no_display(env));
    }
    if set("container") {
        return unless_named("this is a container (`container` is set)")
            .or_else(|| no_display(env));
    }
    no_display(env)
}

fn no_display(env: &BTreeMap<String, String>) -> Option<String> {
    let set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
    let some = cfg!(target_os = "macos") || set("WAYLAND_DISPLAY") || set("DISPLAY");
    (!some).then(|| "there is no display".to_owned())
}

/// Why not, from what else is known of the machine.
fn container(surroundings: &Surroundings, root: &Path) -> Option<String> {
    let marks = [".dockerenv", "run/.containerenv"];
    let found = marks.iter().find(|mark| !surroundings.named && root.join(mark).exists());
    found.map(|mark| format!("this is a container (`/{mark}` is there)"))
}

/// The programs that are there.
pub(super) fn programs(
    env: &BTreeMap<String, String>,
) -> Result<Vec<(&'static dyn DialogProgram, PathBuf)>, String> {
    let found: Vec<_> = PROGRAMS
        .iter()
        .filter_map(|program| Some((*program, on_path(program.name(), env)?)))
        .collect();
    match found.is_empty() {
        true => {
            let names = PROGRAMS.map(|program| format!("`{}`", program.name()));
            Err(format!("neither {} is installed", names.join(" nor ")))
        }
        false => Ok(found),
    }
}

/// The program of this name in a directory that does not depend on where we are.
pub(super) fn on_path(name: &str, env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let can_run = |path: &PathBuf| {
        let about = std::fs::metadata(path);
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let directories = std::env::split_paths(env.get("PATH")?).filter(|path| path.is_absolute());
    directories.map(|directory| directory.join(name)).find(can_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why_not(pairs: &[(&str, &str)], named: bool) -> Option<String> {
        let env = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        from_environment(&Surroundings { env: Arc::new(env.collect()), named })
    }

    #[test]
    fn where_nobody_sits_before_a_screen_nothing_is_tried() {
        let shown = ("DISPLAY", ":0");
        assert_eq!(why_not(&[shown], false), None);
        assert_eq!(why_not(&[("WAYLAND_DISPLAY", "wayland-0")], false), None);
        for (pairs, why) in [
            (&[][..], "there is no display"),
            (&[("DISPLAY", "")], "there is no display"),
            (&[shown, ("CI", "true")], "this is a CI job (`CI` is set)"),
            (&[shown, ("SSH_CONNECTION", "a 1 b 2")], "this session came over ssh"),
            (&[shown, ("SSH_TTY", "/dev/pts/1")], "this session came over ssh"),
            (&[shown, ("container", "podman")], "this is a container (`container` is set)"),
        ] {
            assert_eq!(why_not(pairs, false).as_deref(), Some(why));
        }
        // Who names the desktop in the settings means it, but no CI job has one.
        assert_eq!(why_not(&[shown, ("SSH_TTY", "/dev/pts/1")], true), None);
        assert_eq!(why_not(&[shown, ("container", "podman")], true), None);
        assert!(why_not(&[shown, ("CI", "1")], true).is_some());
        assert!(why_not(&[("SSH_TTY", "/dev/pts/1")], true).is_some());
    }

    /// Known before there is a question: nothing waits for the desktop's turn.
    #[test]
    fn in_a_container_nothing_is_tried() {
        let root = tempfile::tempdir().expect("a directory");
        let env = Arc::new(BTreeMap::from([("DISPLAY".to_owned(), ":0".to_owned())]));
        let why_not = |named| {
            let surroundings = Surroundings { env: env.clone(), named };
            obstacle_below(&surroundings, root.path())
        };
        assert_eq!(why_not(false), None);
        std::fs::write(root.path().join(".dockerenv"), "").expect("a file");
        let why = "this is a container (`/.dockerenv` is there)";
        assert_eq!(why_not(false).as_deref(), Some(why));
        assert_eq!(why_not(true), None, "the settings name it");
    }

    #[test]
    fn programs_are_not_looked_for_where_we_happen_to_be() {
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join("zenity");
        std::fs::write(&program, "#!/bin/sh\n").expect("a file");
        let path = |path: &str| BTreeMap::from([("PATH".to_owned(), path.to_owned())]);
        let here = directory.path().display().to_string();
        assert!(programs(&path(&here)).is_err(), "it cannot be run");
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("ours");
        assert_eq!(on_path("zenity", &path(&here)), Some(program));
        assert_eq!(on_path("zenity", &path(".:relative")), None);
        assert_eq!(programs(&path(&here)).map(|found| found.len()), Ok(1));
    }
}

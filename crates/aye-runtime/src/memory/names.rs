//! When a name in memory means the tool or program at hand.

/// How well a name fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It is the tool's.
    Exact,
    /// It is the beginning: the tool is of that family.
    Family,
}

/// How a written name fits a tool or a program; `git` is the family of
/// `git.git_status` and of `git_push`, and fits `/usr/bin/git` exactly.
pub(super) fn tool_fits(written: &str, tool: &str) -> Option<Fit> {
    let (written, tool) = (base(written), base(tool));
    if written.is_empty() {
        return None;
    }
    if written == tool {
        return Some(Fit::Exact);
    }
    let rest = tool.strip_prefix(&written)?;
    rest.starts_with(['.', '_', '-', ':', ' ']).then_some(Fit::Family)
}

/// How something about one tool is about another: it names that tool or its family, or is
/// itself of the family that is asked about.
pub(super) fn about_tool(written: &str, asked: &str) -> Option<Fit> {
    tool_fits(written, asked).or_else(|| tool_fits(asked, written).map(|_| Fit::Family))
}

/// The family of a tool: what stands before the first separator.
pub(super) fn family(tool: &str) -> String {
    let name = base(tool);
    name.split(['.', '_', '-', ':', ' ']).next().unwrap_or_default().to_owned()
}

/// Lower case, without the directory of a program.
fn base(name: &str) -> String {
    let name = name.trim();
    let name = match name.split_once(char::is_whitespace) {
        Some((program, _)) if program.contains('/') => program,
        _ => name,
    };
    name.rsplit('/').next().unwrap_or(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_its_tool_and_its_family() {
        assert_eq!(tool_fits("git.git_status", "git.git_status"), Some(Fit::Exact));
        assert_eq!(tool_fits("git", "git.git_status"), Some(Fit::Family));
        assert_eq!(tool_fits("bonfire", "bonfire_deploy"), Some(Fit::Family));
        assert_eq!(tool_fits("podman", "/usr/bin/podman"), Some(Fit::Exact));
        assert_eq!(tool_fits("Podman", "podman pull x"), Some(Fit::Family));
    }

    #[test]
    fn the_beginning_of_a_word_is_no_family() {
        assert_eq!(tool_fits("git", "github.create_issue"), None);
        assert_eq!(tool_fits("git.git_status", "git"), None);
        assert_eq!(tool_fits("", "git"), None);
    }

    #[test]
    fn families() {
        assert_eq!(family("git.git_status"), "git");
        assert_eq!(family("bonfire_deploy"), "bonfire");
        assert_eq!(family("/usr/bin/podman"), "podman");
    }
}

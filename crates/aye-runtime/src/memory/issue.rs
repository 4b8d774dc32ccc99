//! Known issues: what people wrote down about errors. Only ever shown.

use serde::{Deserialize, Serialize};

use super::names::{Fit, about_tool, family, tool_fits};
use super::pattern::{BadPattern, Pattern, SearchText};
use super::query::{Layer, Placed, Query};

/// How many are looked up before a run, for each family of tools.
pub const PER_FAMILY: usize = 2;
/// How many in all.
pub const IN_ALL: usize = 5;
/// How many of those are shown.
pub const SHOWN: usize = 3;

/// An entry of `patterns.yaml`.
#[derive(Debug, Clone)]
pub struct Issue {
    /// Its name, made of what it says.
    pub id: String,
    /// What it is recognised by.
    pub pattern: Pattern,
    /// The tools or families of tools it is about; empty for any.
    pub tools: Vec<String>,
    /// What the error means.
    pub meaning: Option<String>,
    /// What to do, in words.
    pub fix: Option<String>,
    /// Commands that help, for people to run.
    pub commands: Vec<String>,
    /// What it belongs to.
    pub tags: Vec<String>,
}

/// The entry as written. Everything else in it is the writer's business.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(expecting = "a mapping")]
pub(super) struct Written {
    pub(super) pattern: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) meaning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) commands: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tags: Vec<String>,
}

/// The key whose entries have no tag of their own.
pub(super) const KEY: &str = "issues";

/// What a category stands for: files of the original system call what is about the tools of
/// `bonfire` `bonfire_patterns`.
pub(super) fn category(name: &str) -> &str {
    name.strip_suffix("_patterns").filter(|name| !name.is_empty()).unwrap_or(name)
}

impl Written {
    /// The issue it stands for, below the key `group`.
    pub(super) fn read(self, group: &str) -> Result<Issue, BadPattern> {
        let pattern = Pattern::new(&self.pattern)?;
        let group_tag = (group != KEY).then_some(group);
        let tags = self.tags.iter().map(String::as_str).chain(group_tag);
        let tags: Vec<String> = tags.map(|tag| category(tag).to_owned()).collect();
        let tools: Vec<String> = self.tool.into_iter().chain(self.tools).collect();
        // Two that say different things about one error are two.
        let said = serde_json::json!([self.meaning, self.fix, self.commands, tags]).to_string();
        let told = aye_core::digest::digest(&[
            group.as_bytes(),
            self.pattern.as_bytes(),
            tools.join("\n").as_bytes(),
            said.as_bytes(),
        ]);
        Ok(Issue {
            id: format!("issue-{}", &told[..8]),
            pattern,
            tools,
            meaning: self.meaning,
            fix: self.fix,
            commands: self.commands,
            tags,
        })
    }
}

/// How well an issue fits; the first is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// The tool is named, and the pattern is there.
    Tool,
    /// The tool's family or a tag is named, and the pattern is there.
    Family,
    /// Only the pattern is there.
    Pattern,
}

/// How an issue fits a failure; its pattern always has to.
fn rank(issue: &Issue, query: &Query<'_>, searched: &SearchText<'_>) -> Option<Rank> {
    if !issue.pattern.is_in_text(searched) {
        return None;
    }
    let fits: Vec<Fit> =
        issue.tools.iter().filter_map(|tool| tool_fits(tool, query.tool)).collect();
    Some(match fits.into_iter().min() {
        Some(Fit::Exact) => Rank::Tool,
        Some(Fit::Family) => Rank::Family,
        None if is_tagged(issue, query.tool) => Rank::Family,
        None => Rank::Pattern,
    })
}

/// The issues that fit, best first.
pub(super) fn find<'a>(
    issues: &'a [Placed<Issue>],
    query: &Query<'_>,
) -> Vec<(Rank, &'a Placed<Issue>)> {
    if query.error.trim().is_empty() {
        return about(issues, query.tool);
    }
    let searched = SearchText::new(query.error);
    // The user's own are compared first: what a project has may use up the rest.
    let of = |layer| issues.iter().filter(move |issue| issue.layer == layer);
    let mut found: Vec<_> = of(Layer::User)
        .chain(of(Layer::Project))
        .filter_map(|issue| Some((rank(&issue.value, query, &searched)?, issue)))
        .collect();
    // A longer pattern says more; the order of the files decides the rest.
    found.sort_by_key(|(rank, issue)| {
        (*rank, std::cmp::Reverse(issue.value.pattern.as_str().len()), issue.layer)
    });
    found
}

/// What is known about a tool or a family of tools, whatever the error.
fn about<'a>(issues: &'a [Placed<Issue>], tool: &str) -> Vec<(Rank, &'a Placed<Issue>)> {
    let mut found: Vec<_> = issues
        .iter()
        .filter_map(|issue| match fit(&issue.value, tool)? {
            Fit::Exact => Some((Rank::Tool, issue)),
            Fit::Family => Some((Rank::Family, issue)),
        })
        .collect();
    found.sort_by_key(|(rank, issue)| (*rank, issue.layer));
    found
}

/// What is known about these tools before anything went wrong: two for each
/// family, five in all.
pub(super) fn before<'a>(issues: &'a [Placed<Issue>], tools: &[&str]) -> Vec<&'a Placed<Issue>> {
    let mut families: Vec<String> = Vec::new();
    for tool in tools {
        let family = family(tool);
        if !family.is_empty() && !families.contains(&family) {
            families.push(family);
        }
    }
    let mut found: Vec<&Placed<Issue>> = Vec::new();
    for name in &families {
        let ours = |tool: &&&str| family(tool) == *name;
        let mut of_family: Vec<(Fit, &Placed<Issue>)> = issues
            .iter()
            .filter(|issue| !found.iter().any(|had| had.value.id == issue.value.id))
            .filter_map(|issue| {
                let fits = tools.iter().filter(ours).filter_map(|tool| fit(&issue.value, tool));
                Some((fits.min()?, issue))
            })
            .collect();
        of_family.sort_by_key(|(fit, _)| *fit);
        found.extend(of_family.into_iter().take(PER_FAMILY).map(|(_, issue)| issue));
    }
    found.truncate(IN_ALL);
    found
}

/// How an issue is about a tool.
fn fit(issue: &Issue, tool: &str) -> Option<Fit> {
    // The skill may name a family only: "bonfire" for what is said of its tools.
    let named = issue.tools.iter().filter_map(|written| about_tool(written, tool)).min();
    named.or_else(|| is_tagged(issue, tool).then_some(Fit::Family))
}

fn is_tagged(issue: &Issue, tool: &str) -> bool {
    issue.tags.iter().any(|tag| tool_fits(tag, tool).is_some())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn issue(pattern: &str, tools: &[&str], tags: &[&str]) -> Placed<Issue> {
        let written = Written {
            pattern: pattern.into(),
            tool: None,
            tools: tools.iter().map(ToString::to_string).collect(),
            meaning: None,
            fix: None,
            commands: Vec::new(),
            tags: tags.iter().map(ToString::to_string).collect(),
        };
        let value = written.read(KEY).expect("an issue");
        Placed { layer: Layer::User, file: PathBuf::new(), line: 1, value }
    }

    fn found<'a>(issues: &'a [Placed<Issue>], tool: &str, error: &str) -> Vec<(Rank, &'a str)> {
        let query = Query { tool, error, ..Query::default() };
        let found = find(issues, &query).into_iter();
        found.map(|(rank, issue)| (rank, issue.value.pattern.as_str())).collect()
    }

    #[test]
    fn tool_and_pattern_come_before_family_before_pattern() {
        let issues = [
            issue("not found", &[], &[]),
            issue("was not", &[], &["git"]),
            issue("not", &["git.push"], &[]),
            issue("reference was not found", &["git"], &[]),
            issue("something else", &["git.push"], &[]),
        ];
        assert_eq!(
            found(&issues, "git.push", "the reference was not found"),
            [
                (Rank::Tool, "not"),
                (Rank::Family, "reference was not found"),
                (Rank::Family, "was not"),
                (Rank::Pattern, "not found"),
            ]
        );
    }

    #[test]
    fn without_its_pattern_nothing_matches() {
        let issues = [issue("403", &["git"], &["git"])];
        assert_eq!(found(&issues, "git", "MR !1403 not found"), []);
    }

    #[test]
    fn without_an_error_everything_about_the_family_is_found() {
        let issues = [
            issue("403", &["bonfire_deploy"], &[]),
            issue("no route", &[], &["bonfire"]),
            issue("gone", &["bonfire"], &[]),
            issue("other", &["git"], &["pipeline"]),
            issue("anything", &[], &[]),
        ];
        let names = |tool| found(&issues, tool, "");
        assert_eq!(
            names("bonfire"),
            [(Rank::Tool, "gone"), (Rank::Family, "403"), (Rank::Family, "no route")]
        );
        assert_eq!(
            names("bonfire_deploy"),
            [(Rank::Tool, "403"), (Rank::Family, "no route"), (Rank::Family, "gone")]
        );
        assert_eq!(names("pipeline"), [(Rank::Family, "other")]);
        assert_eq!(names(""), []);
    }

    #[test]
    fn families_have_two_each_and_five_in_all() {
        let issues: Vec<_> = ["git", "oc", "podman", "curl"]
            .into_iter()
            .flat_map(|tool| (0..4).map(move |n| issue(&format!("error {n}"), &[tool], &[])))
            .collect();
        let tools = ["git.push", "git.pull", "oc", "podman", "curl"];
        let found: Vec<&str> =
            before(&issues, &tools).iter().map(|issue| issue.value.tools[0].as_str()).collect();
        assert_eq!(found, ["git", "git", "oc", "oc", "podman"]);
    }

    #[test]
    fn a_family_is_found_by_prefix_and_by_tag() {
        let issues = [issue("one", &["bonfire_deploy"], &[]), issue("two", &[], &["bonfire"])];
        assert_eq!(before(&issues, &["bonfire"]).len(), 2);
        assert_eq!(before(&issues, &["bonfire_reserve"]).len(), 1);
        assert_eq!(before(&issues, &["bon"]).len(), 0);
    }
}

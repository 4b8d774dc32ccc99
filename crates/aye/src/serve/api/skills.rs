//! Skills: listed with their input schemas, and drawn.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use aye_core::flow::Flow;
use aye_core::skill::Given;
use aye_runtime::dry_run::Plan;
use aye_runtime::people::Right;
use aye_runtime::runtime::Runtime;
use aye_runtime::skills::{input_schema, skill_about, skill_name};
use aye_runtime::usecases::{FoundSkill, ListedSkill, Prepared, SkillError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph;
use crate::serve::identity::Identity;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;
use crate::serve::views::{PlannedStepView, SkillView};

use super::extract::{Body, Params, Path};
use super::reply::{Reply, Svg, reply};

/// Which project is meant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectQuery {
    /// Its directory; without it every project, or the first that has the skill.
    project: Option<String>,
}

/// Skills.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SkillsPage {
    skills: Vec<SkillView>,
}

/// `GET /api/v1/skills`
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Params(query): Params<ProjectQuery>,
) -> Reply<SkillsPage> {
    identity.must(Right::Read)?;
    reply(&server, move |server| {
        let mut skills = Vec::new();
        for (root, trusted) in server.projects(&identity)? {
            if query.project.as_deref().is_none_or(|wanted| FilePath::new(wanted) == root) {
                let runtime = server.runtime.served_at(&root)?;
                skills.extend(skills_of(&runtime, trusted));
            }
        }
        Ok(SkillsPage { skills })
    })
    .await
}

/// The skills of a project.
fn skills_of(runtime: &Runtime, trusted: bool) -> Vec<SkillView> {
    let of = |skill: ListedSkill| {
        let file = skill.file.display().to_string();
        match &skill.flow {
            Some(flow) => view(flow, &file, skill.errors, trusted, runtime),
            None => SkillView {
                skill: skill.name,
                project: runtime.settings.root.display().to_string(),
                trusted,
                file,
                description: None,
                inputs: input_schema(&[]),
                steps: Vec::new(),
                errors: skill.errors,
            },
        }
    };
    runtime.list_skills().skills.into_iter().map(of).collect()
}

fn view(flow: &Flow, file: &str, errors: usize, trusted: bool, runtime: &Runtime) -> SkillView {
    let name = skill_name(flow);
    let steps = flow.nodes.iter().map(|node| PlannedStepView {
        name: node.step.name.value.clone(),
        kind: node.step.action.kind().as_str().to_owned(),
        description: node.step.description.clone(),
        destructive: node.step.destructive,
        asks: node.step.question().is_some(),
    });
    SkillView {
        skill: name.to_owned(),
        project: runtime.settings.root.display().to_string(),
        trusted,
        file: file.to_owned(),
        description: skill_about(flow).map(str::to_owned),
        inputs: input_schema(&flow.skill.inputs),
        steps: steps.collect(),
        errors,
    }
}

/// A skill of one of the projects as its file is now.
fn found(
    server: &Server,
    identity: &Identity,
    skill: &str,
    project: Option<&str>,
) -> Result<(FoundSkill, Runtime), Problem> {
    let runtime = server.project_of(skill, project, identity)?;
    Ok((runtime.read_skill(skill)?, runtime))
}

fn flow_of(skill: FoundSkill) -> Result<Flow, Problem> {
    skill.into_flow().map_err(|error| match error {
        SkillError::Failed(error) => error.into(),
        SkillError::Invalid(file) => {
            let detail = format!("`{}` has errors\n{}", file.path.display(), file.render(false));
            Problem::new(Code::InvalidSkill, detail)
        }
    })
}

/// `GET /api/v1/skills/{skill}`
pub(super) async fn one(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(skill): Path<String>,
    Params(query): Params<ProjectQuery>,
) -> Reply<SkillView> {
    identity.must(Right::Read)?;
    reply(&server, move |server| {
        let project = query.project.as_deref();
        let (skill, runtime) = found(server, &identity, &skill, project)?;
        let trusted = runtime.must_be_trusted().is_ok();
        let (file, errors) = (skill.file.path.display().to_string(), skill.file.errors());
        Ok(view(&flow_of(skill)?, &file, errors, trusted, &runtime))
    })
    .await
}

/// `GET /api/v1/skills/{skill}/graph`: as SVG.
pub(super) async fn graph(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(skill): Path<String>,
    Params(query): Params<ProjectQuery>,
) -> Result<Svg, Problem> {
    identity.must(Right::Read)?;
    let drawn = server
        .blocking(move |server| {
            let project = query.project.as_deref();
            let (skill, _) = found(server, &identity, &skill, project)?;
            Ok(graph::svg(&flow_of(skill)?))
        })
        .await?;
    Ok(Svg(drawn))
}

/// `GET /api/v1/runs/{run}/graph`: the skill as the run was started with it.
pub(super) async fn run_graph(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(run): Path<String>,
) -> Result<Svg, Problem> {
    identity.must(Right::Read)?;
    let drawn = server
        .blocking(move |server| {
            let journal = server.journal()?;
            let row = server.run(&journal, &run, &identity)?;
            let runtime = server.runtime.served_at(FilePath::new(&row.workspace))?;
            Ok(graph::svg(&journal.load(&row, &runtime)?.flow))
        })
        .await?;
    Ok(Svg(drawn))
}

/// What a dry run is given.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DryRunBody {
    /// The skill's project; without it, the first that has the skill.
    project: Option<String>,
    /// What it would be given.
    #[serde(default)]
    inputs: Map<String, Value>,
    /// What it would run against.
    environment: Option<String>,
}

/// The plan of a run, as `aye run --dry-run --json` prints it.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "Map<String, Value>")]
pub(super) struct PlanView(#[schemars(with = "Map<String, Value>")] Plan);

/// `POST /api/v1/skills/{skill}/dry-run`: the way a run would take; nothing runs.
pub(super) async fn dry_run(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(skill): Path<String>,
    Body(body): Body<DryRunBody>,
) -> Reply<PlanView> {
    server.must_act(&identity, Right::Start)?;
    reply(&server, move |server| {
        let runtime = server.project_of(&skill, body.project.as_deref(), &identity)?;
        let skill = runtime.check_skill(&skill).map_err(SkillError::into_error)?;
        let given = body.inputs.into_iter().map(|(name, value)| (name, Given::Data(value)));
        let prepared = runtime.prepare(skill, given.collect())?;
        let prepared = Prepared { environment: body.environment, ..prepared };
        Ok(PlanView(runtime.plan(&prepared)?))
    })
    .await
}

//! A session begins, of itself or as a template says.
//!
//! Owns the route, and how a template and a body become one. Invariant: what the body says counts; a template fills in what
//! it leaves out, and holds no secret.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use countersign_api::bodies::{MessageBlock, StartBody};
use countersign_api::control::session::Setup;
use countersign_api::control::{Command, ControlError, Message, NewSession, Receipt, Template};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Routes, WITH_IMAGES, carry_out};
use crate::app::App;
use crate::caller::Write;
use crate::extract::Body;
use crate::refusal::Refusal;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(start))
        .layer(DefaultBodyLimit::max(WITH_IMAGES))
}

/// Begins a session. With a `template`, what is left out is as that says.
#[utoipa::path(post, path = "/sessions", operation_id = "startSession", tag = "sessions", request_body = StartBody,
    responses((status = 201, description = "It is there", body = Receipt)))]
async fn start(
    State(app): State<Arc<App>>,
    write: Write,
    Body(body): Body<StartBody>,
) -> Result<(StatusCode, Json<Receipt>), Refusal> {
    MessageBlock::check(&body.blocks)?;
    let template = match &body.template {
        Some(name) => named(&app, name).await?,
        None => Template::default(),
    };
    let new = new_session(&write, body, template)?;
    let receipt = carry_out(&app, write, Command::Start(Box::new(new))).await?;
    Ok((StatusCode::CREATED, receipt))
}

async fn named(app: &App, name: &str) -> Result<Template, ControlError> {
    let all = app.control.templates().await?;
    let found = all.into_iter().find(|one| one.name == name);
    found
        .map(|one| one.template)
        .ok_or_else(|| ControlError::not_found("template", name))
}

/// What the body says; what the template does where it says nothing.
fn chosen(
    body: BTreeMap<String, Value>,
    template: BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    match body.is_empty() {
        true => template,
        false => body,
    }
}

/// A folder that may be named from the person's home: `~`, `~/work`. Without a home it stays as it is, and is refused as no whole path.
pub(super) fn from_home(path: PathBuf) -> PathBuf {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => home,
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

fn new_session(
    write: &Write,
    body: StartBody,
    template: Template,
) -> Result<NewSession, ControlError> {
    let mode = body.mode()?.or(template.mode).unwrap_or_default();
    let cwd = match body.cwd.is_empty() {
        true => template.cwd,
        false => Some(from_home(PathBuf::from(body.cwd))),
    };
    let cwd = cwd.ok_or_else(|| {
        ControlError::invalid("name the folder to work in: `cwd`, from the root on")
    })?;
    let is_empty = |text: &String| text.trim().is_empty();
    if body.blocks.is_empty() && body.prompt.as_ref().is_some_and(is_empty) {
        return Err(ControlError::invalid(
            "the prompt is empty: say what is to be done, or leave `prompt` out for a session that waits for its first message",
        ));
    }
    let prompt = body.prompt.or(template.prompt);
    let prompt = prompt.filter(|text| !text.is_empty());
    let prompt = match (prompt, body.blocks) {
        (None, blocks) if blocks.is_empty() => None,
        (text, blocks) => Some(Message {
            id: write.message(),
            text: text.unwrap_or_default(),
            blocks,
        }),
    };
    let add_dirs = match body.add_dirs.is_empty() {
        true => template.add_dirs,
        false => body.add_dirs.into_iter().map(Into::into).collect(),
    };
    let setup = Setup {
        name: body.name.or(template.name),
        model: body.model.or(template.model),
        mode,
        env: body.env,
        budget_usd: body.budget_usd.or(template.budget_usd),
        effort: body.effort.or(template.effort),
        max_thinking_tokens: body.max_thinking_tokens.or(template.max_thinking_tokens),
        max_turns: body.max_turns.or(template.max_turns),
        hooks: chosen(body.hooks, template.hooks),
        agents: chosen(body.agents, template.agents),
        append_system_prompt: body.append_system_prompt.or(template.append_system_prompt),
        mcp_servers: body.mcp_servers,
        add_dirs,
        config_dir: body.config_dir.map(Into::into),
        claude: Vec::new(),
    };
    Ok(NewSession {
        id: body.id.unwrap_or_else(|| write.session()),
        prompt,
        cwd,
        setup,
        worktree: body.worktree.or(template.worktree),
    })
}

//! Which dialog asks which question.
//!
//! Owns the way from an open question to what is shown of it. Reads the file that a call would change, so that the
//! change can be seen.

use std::path::Path;

use countersign_client::{ElicitationQuestion, PermissionQuestion, Plan, Subject};

use super::core::{Core, Open, writes_plans};
use super::desk::Brief;
use super::dialog::{Approval, Dialog, Elicit, PlanReview, Questions};

/// The dialog for a question. `context`: how full the context is, where that is known.
pub(crate) fn dialog_for(open: &Open, core: &Core, context: Option<String>) -> Box<dyn Dialog> {
    match open {
        Open::Elicitation(question) => Box::new(elicitation(question)),
        Open::Permission(question, brief) => match question.subject() {
            Subject::Questions(form) => Box::new(Questions::new(form.questions().to_vec())),
            Subject::Plan(plan) => {
                Box::new(plan_review(&plan, writes_plans(&core.handle), context))
            }
            _ => Box::new(approval(question, brief, &core.desk.grounds().cwd)),
        },
    }
}

fn elicitation(question: &ElicitationQuestion) -> Elicit {
    let request = question.request();
    let server = &request.mcp_server_name;
    if let Some(url) = &request.url {
        return Elicit::page(server, &request.message, url);
    }
    let schema = request
        .requested_schema
        .as_ref()
        .and_then(|schema| schema.to().ok());
    let order = request.property_order.as_deref();
    let form = Elicit::form(server, &request.message, &schema.unwrap_or_default(), order);
    form.unwrap_or_else(|why| {
        Elicit::page(
            server,
            &request.message,
            &format!("(cannot be shown here: {why})"),
        )
    })
}

fn plan_review(plan: &Plan, is_written: bool, context: Option<String>) -> PlanReview {
    let wishes = plan
        .allowed_prompts()
        .iter()
        .map(|wish| wish.prompt.clone())
        .collect();
    let caveat = "This version does not take a changed plan: it is sent back as feedback.";
    let caveat = (!is_written).then(|| caveat.to_owned());
    PlanReview::new(plan.text().map(str::to_owned), wishes, caveat).in_context(context)
}

fn approval(question: &PermissionQuestion, brief: &Brief, cwd: &Path) -> Approval {
    let path = brief.entry.input["file_path"].as_str();
    let before = path.and_then(|path| read_before(&cwd.join(path)));
    let asker = question.agent_id.as_ref().map(|_| "A sub-agent".to_owned());
    Approval::new(brief.clone(), asker, before, cwd.to_path_buf())
}

/// What stands in a file, for a difference: a text of a bearable size.
fn read_before(path: &Path) -> Option<String> {
    const MOST: u64 = 1 << 20;
    let is_bearable =
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= MOST);
    is_bearable
        .then(|| std::fs::read_to_string(path).ok())
        .flatten()
}

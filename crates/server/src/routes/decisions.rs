//! The record of decisions: what was asked, who decided what, what was sent.
//!
//! Owns its routes. An export is read page by page as it is taken, so that a long record costs one page of memory.
//! Invariant: a file is masked as the list is.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Body as Answer;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use countersign_api::control::approval::Effect;
use countersign_api::control::{ControlError, DecisionFilter, DecisionView, Page, SessionId};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;
use crate::extract::Query;
use crate::redact::Redactor;
use crate::refusal::Refusal;
use crate::tagged::tagged;

/// So many decisions are read at once for an export.
const AT_ONCE: usize = 200;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(list))
            .routes(routes!(export)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new(),
    }
}

/// Which decisions.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Of this session.
    #[serde(default)]
    session: Option<SessionId>,
    /// By whom: the name of a token, `rule`, `mode` (where no rule is named), `expired`, `budget`.
    #[serde(default)]
    by: Option<String>,
    /// By this rule, as a decision names it: `allow Bash(make:*)`.
    #[serde(default)]
    rule: Option<String>,
    /// By people: neither by a rule nor by a setting.
    #[serde(default)]
    people: bool,
    /// `allow` or `deny`. A plan that was sent back to be made better is neither.
    #[serde(default)]
    effect: Option<Effect>,
    /// What became of it: `ran`, `failed`, `refused`, `unused`, `unknown`, `withdrawn`.
    #[serde(default)]
    outcome: Option<String>,
    /// Words that stand in the input, the reason, the tool or the session's name.
    #[serde(default)]
    text: Option<String>,
    /// About this tool.
    #[serde(default)]
    tool: Option<String>,
    /// Not before this moment: microseconds of Unix time.
    #[serde(default)]
    since: Option<u64>,
    /// Before this moment.
    #[serde(default)]
    until: Option<u64>,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 0, maximum = 500)]
    most: usize,
    /// Where the last page ended: its `next`.
    #[serde(default)]
    after: Option<String>,
}

impl Which {
    fn filter(self) -> DecisionFilter {
        DecisionFilter {
            session: self.session,
            by: self.by,
            rule: self.rule,
            people: self.people,
            effect: self.effect,
            outcome: self.outcome,
            text: self.text,
            tool: self.tool,
            since: self.since,
            until: self.until,
            most: self.most,
            after: self.after,
        }
    }
}

/// What was decided, by people and by rules, newest first.
#[utoipa::path(get, path = "/decisions", operation_id = "listDecisions", tag = "decisions", params(Which),
    responses((status = 200, description = "A page of them", body = Page<DecisionView>),
        (status = 304, description = "As the client has it")))]
async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(which): Query<Which>,
) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.decisions(which.filter()).await?)
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DecisionFormat)]
enum Format {
    /// A decision a line, as JSON.
    #[default]
    Ndjson,
    /// A table for a spreadsheet.
    Csv,
}

/// In which form.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct As {
    /// `ndjson` or `csv`.
    #[serde(default)]
    #[param(inline)]
    format: Format,
}

/// All of them that are meant, newest first, as a file. `effect` is `keep-planning` for a plan that was sent back, and `by` is
/// `mode` where the host decided and no rule is named.
#[utoipa::path(get, path = "/decisions/export", operation_id = "exportDecisions", tag = "decisions", params(Which, As),
    responses((status = 200, description = "A file",
        content((String = "application/x-ndjson"), (String = "text/csv")))))]
async fn export(
    State(app): State<Arc<App>>,
    Query(which): Query<Which>,
    Query(form): Query<As>,
) -> Result<Response, Refusal> {
    let mut filter = which.filter();
    filter.most = AT_ONCE;
    // What is wrong with the question is said before the file begins.
    let first = app.control.decisions(filter.clone()).await?;
    let mut ready = VecDeque::new();
    if form.format == Format::Csv {
        ready.push_back(HEAD.to_owned());
    }
    ready.push_back(written(first.items, form.format, &app.redactor));
    let state = Taken {
        app,
        filter: DecisionFilter {
            after: first.next,
            ..filter
        },
        form: form.format,
        ready,
    };
    let body = Answer::from_stream(stream::try_unfold(state, next));
    let (kind, name) = match form.format {
        Format::Ndjson => ("application/x-ndjson", "decisions.ndjson"),
        Format::Csv => ("text/csv; charset=utf-8", "decisions.csv"),
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let named = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    if let Ok(named) = named {
        headers.insert(header::CONTENT_DISPOSITION, named);
    }
    Ok(response)
}

/// How far an export has come.
struct Taken {
    app: Arc<App>,
    filter: DecisionFilter,
    form: Format,
    ready: VecDeque<String>,
}

async fn next(mut taken: Taken) -> Result<Option<(String, Taken)>, ControlError> {
    if let Some(text) = taken.ready.pop_front() {
        return Ok(Some((text, taken)));
    }
    if taken.filter.after.is_none() {
        return Ok(None);
    }
    let page = taken.app.control.decisions(taken.filter.clone()).await?;
    taken.filter.after = page.next;
    let text = written(page.items, taken.form, &taken.app.redactor);
    Ok(Some((text, taken)))
}

const HEAD: &str = "id,session,session_name,asked,decided,kind,tool,effect,by,client,why,state,record,input,edited_input\r\n";

/// Which of them the program itself says: ids, times, words. Nothing in them is masked.
const OWN: [bool; 15] = [
    true, true, false, true, true, true, false, true, false, false, false, true, true, false, false,
];

fn written(decisions: Vec<DecisionView>, form: Format, mask: &Redactor) -> String {
    let mut text = String::new();
    for one in decisions {
        match form {
            Format::Ndjson => {
                text += &mask.answer(&line(&one).to_string());
                text.push('\n');
            }
            Format::Csv => {
                let fields = row(&one);
                let fields = fields.iter().enumerate().map(|(at, field)| match OWN[at] {
                    true => cell(field),
                    false => cell(&mask.line(field)),
                });
                let fields: Vec<String> = fields.collect();
                text += &fields.join(",");
                text += "\r\n";
            }
        }
    }
    text
}

/// A decision as a line of JSON, in the words of the table.
fn line(one: &DecisionView) -> Value {
    let mut line = serde_json::to_value(one).unwrap_or_default();
    line["decided"]["effect"] = one.decided.verdict().into();
    line["decided"]["by"] = one.decided.decider().into();
    line
}

fn row(one: &DecisionView) -> [String; 15] {
    let word = |value: serde_json::Result<Value>| {
        let value = value.unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    };
    [
        one.id.to_string(),
        one.session.to_string(),
        one.session_name.clone(),
        one.asked.to_string(),
        one.decided.at.to_string(),
        word(serde_json::to_value(one.kind)),
        one.tool.clone(),
        one.decided.verdict().to_owned(),
        one.decided.decider().to_owned(),
        one.decided.client.clone(),
        one.decided.why.clone(),
        one.life.name().to_owned(),
        one.record.clone(),
        one.input.to_string(),
        one.edited_input
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
    ]
}

/// A field of a table. What a spreadsheet would take for a formula is put behind an apostrophe: it comes from a model.
fn cell(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if is_formula { "'" } else { "" };
    format!("\"{guard}{}\"", field.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_field_is_quoted_and_never_a_formula() {
        assert_eq!(cell(r#"say "hi", x"#), r#""say ""hi"", x""#);
        assert_eq!(cell("=cmd()"), "\"'=cmd()\"");
    }
}

//! What the forms of the plain page have done.
//!
//! Owns the way from the fields of a form to a command. That a form comes from our own page is checked for every write, before
//! any of this. Invariants: a form that is sent twice is done once; nothing is decided but what the form showed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use countersign_api::control::approval::{Kind, PlanDecision, Remember, Scope as RuleScope};
use countersign_api::control::session::Setup;
use countersign_api::control::{
    ApprovalId, ApprovalView, Cmd, Command, Decide, Digest, Message, MessageId, NewSession,
    SessionId,
};
use countersign_api::{Code, Problem, Scope};
use serde_json::Value;

use super::failed;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::Path;
use crate::refusal::Refusal;

/// What the record says these writes come from.
const CLIENT: &str = "page";

/// The fields, as they come: a name may stand several times.
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    fn need(&self, name: &str) -> Result<&str, Refusal> {
        let missing = || Problem::new(Code::Invalid, format!("fill in `{name}`"));
        Ok(self.get(name).ok_or_else(missing)?)
    }

    fn all(&self, name: &str) -> Vec<&str> {
        let found = self.0.iter().filter(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).collect()
    }
}

fn invalid(why: impl std::fmt::Display) -> Refusal {
    Problem::new(Code::Invalid, why.to_string()).into()
}

fn may(caller: &Caller, scope: Scope) -> Result<(), Refusal> {
    match caller.scope.allows(scope) {
        true => Ok(()),
        false => {
            let detail = format!(
                "`{}` has the scope `{}`, this needs `{scope}`",
                caller.name, caller.scope
            );
            Err(Problem::new(Code::NotAllowed, detail).into())
        }
    }
}

/// Begins a session.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    caller: Caller,
    Form(fields): Form<Vec<(String, String)>>,
) -> Response {
    let done = async {
        may(&caller, Scope::Full)?;
        let fields = Fields(fields);
        let id: SessionId = fields.need("id")?.parse().map_err(invalid)?;
        let setup = Setup {
            mode: fields
                .get("mode")
                .unwrap_or("ask")
                .parse()
                .map_err(invalid)?,
            ..Setup::default()
        };
        // The same form gives the same message.
        let message = Message {
            id: MessageId::new(id.at(), id.bits()),
            text: fields.need("prompt")?.to_owned(),
            blocks: Vec::new(),
        };
        let new = NewSession {
            id,
            prompt: Some(message),
            cwd: PathBuf::from(fields.need("cwd")?),
            setup,
            worktree: None,
        };
        let cmd = Cmd::of(&caller.name, CLIENT).key(format!("page-begin-{id}"));
        app.control
            .execute(cmd, Command::Start(Box::new(new)))
            .await?;
        Ok(to_session(id))
    };
    done.await.unwrap_or_else(failed(&app))
}

/// Says something to a session, or ends its turn or its agent.
pub(super) async fn say(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(session): Path<SessionId>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Response {
    let done = async {
        may(&caller, Scope::Full)?;
        let fields = Fields(fields);
        let id: MessageId = fields.need("message")?.parse().map_err(invalid)?;
        let message = |text: &str| Message {
            id,
            text: text.to_owned(),
            blocks: Vec::new(),
        };
        let action = fields.get("action").unwrap_or("send");
        let command = match action {
            "send" => Command::Send {
                session,
                message: message(fields.need("text")?),
            },
            "interrupt" => Command::Interrupt { session },
            "stop" => Command::Stop { session },
            "resume" => Command::Resume {
                session,
                message: fields.get("text").map(message),
            },
            other => return Err(invalid(format!("`{other}` is nothing this page can do"))),
        };
        let cmd = Cmd::of(&caller.name, CLIENT).key(format!("page-{action}-{id}"));
        app.control.execute(cmd, command).await?;
        Ok(to_session(session))
    };
    done.await.unwrap_or_else(failed(&app))
}

/// Decides an approval.
pub(super) async fn decide(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<ApprovalId>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Response {
    let done = async {
        may(&caller, Scope::Answer)?;
        let fields = Fields(fields);
        let asked = app.control.approval(id).await?;
        let decide = decision(&fields, &asked)?;
        caller.may_decide(&decide)?;
        let decide = app.redactor.restored(decide, &asked)?;
        let saw = Digest::named(fields.need("saw")?);
        let word = fields.need("decision")?;
        let key: String = fields.need("key")?.chars().take(40).collect();
        let cmd = Cmd::of(&caller.name, CLIENT).key(format!("page-{word}-{key}"));
        let command = Command::Decide {
            approval: id,
            saw,
            decide,
        };
        app.control.execute(cmd, command).await?;
        Ok(to_session(asked.session))
    };
    done.await.unwrap_or_else(failed(&app))
}

/// What the fields of a card say.
fn decision(fields: &Fields, asked: &ApprovalView) -> Result<Decide, Refusal> {
    let message = fields.get("message").map(str::to_owned);
    Ok(match fields.need("decision")? {
        "allow" if asked.destroys().is_some() && fields.get("sure").is_none() => {
            return Err(invalid(
                "it cannot be undone: tick that you have looked at it, or deny it",
            ));
        }
        "allow" => match Decide::allow() {
            Decide::Allow {
                updated_input,
                mode,
                add_dirs,
                ..
            } => Decide::Allow {
                updated_input,
                remember: remember(fields, asked)?,
                mode,
                add_dirs,
            },
            other => other,
        },
        "deny" => Decide::Deny {
            message,
            interrupt: false,
        },
        "decline" => Decide::Decline { message },
        "answer" if asked.kind == Kind::Questions => Decide::Answer {
            answers: answers(fields, &asked.input)?,
        },
        "values" => Decide::Answer {
            answers: serde_json::from_str(fields.need("values")?).map_err(invalid)?,
        },
        "plan" => {
            let choice = Value::from(fields.need("choice")?);
            Decide::Plan(PlanDecision {
                choice: serde_json::from_value(choice).map_err(invalid)?,
                mode: None,
                plan: None,
                rules: Vec::new(),
                allowed_prompts: Vec::new(),
                feedback: fields.get("feedback").map(str::to_owned),
                images: Vec::new(),
                comments: Vec::new(),
                compact: false,
            })
        }
        other => return Err(invalid(format!("`{other}` is no decision"))),
    })
}

/// The rules of the offer that was chosen, for this session.
fn remember(fields: &Fields, asked: &ApprovalView) -> Result<Option<Remember>, Refusal> {
    let Some(place) = fields.get("remember") else {
        return Ok(None);
    };
    let place: usize = place.parse().map_err(invalid)?;
    let offer = asked.offers.get(place);
    let offer = offer.ok_or_else(|| invalid("this was not offered: look at the question again"))?;
    Ok(Some(Remember {
        rules: offer.rules.clone(),
        scope: RuleScope::Session,
        expires: None,
        also_cli: false,
    }))
}

/// Answers by the text of their question: one's own words before what was ticked.
fn answers(fields: &Fields, input: &Value) -> Result<Value, Refusal> {
    let mut answers = BTreeMap::new();
    let all = input["questions"].as_array();
    for (place, question) in all.into_iter().flatten().enumerate() {
        let text = question["question"].as_str().unwrap_or_default();
        let ticked = fields.all(&format!("q{place}"));
        let answer = match fields.get(&format!("own{place}")) {
            Some(own) => Value::from(own),
            None if ticked.is_empty() => continue,
            None if question["multiSelect"].as_bool() == Some(true) => Value::from(ticked),
            None => Value::from(ticked[0]),
        };
        answers.insert(text.to_owned(), answer);
    }
    match answers.is_empty() {
        true => Err(invalid("tick an answer, or write one")),
        false => Ok(serde_json::json!(answers)),
    }
}

fn to_session(id: SessionId) -> Response {
    Redirect::to(&format!("/plain/sessions/{id}")).into_response()
}

//! One question of an agent as a card with forms.
//!
//! Owns what is shown of an approval and which ways to decide are offered on the plain page. Invariants: a form names the
//! digest of what it shows; what is shown went through the redactor; no way is offered that its kind of question refuses, or
//! that its reader may not take.

use countersign_api::Scope;
use countersign_api::control::approval::{Kind, OfferKind, Way};
use countersign_api::control::{ApprovalView, Cmd};
use serde_json::Value;

use super::change;
use super::html::Html;
use crate::redact::Redactor;

/// Longer parts of an input are cut on this page; the whole is in the API.
const LONGEST: usize = 20_000;

/// The card of an open approval, for somebody with this scope.
pub(super) fn card(
    html: &mut Html,
    asked: &ApprovalView,
    scope: Scope,
    now: u64,
    redactor: &Redactor,
) {
    html.raw("<article class=\"asks\"><h3>").text(&asked.tool);
    html.raw(" <span class=\"dim\">in <a href=\"/plain/sessions/")
        .show(asked.session)
        .raw("\">")
        .text(&redactor.line(&asked.session_name))
        .raw("</a>, ")
        .text(&super::ago(asked.asked, now))
        .raw("</span></h3>");
    for asker in &asked.path {
        let what = asker.description.as_deref().or(asker.kind.as_deref());
        html.raw("<p class=\"dim\">asked by a sub-agent: ")
            .text(&redactor.line(what.unwrap_or("without a description")))
            .raw("</p>");
    }
    html.raw("<p>")
        .text(&redactor.line(&asked.reason))
        .raw("</p>");
    if let Some(remark) = &asked.remark {
        html.raw("<p class=\"note\">")
            .text(&redactor.line(remark))
            .raw("</p>");
    }
    harm(html, asked, redactor);
    let plan = asked.plan.as_ref().and_then(|plan| plan.text.as_deref());
    match (asked.kind, plan) {
        (Kind::Plan, Some(text)) => pre(html, &redactor.line(text)),
        (Kind::Questions, _) => {}
        _ => thing(html, asked, redactor),
    }
    html.raw("<form method=\"post\" action=\"/plain/approvals/")
        .show(asked.id)
        .raw("\"><input type=\"hidden\" name=\"saw\" value=\"")
        .text(asked.digest.as_str())
        .raw("\"><input type=\"hidden\" name=\"key\" value=\"")
        .text(&Cmd::of("", "").key)
        .raw("\">");
    match asked.kind {
        Kind::Tool => call(html, asked, scope, redactor),
        Kind::Plan => ways(html, asked, scope),
        Kind::Questions => questions(html, &redactor.value(&asked.input)),
        _ => form_of_server(html),
    }
    html.raw("</form></article>");
}

/// The input: of a call that changes a file, the change in that file, and as it was sent below it.
fn thing(html: &mut Html, asked: &ApprovalView, redactor: &Redactor) {
    let sent = redactor.value(&asked.input);
    let Some(file) = &asked.file else {
        return input(html, &sent);
    };
    let path = ["file_path", "notebook_path"];
    if let Some(path) = path.iter().find_map(|name| sent[*name].as_str()) {
        html.raw("<p><code>").text(path).raw("</code></p>");
    }
    if change::show(html, &asked.tool, file, redactor) {
        html.raw("<details><summary>As the agent sent it</summary>");
        input(html, &sent);
        html.raw("</details>");
    } else {
        input(html, &sent);
    }
}

/// What a call would destroy, or that nobody can tell.
fn harm(html: &mut Html, asked: &ApprovalView, redactor: &Redactor) {
    let Some(harm) = &asked.harm else { return };
    let words = match asked.destroys() {
        Some(does) => format!("Cannot be undone: it {does}."),
        None => format!("It cannot be read: {}.", harm.says),
    };
    let class = match asked.destroys() {
        Some(_) => "<p class=\"harm\">",
        None => "<p class=\"dim\">",
    };
    html.raw(class).text(&redactor.line(&words)).raw("</p>");
}

fn pre(html: &mut Html, text: &str) {
    let cut = text.floor_char_boundary(LONGEST);
    html.raw("<pre>").text(&text[..cut]).raw("</pre>");
    if cut < text.len() {
        html.raw("<p class=\"dim\">cut: ")
            .show(text.len())
            .raw(" bytes in all</p>");
    }
}

/// Each part of an input under its name; what is no object as it is.
fn input(html: &mut Html, input: &Value) {
    let said = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    match input.as_object() {
        Some(parts) if !parts.is_empty() => {
            html.raw("<dl>");
            for (name, value) in parts {
                html.raw("<dt>").text(name).raw("</dt><dd>");
                pre(html, &said(value));
                html.raw("</dd>");
            }
            html.raw("</dl>");
        }
        _ => pre(html, &said(input)),
    }
}

fn call(html: &mut Html, asked: &ApprovalView, scope: Scope, redactor: &Redactor) {
    let is_harmful = asked.destroys().is_some();
    let always = asked.offers.iter().enumerate();
    let always: Vec<_> = always
        .filter(|_| !is_harmful && scope.allows(Scope::Full))
        .filter(|(_, offer)| offer.kind == OfferKind::Always && !offer.rules.is_empty())
        .collect();
    html.raw("<div class=\"row\">");
    if !always.is_empty() {
        html.raw(
            "<label>Allow <select name=\"remember\"><option value=\"\">this call only</option>",
        );
        for (place, offer) in always {
            html.raw("<option value=\"")
                .show(place)
                .raw("\">and from now on in this session: ")
                .text(&redactor.line(&offer.rules.join(", ")))
                .raw("</option>");
        }
        html.raw("</select></label>");
    }
    if is_harmful {
        html.raw("<label><input type=\"checkbox\" name=\"sure\" value=\"yes\"> I have looked at what it takes away</label>");
    }
    html.raw("<button class=\"yes\" name=\"decision\" value=\"allow\">Allow</button></div>");
    html.raw("<div class=\"row\"><label>What the agent is told if you deny <input type=\"text\" name=\"message\" maxlength=\"10000\"></label>");
    html.raw("<button class=\"no\" name=\"decision\" value=\"deny\">Deny</button></div>");
}

fn ways(html: &mut Html, asked: &ApprovalView, scope: Scope) {
    let ways = asked.plan.iter().flat_map(|plan| &plan.ways);
    let ways = ways.filter(|offer| scope.allows(Scope::Full) || is_an_answer(offer.way));
    html.raw("<fieldset><legend>How to go on</legend>");
    for (place, offer) in ways.enumerate() {
        html.raw("<label><input type=\"radio\" name=\"choice\" required value=\"")
            .raw(name_of(offer.way))
            .raw("\"")
            .raw(if place == 0 { " checked" } else { "" })
            .raw("> ")
            .text(&offer.label)
            .raw("</label>");
    }
    html.raw("</fieldset><label>What you say about it (needed to keep planning)<textarea name=\"feedback\"></textarea></label>");
    html.raw("<button class=\"yes\" name=\"decision\" value=\"plan\">Decide</button>");
}

/// Whether it settles the plan as it was asked, and nothing beside it.
fn is_an_answer(way: Way) -> bool {
    matches!(way, Way::Manual | Way::KeepPlanning)
}

fn name_of(way: Way) -> &'static str {
    match way {
        Way::ClearContext => "clear-context",
        Way::AcceptEdits => "accept-edits",
        Way::Manual => "manual",
        Way::KeepPlanning => "keep-planning",
    }
}

fn questions(html: &mut Html, input: &Value) {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let all = input["questions"].as_array();
    for (place, question) in all.into_iter().flatten().enumerate() {
        let kind = match question["multiSelect"].as_bool() {
            Some(true) => "checkbox",
            _ => "radio",
        };
        html.raw("<fieldset><legend>")
            .text(&text(question, "question"))
            .raw("</legend>");
        for option in question["options"].as_array().into_iter().flatten() {
            html.raw("<label><input type=\"")
                .raw(kind)
                .raw("\" name=\"q");
            html.show(place).raw("\" value=\"");
            html.text(&text(option, "label")).raw("\"> ");
            html.text(&text(option, "label"))
                .raw(" <span class=\"dim\">");
            html.text(&text(option, "description"))
                .raw("</span></label>");
        }
        html.raw("<label>or in your own words <input type=\"text\" name=\"own");
        html.show(place)
            .raw("\" maxlength=\"10000\"></label></fieldset>");
    }
    html.raw("<div class=\"row\"><button class=\"yes\" name=\"decision\" value=\"answer\">Answer</button>");
    html.raw("<button name=\"decision\" value=\"decline\">Do not answer</button></div>");
}

fn form_of_server(html: &mut Html) {
    html.raw("<label>Values, as JSON<textarea name=\"values\">{}</textarea></label>");
    html.raw(
        "<div class=\"row\"><button class=\"yes\" name=\"decision\" value=\"values\">Send</button>",
    );
    html.raw("<button name=\"decision\" value=\"decline\">Decline</button></div>");
}

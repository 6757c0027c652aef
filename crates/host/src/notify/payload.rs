//! The body of a job: what a receiver reads.
//!
//! Owns its JSON. Pure. Invariants: the same job has the same body at each try, so that its id holds for it; only what an
//! event holds is in it, which is masked and bounded already.

use serde_json::{Value, json};

use super::job::Job;
use super::target::Shape;

/// The JSON of a job. Links begin with `base`, if there is one.
pub(super) fn body(job: &Job, shape: Shape, base: Option<&str>) -> Vec<u8> {
    let value = match shape {
        Shape::Full => full(job, base),
        Shape::Text => json!({"text": text(job, base, escaped)}),
        Shape::Content => json!({
            "content": text(job, base, broken_up),
            "allowed_mentions": {"parse": []},
        }),
    };
    value.to_string().into_bytes()
}

fn full(job: &Job, base: Option<&str>) -> Value {
    let event = &job.event;
    let mut body = json!({
        "id": job.id,
        "event": event.kind.name(),
        "at": event.at,
        "text": event.text,
    });
    if let Some(about) = &event.session {
        body["session"] = json!(about);
    }
    if let Some(asked) = &event.approval {
        body["approval"] = json!(asked);
    }
    if let Some(link) = link(job, base) {
        body["link"] = link.into();
    }
    if job.merged > 0 {
        body["merged"] = json!({"events": job.merged, "since": job.merged_since});
    }
    body
}

/// One line for a chat, with the link behind it. What agents and people wrote cannot call others or make links of its own.
fn text(job: &Job, base: Option<&str>, quiet: fn(&str) -> String) -> String {
    let mut text = quiet(&job.event.text);
    if job.merged > 0 {
        text.push_str(&format!(" (and {} earlier events)", job.merged));
    }
    if let Some(link) = link(job, base) {
        text.push(' ');
        text.push_str(&link);
    }
    text
}

/// Chats read `@everyone`, `<!channel>` and `<address|words>` out of plain text. A space of no width keeps them from it.
fn broken_up(text: &str) -> String {
    text.replace('@', "@\u{200b}").replace('<', "<\u{200b}")
}

/// The same where markup is written with `<`, and a plain one as `&lt;`.
fn escaped(text: &str) -> String {
    text.replace('@', "@\u{200b}")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Where the page shows it: its own addresses (`ui/src/state/paths.ts`).
fn link(job: &Job, base: Option<&str>) -> Option<String> {
    let base = base?.trim_end_matches('/');
    let event = &job.event;
    match (&event.approval, &event.session) {
        (Some(asked), _) => Some(format!("{base}/inbox/{}", asked.id)),
        (None, Some(about)) => Some(format!("{base}/s/{}", about.id)),
        (None, None) => Some(base.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::session::State;
    use crate::control::{ApprovalId, approval};
    use crate::notify::event::tests::view;
    use crate::notify::{Event, Question};

    fn job() -> Job {
        let event = Event::turned(
            &State::Running,
            &view(5, State::Stopped, "a person said so"),
        );
        Job::new(0, 1, event.unwrap(), 1)
    }

    fn read(job: &Job, shape: Shape, base: Option<&str>) -> Value {
        serde_json::from_slice(&body(job, shape, base)).unwrap()
    }

    #[test]
    fn a_receiver_learns_which_session_and_how_it_stands() {
        let mut job = job();
        let told = read(&job, Shape::Full, Some("https://cs.example.com/"));
        let id = told["session"]["id"].as_str().unwrap();
        assert_eq!(told["event"], "stopped");
        assert_eq!(told["at"], 9_000_000);
        assert_eq!(told["session"]["name"], "session 5");
        assert_eq!(told["session"]["state"], "stopped");
        assert_eq!(told["session"]["reason"], "a person said so");
        assert_eq!(told["session"]["cost_usd"], 0.25);
        assert_eq!(told["link"], format!("https://cs.example.com/s/{id}"));
        assert_eq!(told["id"], job.id);
        assert_eq!(told.get("merged"), None);
        let before = body(&job, Shape::Full, None);
        job.tries = 3;
        job.at = 9;
        assert_eq!(
            body(&job, Shape::Full, None),
            before,
            "each try is the same"
        );
    }

    #[test]
    fn a_question_is_told_with_its_id_and_a_line() {
        let mut job = job();
        job.event.approval = Some(Question {
            id: ApprovalId::new(1, 2),
            kind: approval::Kind::Tool,
            tool: "Bash".to_owned(),
            summary: "Bash: ls".to_owned(),
        });
        job.merge(&job.clone());
        let told = read(&job, Shape::Full, None);
        let id = ApprovalId::new(1, 2).to_string();
        let expected = json!({"id": id, "kind": "tool", "tool": "Bash", "summary": "Bash: ls"});
        assert_eq!(told["approval"], expected);
        assert_eq!(told["merged"], json!({"events": 1, "since": 9_000_000}));
        assert_eq!(told.get("link"), None);
    }

    #[test]
    fn a_chat_gets_one_line_that_calls_nobody() {
        let mut job = job();
        job.event.text = "@everyone <!channel> <https://x.example|y> & z".to_owned();
        for (shape, field) in [(Shape::Text, "text"), (Shape::Content, "content")] {
            let told = read(&job, shape, None);
            let line = told[field].as_str().unwrap();
            for call in ["@e", "<!", "<h"] {
                assert!(!line.contains(call), "{line}");
            }
            assert_eq!(told.get("session"), None);
        }
    }
}

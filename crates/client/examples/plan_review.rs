//! Plan mode: the agent asks what it needs to know, presents a plan, and goes to work when it is approved.
//!
//! `cargo run --example plan_review [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{Claude, Decision, PermissionRequest, QuestionForm, Subject};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let session = claude()
        .permission_mode(PermissionMode::Plan)
        .permissions(|request: PermissionRequest| async move {
            match request.subject() {
                Subject::Questions(form) => first_options(form),
                Subject::Plan(plan) => {
                    println!("plan: {}", plan.text().unwrap_or("(none)"));
                    plan.approve_accepting_edits()
                }
                _ => Decision::deny("Not while planning."),
            }
        })
        .connect()
        .await?;
    let turn = session.send("Plan a README for this project.").await?;
    println!("{}", turn.await?.ok()?.text());
    println!("mode: {}", session.permission_mode().unwrap_or_default());
    session.close().await;
    Ok(())
}

/// Answers each question with its first option.
fn first_options(mut form: QuestionForm) -> Decision {
    for asked in form.questions().to_vec() {
        let Some(option) = asked.options.first() else {
            continue;
        };
        println!("{} {}", asked.question, option.label);
        if let Err(error) = form.choose(&asked.question, &option.label) {
            return form.decline(error.to_string());
        }
    }
    form.submit()
}

/// The `claude` that the first argument names, or the one that is found.
fn claude() -> Claude {
    match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    }
}

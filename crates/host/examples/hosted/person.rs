//! The person at a host of the fault suite: sees open questions, and decides each of them by what it would leave behind.
//!
//! Owns no state: the same question is decided alike by the person at the next host, under the same key. What runs by the
//! program `./echo` is allowed from now on, what leaves a mark that ends in `-no` is denied, the rest is allowed.

use std::collections::BTreeSet;
use std::time::Duration;

use countersign_host::Host;
use countersign_host::control::approval::{Remember, Scope};
use countersign_host::control::{
    ApprovalFilter, ApprovalView, Cmd, Command, Control as _, ControlError, Decide, SessionId,
};
use serde_json::json;

use crate::linux::tell;
use crate::points;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(4);

/// Looks on for as long as the host is there.
pub(crate) async fn look_on(host: Host, session: SessionId, decides: bool) {
    let (mut seen, mut refused) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let open = ApprovalFilter {
            session: Some(session),
            life: Some("open".to_owned()),
            ..ApprovalFilter::default()
        };
        let page = host.approvals(open).await;
        for approval in page.map(|page| page.items).unwrap_or_default() {
            if seen.insert(approval.id) {
                tell("question", json!({"approval": approval}));
            }
            if decides && !refused.contains(&approval.id) && !decide(&host, &approval).await {
                refused.insert(approval.id);
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// False: it cannot be decided, now or later.
async fn decide(host: &Host, approval: &ApprovalView) -> bool {
    let key = format!("decide {}", approval.id);
    let cmd = Cmd::of("the person", "hosted").key(&key);
    let command = Command::Decide {
        approval: approval.id,
        saw: approval.digest.clone(),
        decide: decision(approval),
    };
    let done = host.execute(cmd, command).await;
    let is_final = |error: &ControlError| !matches!(error, ControlError::Unavailable { .. });
    let is_taken = !done.as_ref().is_err_and(is_final);
    let told = match done {
        Ok(receipt) => json!({"key": key, "receipt": receipt}),
        Err(error) => json!({"key": key, "error": error.to_string()}),
    };
    tell("decided", told);
    points::passed("decision told");
    is_taken
}

fn decision(approval: &ApprovalView) -> Decide {
    let command = approval.input["command"].as_str().unwrap_or_default();
    if command.contains("-no >>") {
        return Decide::deny("Not this one.");
    }
    let remember = command.starts_with("./echo ").then(|| Remember {
        rules: vec!["Bash(./echo:*)".to_owned()],
        scope: Scope::Session,
        expires: None,
        also_cli: false,
    });
    Decide::Allow {
        updated_input: None,
        remember,
        mode: None,
        add_dirs: Vec::new(),
    }
}

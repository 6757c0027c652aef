//! What the session may do: its permissions, set up from flags and settings, and what answers change of them.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::deed::{Deed, Kind};
use super::report::Report;
use super::{Engine, Launch};
use crate::cli::args::Flags;
use crate::cli::permissions::{Permissions, Refusal, Setup};

/// Returns the permissions that flags and settings give.
pub(super) fn permissions(launch: &Launch, flags: &Flags) -> Permissions {
    let ground = launch.ground.as_ref();
    let home = PathBuf::from(&launch.home);
    let config_dir = ground.map(|ground| ground.places.config_dir.clone());
    let settings = ground.map(|ground| ground.settings.sources.clone());
    Permissions::new(Setup {
        mode: flags.mode.clone(),
        bypass_allowed: flags.bypass_allowed,
        // Inside a test there are no flags, and the host is always there.
        asks_host: flags.asks_host || ground.is_none(),
        cwd: PathBuf::from(&launch.cwd),
        config_dir: config_dir.unwrap_or_else(|| home.join(".claude")),
        home,
        dirs: flags.values("--add-dir").map(PathBuf::from).collect(),
        allowed: flags.allowed.clone(),
        disallowed: flags.disallowed.clone(),
        settings: settings.unwrap_or_default(),
        trusted: ground.is_none_or(|ground| ground.trusted),
    })
}

impl Engine {
    /// What an answer of the host changes for the rest of the session, or for good.
    pub(super) fn take_updates(&mut self, updates: &[Value]) {
        let before = self.permissions.mode().to_owned();
        for edit in self.permissions.apply(updates) {
            self.order(Deed(Kind::Edit(Box::new(edit))));
        }
        for update in updates {
            let folders = update["directories"].as_array();
            for folder in folders.into_iter().flatten().filter_map(Value::as_str) {
                let path = folder.to_owned();
                self.order(Deed(Kind::AddFolder { path }));
            }
        }
        if self.permissions.mode() != before {
            self.say_status();
        }
    }

    /// A rule refused the call: the host is told, and the model.
    pub(super) fn refuse_by_rule(&mut self, index: usize, refusal: &Refusal) {
        if let Some(event) = &refusal.event {
            let call = &self.calls[index];
            let mut line = json!({
                "subtype": "permission_denied",
                "tool_name": call.name,
                "tool_use_id": call.tool_use_id,
            });
            super::lines::merge(&mut line, event);
            if let Some(agent) = self.agent(call.talk) {
                line["agent_id"] = agent.task_id.clone().into();
            }
            self.say_system(line);
        }
        self.calls[index].decision = refusal.meta()["permission_decision"].clone();
        let report = Report {
            not_run: refusal.kind,
            ..Report::refusal(refusal.text.clone())
        };
        self.report(index, report);
    }
}

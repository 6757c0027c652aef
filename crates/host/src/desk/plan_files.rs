//! The plan files of one session: its own, and one for each sub-agent that plans.
//!
//! Owns which file a session may write while it plans. Looks at the disk only to tell a new file from one that is there.
//! Invariants: a file that somebody else has written is never taken for the session's plan; a plan stands where the folder
//! of plans led when the session started, whatever has taken its place since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use countersign_policy::source::PlansFolder;
use countersign_policy::{Call, Disk as _, RealDisk};

/// So many sub-agents may have a plan of their own. The plans of more are asked about.
const MOST: usize = 64;

/// The plan files of a session by their real paths, and by the agent that writes them; the main one has no name.
#[derive(Debug, Clone, Default)]
pub(super) struct PlanFiles {
    /// The one that each agent has named since it runs.
    current: BTreeMap<Option<String>, PathBuf>,
    /// Those of agents before. One that takes a conversation up writes on in its file, or begins another.
    earlier: Vec<(Option<String>, PathBuf)>,
}

impl PlanFiles {
    /// The file is known from before, if it still stands in the folder of plans: an earlier host saw this session write it.
    pub(super) fn remember(
        &mut self,
        agent: Option<String>,
        file: &Path,
        folder: Option<&PlansFolder>,
    ) {
        let Some(file) = real_plan(file, folder) else {
            return;
        };
        if self.current.len() < MOST || self.current.contains_key(&agent) {
            self.current.insert(agent, file);
        }
    }

    /// An earlier agent of this session has written the file.
    pub(super) fn remember_earlier(
        &mut self,
        agent: Option<String>,
        file: &Path,
        folder: Option<&PlansFolder>,
    ) {
        let Some(file) = real_plan(file, folder) else {
            return;
        };
        let named = (agent, file);
        if self.earlier.len() < MOST && !self.earlier.contains(&named) {
            self.earlier.push(named);
        }
    }

    /// The agent's plan file. It is the first new document that it writes where the CLI keeps plans.
    pub(super) fn of(
        &mut self,
        agent: Option<&str>,
        call: &Call,
        folder: Option<&PlansFolder>,
    ) -> Option<PathBuf> {
        if !call.in_plan_mode || !matches!(call.tool.as_str(), "Write" | "Edit") {
            return None;
        }
        let agent = agent.map(str::to_owned);
        let plan = real_plan(call.text("file_path")?.as_ref(), folder);
        let is_earlier = |plan: &PathBuf| {
            let mut earlier = self.earlier.iter();
            earlier.any(|(of, file)| *of == agent && file == plan)
        };
        if let Some(plan) = plan.as_ref().filter(|plan| is_earlier(plan)) {
            return Some(plan.clone());
        }
        if let Some(known) = self.current.get(&agent) {
            return Some(known.clone());
        }
        let plan = plan?;
        if RealDisk.exists(&plan) || self.current.len() >= MOST {
            return None;
        }
        self.current.insert(agent, plan.clone());
        Some(plan)
    }
}

/// The real path of a document in the folder of plans.
fn real_plan(file: &Path, folder: Option<&PlansFolder>) -> Option<PathBuf> {
    folder?.plan(file, &RealDisk)
}

//! The plan files of one session: its own, and one for each sub-agent that plans.
//!
//! Owns which file a session may write while it plans. Looks at the disk only to tell a new file from one that is there.
//! Invariant: a file that somebody else has written is never taken for the session's plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use countersign_policy::source::is_plan_in;
use countersign_policy::{Call, Disk as _, RealDisk};

/// So many sub-agents may have a plan of their own. The plans of more are asked about.
const MOST: usize = 64;

/// The plan files of a session, by the agent that writes them; the main one has no name.
#[derive(Debug, Clone, Default)]
pub(super) struct PlanFiles {
    /// The one that each agent has named since it runs.
    current: BTreeMap<Option<String>, PathBuf>,
    /// Those of agents before. One that takes a conversation up writes on in its file, or begins another.
    earlier: Vec<(Option<String>, PathBuf)>,
}

impl PlanFiles {
    /// The file is known from before: an earlier host saw this session write it.
    pub(super) fn remember(&mut self, agent: Option<String>, file: PathBuf) {
        if self.current.len() < MOST || self.current.contains_key(&agent) {
            self.current.insert(agent, file);
        }
    }

    /// An earlier agent of this session has written the file.
    pub(super) fn remember_earlier(&mut self, agent: Option<String>, file: PathBuf) {
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
        folder: Option<&Path>,
    ) -> Option<PathBuf> {
        if !call.in_plan_mode || !matches!(call.tool.as_str(), "Write" | "Edit") {
            return None;
        }
        let agent = agent.map(str::to_owned);
        let path = PathBuf::from(call.text("file_path")?);
        let is_earlier = |(of, file): &(Option<String>, PathBuf)| *of == agent && *file == path;
        if self.earlier.iter().any(is_earlier) {
            return Some(path);
        }
        if let Some(known) = self.current.get(&agent) {
            return Some(known.clone());
        }
        if is_plan_in(&path, folder?, &RealDisk)
            && !RealDisk.exists(&path)
            && self.current.len() < MOST
        {
            self.current.insert(agent, path.clone());
            return Some(path);
        }
        None
    }
}

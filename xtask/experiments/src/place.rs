//! What the experiments ask of the place of a run: a client on it, lines without its paths, the files that are left.

use std::collections::BTreeMap;

use countersign_client::Claude;
use countersign_client::options::Settings;
use serde_json::json;

use crate::stage::{Agent, Stage, StageError};

impl Stage {
    /// A client whose CLI runs in here. `more` is added to the environment.
    pub(crate) fn claude(
        &self,
        agent: &Agent,
        more: &[(&str, &str)],
    ) -> Result<Claude, StageError> {
        let env = self.environment(agent, more)?;
        let claude = Claude::new()
            .cli(agent.command.clone())
            .cwd(self.places.project())
            .max_retries(1)
            .session_state_events(false)
            // What a CLI does by itself, which the client would change.
            .settings(Settings::Json(
                json!({"useAutoModeDuringPlan": true}).into(),
            ))
            .env_clear();
        let set = |claude: Claude, (name, value)| claude.env(name, value);
        Ok(env.into_iter().fold(claude, set))
    }

    /// A line of the wire with the names of the folders replaced, so that it is the same in every run.
    pub(crate) fn without_paths(&self, line: &[u8]) -> Vec<u8> {
        let [home, project, tmp] = self
            .places
            .all()
            .map(|path| path.to_string_lossy().into_owned());
        String::from_utf8_lossy(line)
            .replace(&home, "/home/user")
            .replace(&project, "/project")
            .replace(&tmp, "/tmp")
            .into_bytes()
    }

    /// The files of the project as they are now, by name.
    pub(crate) fn files(&self) -> std::io::Result<BTreeMap<String, String>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(self.places.project())? {
            let path = entry?.path();
            if path.is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                files.insert(name.into_owned(), std::fs::read_to_string(&path)?);
            }
        }
        Ok(files)
    }
}

//! What a host is told of one session, and the start order that follows from it.
//!
//! Owns the shape, which whoever gives the task writes as JSON. Starts nothing.

use std::ffi::OsString;
use std::path::PathBuf;

use countersign_keeper::{Arg, Graces, Order};
use countersign_process::{BadMarker, Marker};
use serde::{Deserialize, Serialize};

use super::conversation::Begin;

/// One session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Its folder.
    pub(crate) dir: PathBuf,
    /// Where the socket goes.
    pub(crate) run: PathBuf,
    /// Its id, which is also that of its first conversation.
    pub(crate) id: String,
    /// The agent's command; `{generation}` stands for the number of the generation.
    pub(crate) command: Vec<String>,
    /// Its working directory.
    pub(crate) cwd: PathBuf,
    /// Its whole environment.
    pub(crate) env: Vec<(String, String)>,
    /// The secret of the session.
    pub(crate) token: String,
    /// What its processes carry.
    pub(crate) marker: String,
    /// What is said to it, one after the other, each when the one before is done.
    pub(crate) messages: Vec<Message>,
}

impl Task {
    /// The order for one generation.
    pub(crate) fn order(&self, generation: u32, begin: &Begin) -> Result<Order, BadMarker> {
        let fill = |text: &String| text.replace("{generation}", &generation.to_string());
        let mut words = self.command.iter().map(fill);
        let program = words.next().unwrap_or_default();
        let conversation = [begin.flag.to_owned(), begin.id.clone()];
        let args = words.chain(conversation).map(|arg| Arg::Plain(arg.into()));
        Ok(Order {
            session: self.id.clone(),
            generation,
            dir: self.dir.clone(),
            run: self.run.clone(),
            program: program.into(),
            args: args.collect(),
            cwd: self.cwd.clone(),
            env: pairs(&self.env),
            token: self.token.clone(),
            marker: self.marker()?,
            graces: Graces::default(),
            kill_first: false,
        })
    }

    pub(crate) fn marker(&self) -> Result<Marker, BadMarker> {
        Marker::new(&self.marker)
    }
}

/// Variables as a process is given them.
pub(crate) fn pairs(env: &[(String, String)]) -> Vec<(OsString, OsString)> {
    let pairs = env.iter();
    pairs
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// One message; its uuid stays the same however often it is handed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Its name.
    pub(crate) uuid: String,
    /// What it says.
    pub(crate) text: String,
}

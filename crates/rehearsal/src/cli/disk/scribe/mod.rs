//! What a session leaves on disk: the transcript of the conversation and of its sub-agents, as 2.1.325 writes them.
//!
//! [`Scribe`] is told what happens and gives back what to write; it has no clock, no ids of its own and touches no file.
//! `records` and `events` hold the lines of the conversation, `notes` those beside it. Left out is what only tells of the
//! requests to the model (`api-request…`, `prompt_snapshot`, the standing attachments, `atis-latch`). Invariant: every
//! record names the one before it that is in the file.

mod agents;
mod events;
mod line;
mod notes;
mod records;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

pub(in crate::cli) use agents::AgentNote;
pub(super) use events::NO_ANSWER;
pub(in crate::cli) use notes::Cost;
pub(super) use notes::noted_as;
pub(in crate::cli) use records::{Aside, Denial, Origin, Prompt, Reported, Said};

use super::ordered::Node;
use super::past::Past;
use super::places::Places;
use super::stamp::stamp;
use line::Line;

/// What stands in every record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Head {
    pub(in crate::cli) session: String,
    pub(in crate::cli) cwd: String,
    pub(in crate::cli) version: String,
    pub(in crate::cli) git_branch: String,
    /// `CLAUDE_CODE_ENTRYPOINT`, or `sdk-cli`.
    pub(in crate::cli) entrypoint: String,
}

/// Which record, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Moment<'a> {
    /// The same id that the line on stdout carries.
    pub(in crate::cli) uuid: &'a str,
    /// Since 1970.
    pub(in crate::cli) at: Duration,
}

/// Whose conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Who<'a> {
    /// The session's own.
    Main,
    /// The sub-agent of this id.
    Agent(&'a str),
}

/// Something to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Written {
    /// At the end of a file: see [`super::append`].
    Append {
        /// The file.
        path: PathBuf,
        /// Whole lines.
        text: String,
    },
    /// In place of a file: see [`super::replace`].
    Replace {
        /// The file.
        path: PathBuf,
        /// Its content.
        text: String,
        /// Who may read it.
        mode: super::Mode,
    },
}

/// The writer of one session.
#[derive(Debug)]
pub(in crate::cli) struct Scribe {
    head: Head,
    /// The folder the transcript lies in.
    folder: PathBuf,
    kept: bool,
    out: Vec<Written>,

    /// What the file begins with, or is continued with, once there is a message. Empty after that.
    opening: Vec<Opening>,
    opened: bool,
    /// Of a fork: the records it takes along, until the first prompt.
    inherited: Vec<Node>,
    /// Of a session that was cut off: calls without a result, and whether the model has the last word.
    unanswered: Vec<(String, String)>,
    awaits_model: bool,
    /// Whether the CLI was started on an older session.
    continued: bool,

    tip: Option<String>,
    agent_tips: HashMap<String, String>,
    /// Tool calls and the records that made them.
    callers: HashMap<String, String>,
    notes: HashMap<String, AgentNote>,
    prompt_id: Option<String>,
    turn: u64,
    last_prompt: Option<String>,
    title: Option<String>,
    slug: Option<String>,
    tools: Vec<String>,
    /// What the answers of this turn are put down to: a skill, or the server whose tool was called last.
    credit: Vec<(&'static str, String)>,
}

/// A line at the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    Title,
    Mode,
    Tools,
}

impl Scribe {
    /// A new session. `title` is what `--name` says.
    pub(in crate::cli) fn new(places: &Places, head: Head, title: Option<&str>) -> Self {
        Self {
            folder: places.project(),
            head,
            kept: true,
            out: Vec::new(),
            opening: vec![Opening::Title],
            opened: false,
            inherited: Vec::new(),
            unanswered: Vec::new(),
            awaits_model: false,
            continued: false,
            tip: None,
            agent_tips: HashMap::new(),
            callers: HashMap::new(),
            notes: HashMap::new(),
            prompt_id: None,
            turn: 0,
            last_prompt: None,
            title: title.map(notes::one_line).filter(|title| !title.is_empty()),
            slug: None,
            tools: Vec::new(),
            credit: Vec::new(),
        }
    }

    /// Goes on with an older session, in its file, wherever that is. The head's session is the old one's.
    pub(in crate::cli) fn resumed(places: &Places, head: Head, past: &Past) -> Self {
        let mut scribe = Self::new(places, head, None);
        scribe.follow(past);
        if let Some(folder) = past.path.parent() {
            scribe.folder = folder.to_owned();
        }
        scribe.opening = vec![Opening::Tools];
        scribe
    }

    /// Goes on with an older session under a new id, in a file of this project. The conversation is taken along when
    /// the first prompt is written.
    pub(in crate::cli) fn forked(places: &Places, head: Head, past: &Past) -> Self {
        let mut scribe = Self::new(places, head, None);
        scribe.follow(past);
        scribe.inherited = past.records().to_vec();
        scribe.opening = vec![Opening::Title, Opening::Mode, Opening::Tools];
        scribe
    }

    /// Writes nothing from here on: `--no-session-persistence`.
    pub(in crate::cli) fn unkept(mut self) -> Self {
        self.kept = false;
        self
    }

    fn follow(&mut self, past: &Past) {
        self.continued = true;
        self.tip.clone_from(&past.last_uuid);
        self.unanswered = past.unanswered();
        self.awaits_model = past.awaits_model() || !self.unanswered.is_empty();
        self.turn = past.turns;
        self.title.clone_from(&past.title);
        self.slug.clone_from(&past.slug);
        self.tools.clone_from(&past.tools);
        self.last_prompt.clone_from(&past.last_prompt);
    }

    /// What is to be written since the last time, in order.
    pub(in crate::cli) fn take(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.out)
    }

    /// The session's transcript.
    pub(in crate::cli) fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.head.session))
    }

    /// Every record from here on names this plan.
    pub(in crate::cli) fn set_slug(&mut self, slug: &str) {
        self.slug = Some(slug.to_owned());
    }

    /// `/clear`: a new conversation under a new id, in a file of its own.
    pub(in crate::cli) fn cleared(&mut self, session: &str) {
        session.clone_into(&mut self.head.session);
        self.opening = vec![Opening::Mode];
        self.opened = false;
        self.inherited.clear();
        self.unanswered.clear();
        self.awaits_model = false;
        // The line for the mode comes with the other notes, too.
        self.continued = true;
        self.tip = None;
        self.agent_tips.clear();
        self.callers.clear();
        self.notes.clear();
        self.prompt_id = None;
        self.turn = 0;
        self.last_prompt = None;
        self.title = None;
        self.slug = None;
        self.tools.clear();
        self.credit.clear();
    }

    /// The record that made a call.
    pub(in crate::cli) fn caller(&self, tool_use_id: &str) -> Option<String> {
        self.callers.get(tool_use_id).cloned()
    }

    /// The uuid of the last record of a conversation.
    pub(in crate::cli) fn tip(&self, who: Who<'_>) -> Option<&str> {
        match who {
            Who::Main => self.tip.as_deref(),
            Who::Agent(id) => self.agent_tips.get(id).map(String::as_str),
        }
    }

    fn set_tip(&mut self, who: Who<'_>, uuid: &str) {
        match who {
            Who::Main => self.tip = Some(uuid.to_owned()),
            Who::Agent(id) => drop(self.agent_tips.insert(id.to_owned(), uuid.to_owned())),
        }
    }

    fn write(&mut self, who: Who<'_>, line: Line) {
        if !self.kept {
            return;
        }
        let path = match who {
            Who::Main => {
                self.open();
                self.path()
            }
            Who::Agent(id) => self.agent_path(id, "jsonl"),
        };
        self.append(path, &line.end());
    }

    fn append(&mut self, to: PathBuf, more: &str) {
        match self.out.last_mut() {
            Some(Written::Append { path, text }) if *path == to => text.push_str(more),
            _ => self.out.push(Written::Append {
                path: to,
                text: more.to_owned(),
            }),
        }
    }

    /// Writes what stands before the first record. Not earlier: a session without a message leaves no file.
    fn open(&mut self) {
        if std::mem::replace(&mut self.opened, true) {
            return;
        }
        for line in std::mem::take(&mut self.opening) {
            match line {
                Opening::Title => self.note_title(),
                Opening::Mode => self.note_mode(),
                Opening::Tools if self.tools.is_empty() => {}
                Opening::Tools => self.note_tools(),
            }
        }
    }

    /// Takes the conversation of a fork along, under this session's name and in its place.
    fn inherit(&mut self, prompt_id: &str) {
        let path = self.path();
        for mut record in std::mem::take(&mut self.inherited) {
            let head = &self.head;
            let own = [
                ("promptId", prompt_id),
                ("sessionId", &head.session),
                ("cwd", &head.cwd),
                ("version", &head.version),
                ("gitBranch", &head.git_branch),
                ("entrypoint", &head.entrypoint),
            ];
            own.iter().for_each(|(key, value)| record.put(key, value));
            let line = serde_json::to_string(&record).unwrap_or_default();
            if self.kept {
                self.open();
                self.append(path.clone(), &format!("{line}\n"));
            }
        }
    }

    /// What every record ends with.
    fn tail(&self, line: &mut Line) {
        let head = &self.head;
        line.put("userType", "external")
            .put("entrypoint", &head.entrypoint)
            .put("cwd", &head.cwd)
            .put("sessionId", &head.session)
            .put("version", &head.version)
            .put("gitBranch", &head.git_branch)
            .put_some("slug", self.slug.as_deref());
    }
}

impl<'a> Who<'a> {
    fn agent(self) -> Option<&'a str> {
        match self {
            Self::Main => None,
            Self::Agent(id) => Some(id),
        }
    }
}

#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_notes;

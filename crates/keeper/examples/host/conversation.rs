//! Which conversation the next agent of a session has, and whether it begins it or goes on with it. Pure.
//!
//! Owns the choice; the session keeps its own id throughout. An agent goes on with the conversation of the one before. If
//! the CLI refuses that, the next one is told the other way: to begin it, or to go on with it. If it refuses that as well,
//! as it does with a transcript that was made and has no message in it, another conversation begins, under a new id.

pub(crate) const BEGIN: &str = "--session-id";
pub(crate) const RESUME: &str = "--resume";

/// What an agent is told of its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Begin {
    /// [`BEGIN`] or [`RESUME`].
    pub(crate) flag: &'static str,
    pub(crate) id: String,
}

impl Begin {
    /// A conversation that is not there yet.
    pub(crate) fn new(id: &str) -> Self {
        let id = id.to_owned();
        Self { flag: BEGIN, id }
    }

    pub(crate) fn resume(id: &str) -> Self {
        let id = id.to_owned();
        Self { flag: RESUME, id }
    }
}

/// What became of the conversations that agents were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conversations {
    /// What the newest agent was told.
    newest: Option<Begin>,
    /// The CLI refused that.
    is_refused: bool,
    /// What the agent before it was refused.
    refused_before: Option<Begin>,
}

impl Conversations {
    /// The next agent was started with these arguments.
    pub(crate) fn opened(&mut self, argv: &[String]) {
        let begin = argv.windows(2).find_map(|pair| match pair[0].as_str() {
            BEGIN => Some(Begin::new(&pair[1])),
            RESUME => Some(Begin::resume(&pair[1])),
            _ => None,
        });
        let before = std::mem::replace(&mut self.newest, begin);
        self.refused_before = before.filter(|_| self.is_refused);
        self.is_refused = false;
    }

    /// What the agent said of its failure, or on stderr.
    pub(crate) fn said(&mut self, words: &str) {
        let refuses = ["No conversation found", "is already in use"];
        let names_it = (self.newest.as_ref()).is_some_and(|begin| words.contains(&begin.id));
        self.is_refused |= names_it && refuses.iter().any(|refusal| words.contains(refusal));
    }

    /// What the agent after it is told. `new_id` is asked if there is no way to go on.
    pub(crate) fn next(&self, session: &str, new_id: impl FnOnce() -> String) -> Begin {
        let Some(Begin { flag, id }) = &self.newest else {
            return Begin::resume(session);
        };
        let is_other_way = |before: &Begin| before.id == *id && before.flag != *flag;
        match (self.is_refused, *flag) {
            (true, _) if self.refused_before.as_ref().is_some_and(is_other_way) => {
                Begin::new(&new_id())
            }
            (true, RESUME) => Begin::new(id),
            _ => Begin::resume(id),
        }
    }
}

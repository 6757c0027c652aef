//! Which conversation the next agent of a session has, and whether it begins it or goes on with it. Pure.
//!
//! Owns the choice; the session keeps its own id throughout. An agent goes on with the conversation of the one before. If
//! the CLI does not find it, the next one begins it under its id. The CLI may refuse that as well: a transcript that was
//! made and has no message in it bars both ways. Then another conversation begins, under a new id.

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

    fn resume(id: &str) -> Self {
        let id = id.to_owned();
        Self { flag: RESUME, id }
    }
}

/// What is known of the newest agent's conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conversation {
    id: Option<String>,
    /// The CLI does not find it.
    is_lost: bool,
    /// The CLI does not begin it.
    is_taken: bool,
    /// The newest agent ended for one of these reasons.
    is_barred: bool,
}

impl Conversation {
    /// The next agent was started with these arguments.
    pub(crate) fn opened(&mut self, argv: &[String]) {
        let named = argv
            .windows(2)
            .find(|pair| [BEGIN, RESUME].contains(&pair[0].as_str()));
        let id = named.map(|pair| pair[1].clone());
        // An agent that came up has the conversation, whatever was said of it before.
        if !self.is_barred || self.id != id {
            *self = Self::default();
        }
        self.id = id;
        self.is_barred = false;
    }

    /// What the agent said of its failure, or on stderr.
    pub(crate) fn said(&mut self, words: &str) {
        let names_it = self.id.as_ref().is_some_and(|id| words.contains(id));
        let is_lost = names_it && words.contains("No conversation found");
        let is_taken = names_it && words.contains("is already in use");
        self.is_lost |= is_lost;
        self.is_taken |= is_taken;
        self.is_barred |= is_lost || is_taken;
    }

    /// What the agent after it is told. `new_id` is asked if there is no way to go on.
    pub(crate) fn next(&self, session: &str, new_id: impl FnOnce() -> String) -> Begin {
        let id = self.id.as_deref().unwrap_or(session);
        match (self.is_barred && self.is_lost, self.is_taken) {
            (true, true) => Begin::new(&new_id()),
            (true, false) => Begin::new(id),
            (false, _) => Begin::resume(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: &str = "No conversation found with session ID: one";
    const TAKEN: &str = "Error: Session ID one is already in use.";

    /// What follows agents that were started like this and said that.
    fn after(agents: &[(&str, &str, &str)]) -> Begin {
        let mut conversation = Conversation::default();
        for (flag, id, words) in agents {
            let argv = ["claude", flag, id].map(str::to_owned);
            conversation.opened(&argv);
            conversation.said(words);
        }
        conversation.next("one", || "two".to_owned())
    }

    #[test]
    fn an_agent_goes_on_with_the_conversation_of_the_one_before() {
        assert_eq!(after(&[(BEGIN, "one", "")]), Begin::resume("one"));
        let agents = [(BEGIN, "one", ""), (BEGIN, "two", "")];
        assert_eq!(after(&agents), Begin::resume("two"));
    }

    #[test]
    fn a_conversation_that_is_not_found_begins_under_its_id() {
        let agents = [(BEGIN, "one", ""), (RESUME, "one", LOST)];
        assert_eq!(after(&agents), Begin::new("one"));
    }

    #[test]
    fn a_conversation_that_is_neither_found_nor_begun_is_given_up_for_a_new_one() {
        let agents = [(RESUME, "one", LOST), (BEGIN, "one", TAKEN)];
        assert_eq!(after(&agents), Begin::new("two"));
        let agents = [(BEGIN, "one", TAKEN), (RESUME, "one", LOST)];
        assert_eq!(after(&agents), Begin::new("two"));
    }

    #[test]
    fn one_that_is_only_taken_is_gone_on_with() {
        assert_eq!(after(&[(BEGIN, "one", TAKEN)]), Begin::resume("one"));
    }

    #[test]
    fn one_that_came_up_in_between_is_not_given_up() {
        let agents = [(RESUME, "one", LOST), (BEGIN, "one", "")];
        assert_eq!(after(&agents), Begin::resume("one"));
        let agents = [
            (RESUME, "one", LOST),
            (BEGIN, "one", ""),
            (BEGIN, "one", TAKEN),
        ];
        assert_eq!(after(&agents), Begin::resume("one"));
    }

    #[test]
    fn what_is_said_of_something_else_does_not_count() {
        let other = "Error: Session ID three is already in use.";
        let agents = [(RESUME, "one", LOST), (BEGIN, "one", other)];
        assert_eq!(after(&agents), Begin::resume("one"));
    }
}

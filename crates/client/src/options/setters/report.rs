//! Setters of which conversation it is and what is reported of it.

/// Which conversation it is.
macro_rules! session_setters {
    ($type:ty) => {
        impl $type {
            /// Goes on with the latest conversation of the working directory.
            #[must_use = "a setter gives the changed value back"]
            pub fn continue_conversation(mut self, on: bool) -> Self {
                self.options_mut().session.continue_latest = on;
                self
            }

            /// Goes on with a session, by id; new CLIs take its title too.
            #[must_use = "a setter gives the changed value back"]
            pub fn resume(mut self, session: impl Into<String>) -> Self {
                self.options_mut().session.resume = Some(session.into());
                self
            }

            /// Goes on under a new session id and leaves the old one as it is.
            #[must_use = "a setter gives the changed value back"]
            pub fn fork_session(mut self, on: bool) -> Self {
                self.options_mut().session.fork = on;
                self
            }

            /// Resumes only up to this message of the assistant.
            #[must_use = "a setter gives the changed value back"]
            pub fn resume_session_at(mut self, uuid: impl Into<String>) -> Self {
                self.options_mut().session.resume_at = Some(uuid.into());
                self
            }

            /// Resumes without the turn of this message.
            #[must_use = "a setter gives the changed value back"]
            pub fn resume_drops_turn(mut self, uuid: impl Into<String>) -> Self {
                self.options_mut().session.resume_drops_turn = Some(uuid.into());
                self
            }

            /// The id of the session, a UUID nobody uses yet.
            #[must_use = "a setter gives the changed value back"]
            pub fn session_id(mut self, uuid: impl Into<String>) -> Self {
                self.options_mut().session.session_id = Some(uuid.into());
                self
            }

            /// Whether the session is stored on disk; it is when unset.
            #[must_use = "a setter gives the changed value back"]
            pub fn persist_session(mut self, on: bool) -> Self {
                self.options_mut().session.no_persistence = !on;
                self
            }

            /// Reports each line of the transcript as it is written.
            #[must_use = "a setter gives the changed value back"]
            pub fn session_mirror(mut self, on: bool) -> Self {
                self.options_mut().session.mirror = on;
                self
            }

            /// The name under which the session is shown.
            #[must_use = "a setter gives the changed value back"]
            pub fn name(mut self, name: impl Into<String>) -> Self {
                self.options_mut().session.name = Some(name.into());
                self
            }

            /// The title of the session.
            #[must_use = "a setter gives the changed value back"]
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.options_mut().session.title = Some(title.into());
                self
            }
        }
    };
}
pub(crate) use session_setters;

/// What the CLI reports.
macro_rules! stream_setters {
    ($type:ty) => {
        impl $type {
            /// Reports messages while they stream.
            #[must_use = "a setter gives the changed value back"]
            pub fn include_partial_messages(mut self, on: bool) -> Self {
                self.options_mut().stream.partial_messages = on;
                self
            }

            /// Reports hooks of the settings as they run.
            #[must_use = "a setter gives the changed value back"]
            pub fn include_hook_events(mut self, on: bool) -> Self {
                self.options_mut().stream.hook_events = on;
                self
            }

            /// Whether messages come back when they are taken up; on by default. Without it turns are matched by the CLI's lifecycle events alone.
            #[must_use = "a setter gives the changed value back"]
            pub fn replay_user_messages(mut self, on: bool) -> Self {
                self.options_mut().stream.no_replay = !on;
                self
            }

            /// Reports the state of authentication.
            #[must_use = "a setter gives the changed value back"]
            pub fn enable_auth_status(mut self, on: bool) -> Self {
                self.options_mut().stream.auth_status = on;
                self
            }

            /// Reports what sub-agents say and think.
            #[must_use = "a setter gives the changed value back"]
            pub fn forward_subagent_text(mut self, on: bool) -> Self {
                self.options_mut().stream.forward_subagent_text = on;
                self
            }

            /// Reports suggestions for the next prompt.
            #[must_use = "a setter gives the changed value back"]
            pub fn prompt_suggestions(mut self, on: bool) -> Self {
                self.options_mut().stream.prompt_suggestions = on;
                self
            }

            /// Reports summaries of what sub-agents are doing.
            #[must_use = "a setter gives the changed value back"]
            pub fn agent_progress_summaries(mut self, on: bool) -> Self {
                self.options_mut().stream.progress_summaries = on;
                self
            }

            /// Says that single tasks can be stopped by this host, so that an interrupt leaves background tasks alone.
            #[must_use = "a setter gives the changed value back"]
            pub fn per_task_stop_affordance(mut self, on: bool) -> Self {
                self.options_mut().stream.per_task_stop = on;
                self
            }

            /// Kinds of dialogs that this host can show.
            #[must_use = "a setter gives the changed value back"]
            pub fn supported_dialog_kinds(
                mut self,
                kinds: impl IntoIterator<Item = impl Into<String>>,
            ) -> Self {
                self.options_mut()
                    .stream
                    .dialog_kinds
                    .extend(kinds.into_iter().map(Into::into));
                self
            }

            /// Makes the CLI wait for `initialize` before anything else.
            #[must_use = "a setter gives the changed value back"]
            pub fn await_initialize(mut self, on: bool) -> Self {
                self.options_mut().stream.await_initialize = on;
                self
            }

            /// Switches the CLI's debug log on.
            #[must_use = "a setter gives the changed value back"]
            pub fn debug(mut self, on: bool) -> Self {
                self.options_mut().stream.debug = on;
                self
            }

            /// Writes the CLI's debug log to a file.
            #[must_use = "a setter gives the changed value back"]
            pub fn debug_file(mut self, file: impl Into<::std::path::PathBuf>) -> Self {
                self.options_mut().stream.debug_file = Some(file.into());
                self
            }

            /// A tag for the CLI's statistics.
            #[must_use = "a setter gives the changed value back"]
            pub fn workload(mut self, tag: impl Into<String>) -> Self {
                self.options_mut().stream.workload = Some(tag.into());
                self
            }

            /// Whether the session's state is reported (running, waiting, idle); it is when unset.
            #[must_use = "a setter gives the changed value back"]
            pub fn session_state_events(mut self, on: bool) -> Self {
                self.options_mut().env.no_session_state_events = !on;
                self
            }
        }
    };
}
pub(crate) use stream_setters;

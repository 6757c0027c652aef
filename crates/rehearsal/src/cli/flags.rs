//! The command line of the CLI, as far as a scenario depends on it. Every other flag is accepted and ignored.

/// What the flags ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) version: bool,
    pub(super) replay: bool,
    pub(super) partial: bool,
    pub(super) bypass_allowed: bool,
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) mode: Option<String>,
}

impl Flags {
    /// Reads the arguments after the name of the program.
    pub(super) fn read<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let mut flags = Self::default();
        let mut resumed = None;
        let mut fork = false;
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, inline) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument, None),
            };
            let mut value = || {
                inline
                    .or_else(|| arguments.next())
                    .unwrap_or_default()
                    .to_owned()
            };
            match name {
                "--version" | "-v" => flags.version = true,
                "--replay-user-messages" => flags.replay = true,
                "--include-partial-messages" => flags.partial = true,
                "--dangerously-skip-permissions" => {
                    flags.bypass_allowed = true;
                    flags.mode = Some("bypassPermissions".to_owned());
                }
                "--allow-dangerously-skip-permissions" => flags.bypass_allowed = true,
                "--fork-session" => fork = true,
                "--session-id" => flags.session = Some(value()),
                "--resume" | "-r" => resumed = Some(value()),
                "--model" => flags.model = Some(value()),
                "--permission-mode" => flags.mode = Some(value()),
                _ => {}
            }
        }
        if !fork {
            flags.session = flags.session.or(resumed);
        }
        // `manual` is how `default` is written on the command line.
        if flags.mode.as_deref() == Some("manual") {
            flags.mode = Some("default".to_owned());
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_after_a_blank_or_an_equals_sign() {
        let flags = Flags::read([
            "--model=opus",
            "--permission-mode",
            "plan",
            "--unheard-of",
            "x",
        ]);
        assert_eq!(flags.model.as_deref(), Some("opus"));
        assert_eq!(flags.mode.as_deref(), Some("plan"));
        assert!(!flags.replay);
    }

    #[test]
    fn a_resumed_session_keeps_its_id_and_a_forked_one_does_not() {
        assert_eq!(Flags::read(["--resume", "a"]).session.as_deref(), Some("a"));
        assert_eq!(
            Flags::read(["--resume", "a", "--fork-session"]).session,
            None
        );
        let chosen = Flags::read(["--resume", "a", "--fork-session", "--session-id", "b"]);
        assert_eq!(chosen.session.as_deref(), Some("b"));
    }
}

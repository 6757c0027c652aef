//! What is run: for each experiment the mode, the flag, the answers, the messages, and what the model wishes.
//!
//! Data only. The model's wishes (`scripts/`) are those the seed tells of: where its model chose an Edit, so does ours. Some
//! experiments have further takes, for what the seed claims and its own runs could not show.

use countersign_client::PermissionMode;

use super::letters::Letter;

/// One run of the CLI.
#[derive(Debug, Clone)]
pub(crate) struct Take {
    pub(crate) name: TakeName,
    /// What is shown while it runs.
    pub(crate) about: &'static str,
    /// Where the session starts; `default` unless told.
    pub(crate) mode: Option<PermissionMode>,
    /// Whether the pieces of messages are asked for, as in the seed's first three experiments.
    pub(crate) partial: bool,
    /// Who answers. Nobody: the CLI is started without `--permission-prompt-tool stdio`.
    pub(crate) answers: Option<Answers>,
    /// Whether an MCP server of this process is mounted.
    pub(crate) server: bool,
    /// Whether the CLI is told that it runs in a sandbox, where root may bypass permissions.
    pub(crate) is_sandbox: bool,
    pub(crate) steps: Vec<Step>,
    /// What the model says, as a model script.
    pub(crate) script: &'static str,
}

/// The runs, each under the experiment it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TakeName {
    /// The run that the seed describes.
    Main(Letter),
    /// D again: answers in the forms that the seed warns of.
    Forms,
    /// G again: the first plan is sent back.
    Revised,
    /// G again: calls that change something while the plan is made.
    Calls,
    /// H again: what only a person can answer.
    Person,
    /// H again, without `--permission-prompt-tool`.
    Unflagged,
    /// H again, without a word about a sandbox; as root only.
    Root,
}

impl TakeName {
    pub(crate) fn letter(self) -> Letter {
        match self {
            Self::Main(letter) => letter,
            Self::Forms => Letter::D,
            Self::Revised | Self::Calls => Letter::G,
            Self::Person | Self::Unflagged | Self::Root => Letter::H,
        }
    }

    /// The name of its recording.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Main(_) => "wire",
            Self::Forms => "forms",
            Self::Revised => "revised",
            Self::Calls => "calls",
            Self::Person => "person",
            Self::Unflagged => "unflagged",
            Self::Root => "root",
        }
    }

    /// As one word: `a`, `d-forms`.
    pub(crate) fn id(self) -> String {
        let letter = self.letter().to_string().to_lowercase();
        match self {
            Self::Main(_) => letter,
            other => format!("{letter}-{}", other.file()),
        }
    }
}

/// How questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    Allow,
    Deny,
    /// The first is denied, the others are allowed.
    DenyFirst,
    /// By the name of the file that is to be written; see [`form`].
    Forms,
}

/// What the host does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Sends a message and waits for its result.
    Say(&'static str),
    /// Changes the mode.
    Mode(PermissionMode),
}

/// What a denial says to the model.
pub(crate) const DENIAL: &str = "Not here, please.";

/// The file that the model is to mend, and how it stands at first.
pub(crate) const BROKEN: (&str, &str) = ("hello.py", "def hello()\n    print('hello')\n");

/// The plan that the model writes.
pub(crate) const PLAN: &str = "Add the missing colon to hello.py.";

/// The name of the MCP server, and of its tool.
pub(crate) const SERVER: (&str, &str) = ("probe", "ping");
/// The tool as the model knows it.
pub(crate) const SERVER_TOOL: &str = "mcp__probe__ping";

/// The answer to a question about `file`, in a form of its own. `input` is what was asked about.
pub(crate) fn form(file: &str, input: serde_json::Value) -> serde_json::Value {
    use serde_json::json;
    match file {
        "null.txt" => json!({"behavior": "allow", "updatedInput": null}),
        "missing.txt" => json!({"behavior": "allow"}),
        "snake.txt" => json!({"behavior": "allow", "updated_input": input}),
        "mode.txt" => json!({
            "behavior": "allow",
            "updatedInput": input,
            "updatedPermissions": [
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
            ],
        }),
        _ => json!({"behavior": "allow", "updatedInput": input}),
    }
}

const TALKING: &str = include_str!("scripts/talking.model");
const MENDING: &str = include_str!("scripts/mending.model");
const FALLING_BACK: &str = include_str!("scripts/falling-back.model");
const UNASKED: &str = include_str!("scripts/unasked.model");
const PLANNING: &str = include_str!("scripts/planning.model");
const REVISING: &str = include_str!("scripts/revising.model");
const ASKING: &str = include_str!("scripts/person.model");
const FORMS: &str = include_str!("scripts/forms.model");

const ASK: &str = "What is 2 + 2?";
const MEND: &str = "Mend hello.py.";

/// The runs of these experiments, in order. As root there is one more.
pub(crate) fn takes(letters: &[Letter], is_root: bool) -> Vec<Take> {
    let mut takes = all();
    takes.retain(|take| letters.contains(&take.name.letter()));
    takes.retain(|take| is_root || take.name != TakeName::Root);
    takes
}

fn all() -> Vec<Take> {
    [talks(), prompts(), plans(), bypasses()].concat()
}

/// Everything is allowed, and the model mends a file.
fn plain() -> Take {
    Take {
        name: TakeName::Main(Letter::D),
        about: "everything is allowed",
        mode: None,
        partial: false,
        answers: Some(Answers::Allow),
        server: false,
        is_sandbox: false,
        steps: vec![Step::Say(MEND)],
        script: MENDING,
    }
}

/// A to C: when the mode changes.
fn talks() -> Vec<Take> {
    let talk = |letter, about, mode, steps| Take {
        name: TakeName::Main(letter),
        about,
        mode,
        partial: true,
        steps,
        script: TALKING,
        ..plain()
    };
    let (say, switch) = (Step::Say(ASK), Step::Mode(PermissionMode::Plan));
    vec![
        talk(
            Letter::A,
            "a message, then a switch to plan mode",
            None,
            vec![say.clone(), switch.clone()],
        ),
        talk(
            Letter::B,
            "started in plan mode",
            Some(PermissionMode::Plan),
            vec![say.clone()],
        ),
        talk(
            Letter::C,
            "a switch to plan mode, then a message",
            None,
            vec![switch, say],
        ),
    ]
}

/// D to F: who is asked.
fn prompts() -> Vec<Take> {
    vec![
        plain(),
        Take {
            name: TakeName::Forms,
            about: "answers in other forms",
            answers: Some(Answers::Forms),
            script: FORMS,
            ..plain()
        },
        Take {
            name: TakeName::Main(Letter::E),
            about: "everything is denied",
            answers: Some(Answers::Deny),
            script: FALLING_BACK,
            ..plain()
        },
        Take {
            name: TakeName::Main(Letter::F),
            about: "nobody is asked",
            answers: None,
            server: true,
            script: UNASKED,
            ..plain()
        },
    ]
}

/// G: plan mode.
fn plans() -> Vec<Take> {
    let plan = |name, about, answers, script| Take {
        name,
        about,
        mode: Some(PermissionMode::Plan),
        answers: Some(answers),
        script,
        ..plain()
    };
    let main = TakeName::Main(Letter::G);
    vec![
        plan(main, "plan mode", Answers::Allow, PLANNING),
        plan(
            TakeName::Revised,
            "a plan is sent back",
            Answers::DenyFirst,
            REVISING,
        ),
        plan(
            TakeName::Calls,
            "calls in plan mode",
            Answers::Allow,
            FALLING_BACK,
        ),
    ]
}

/// H: permissions bypassed.
fn bypasses() -> Vec<Take> {
    let bypass = |name, about, is_sandbox, script| Take {
        name,
        about,
        mode: Some(PermissionMode::BypassPermissions),
        is_sandbox,
        script,
        ..plain()
    };
    let main = TakeName::Main(Letter::H);
    vec![
        bypass(main, "permissions bypassed", true, MENDING),
        bypass(TakeName::Person, "questions to a person", true, ASKING),
        Take {
            answers: None,
            ..bypass(
                TakeName::Unflagged,
                "bypassed, nobody is asked",
                true,
                MENDING,
            )
        },
        bypass(TakeName::Root, "bypass as root", false, MENDING),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_rehearsal::model::Script;

    #[test]
    fn each_experiment_has_its_main_take_and_each_script_can_be_read() {
        let mut mains = Vec::new();
        for take in all() {
            Script::parse(take.script).unwrap_or_else(|error| panic!("{:?}: {error}", take.name));
            assert!(!take.steps.is_empty() && !take.about.is_empty());
            if let TakeName::Main(letter) = take.name {
                mains.push(letter);
            }
        }
        assert_eq!(mains, Letter::ALL);
    }

    #[test]
    fn only_root_is_refused_as_root() {
        let names = |is_root| -> Vec<_> {
            let takes = takes(&[Letter::H], is_root);
            takes.iter().map(|take| take.name.id()).collect()
        };
        assert_eq!(names(false), ["h", "h-person", "h-unflagged"]);
        assert_eq!(names(true), ["h", "h-person", "h-unflagged", "h-root"]);
    }

    #[test]
    fn what_the_wishes_name_is_what_the_takes_prepare() {
        assert!(UNASKED.contains(SERVER_TOOL));
        assert_eq!(SERVER_TOOL, format!("mcp__{}__{}", SERVER.0, SERVER.1));
        for script in [PLANNING, REVISING] {
            assert!(script.contains(PLAN));
        }
        assert!(MENDING.contains(BROKEN.0) && BROKEN.1.starts_with("def hello()\n"));
    }
}

//! New sessions: started, forked, imported.
//!
//! Owns what is checked and prepared before a session is stored. Nothing runs yet when this is done, but a worktree may
//! be there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_client::history::Transcripts;
use countersign_client::options::Version;
use countersign_process::DescriptorBudget;

use crate::control::session::{NewWorktree, Setup};
use crate::control::{
    Command, ControlError, ForkWorktree, Message, Mode, NewSession, Result, SessionId, State, now,
};
use crate::desk::{self, Desk};
use crate::host::Inner;
use crate::import::{Importable, Wanted, World};
use crate::live::LONGEST_NAME;
use crate::model_names;
use crate::money::budget;
use crate::store::sessions::{self, SessionRow};
use crate::worktree::Worktree;

/// So much of the first message is the name of a session that has none.
const NAME: usize = 60;

/// First version that is known to find a conversation that was begun in another folder.
const FINDS_ELSEWHERE: Version = Version::new(2, 1, 325);

/// Number of files that must be free before a session is begun: for its keeper, its journal and its worktree. A start that fails half-way would leave
/// some of it behind.
const FREE_FOR_A_START: usize = 24;

/// A session that is about to be stored.
pub(crate) struct Made {
    pub(crate) row: SessionRow,
    pub(crate) message: Option<Message>,
    /// What was allowed for good in that session holds in this one, too.
    pub(crate) rules_of: Option<SessionId>,
}

/// Checks that an agent can be started beside `others` that live, without running out of files on the way and with files left
/// for whoever reads.
pub(crate) fn check_descriptors(others: usize) -> Result<()> {
    let budget = DescriptorBudget::of(countersign_process::descriptor_limit());
    if others < budget.agents && countersign_process::can_open(FREE_FOR_A_START) {
        return Ok(());
    }
    Err(ControlError::Unavailable {
        why: "the daemon has as many files open as it may: end some agents or close some pages"
            .into(),
        retry_ms: 2_000,
    })
}

/// Checks and prepares.
pub(crate) async fn prepare(inner: &Arc<Inner>, command: &Command) -> Result<Made> {
    check_descriptors(inner.agents_beside(None))?;
    let mut made = prepared(inner, command).await?;
    match &made.message {
        Some(message) => message.says_something()?,
        None => {
            made.row.state = State::Idle {
                asleep: true,
                background: 0,
            };
            made.row.reason = "It waits for its first message.".to_owned();
        }
    }
    Ok(made)
}

async fn prepared(inner: &Arc<Inner>, command: &Command) -> Result<Made> {
    match command {
        Command::Start(new) => started(inner, new).await,
        Command::Fork {
            session,
            id,
            message,
            worktree,
        } => forked(inner, *session, *id, message.clone(), *worktree).await,
        Command::Import {
            id,
            conversation,
            cwd,
            config_dir,
            confirmed,
        } => {
            let found = import(inner, conversation, cwd, config_dir.clone(), *confirmed).await?;
            let name = match found.title.is_empty() {
                true => "imported".to_owned(),
                false => found.title,
            };
            let setup = Setup {
                config_dir: config_dir.clone(),
                ..Setup::default()
            };
            let mut row = made(*id, found.cwd, setup, name);
            row.conversation = Some(conversation.clone());
            row.origin = Some("import".to_owned());
            Ok(Made {
                row,
                message: None,
                rules_of: None,
            })
        }
        _ => Err(ControlError::invalid("this makes no session")),
    }
}

/// A session that goes on from the conversation of another one, in a worktree of its own where that one has one.
async fn forked(
    inner: &Arc<Inner>,
    from: SessionId,
    id: SessionId,
    message: Option<Message>,
    worktree: ForkWorktree,
) -> Result<Made> {
    let old = inner.store.read(move |it| sessions::get(it, from)).await?;
    if old.conversation.is_none() {
        return Err(ControlError::not_now(
            "there is no conversation yet that could be forked: send a message first",
        ));
    }
    let mut setup = old.setup.clone();
    setup.mode = old.mode.for_next_agent();
    let mut row = made(id, old.cwd.clone(), setup, format!("{} (fork)", old.name));
    row.parent = Some(old.id);
    row.origin = Some("fork".to_owned());
    row.worktree = old.worktree.clone();
    if old.worktree.is_some() && worktree == ForkWorktree::Own {
        give_worktree(inner, &mut row, &old).await?;
    }
    Ok(Made {
        row,
        message,
        rules_of: Some(old.id),
    })
}

/// Makes a worktree for a fork, from the last commit of the one that `old` has.
async fn give_worktree(inner: &Arc<Inner>, row: &mut SessionRow, old: &SessionRow) -> Result<()> {
    if !finds_conversations_elsewhere(old.version.as_deref()) {
        return Err(ControlError::not_now(format!(
            "Claude Code {} resumes a conversation only in the folder where it began: fork in the same worktree, or update it",
            old.version.as_deref().unwrap_or_default()
        )));
    }
    let theirs = worktree_of(old)?;
    let order = crate::worktree::Order {
        session: row.id,
        cwd: &old.cwd,
        new: &NewWorktree::default(),
        name: &row.name,
        env: &row.setup.env,
        now: now(),
    };
    let created = inner.worktrees.create_beside(order, &theirs).await;
    let mut worktree = created
        .map_err(|error| ControlError::not_now(error.to_string()))?
        .worktree;
    // Rules know a repository by its own folder, not by that of another worktree.
    worktree.repo = theirs.repo;
    row.cwd = worktree.cwd.clone();
    let told = format!(
        "This conversation is a fork. It was begun in {} and goes on in {}, a git worktree of its own on the branch {}, which holds \
         what was committed there. Work in {} alone; changes that were not committed are not in it.",
        old.cwd.display(),
        row.cwd.display(),
        worktree.branch,
        row.cwd.display(),
    );
    let before = row.setup.append_system_prompt.take();
    let added = before.map_or_else(|| told.clone(), |before| format!("{before}\n\n{told}"));
    row.setup.append_system_prompt = Some(added);
    row.worktree = serde_json::to_value(&worktree).ok();
    Ok(())
}

/// Whether a CLI of this version finds a conversation that was begun in another folder.
fn finds_conversations_elsewhere(version: Option<&str>) -> bool {
    let version = version.and_then(|version| version.parse::<Version>().ok());
    version.is_none_or(|version| version >= FINDS_ELSEWHERE)
}

/// A session of its own, in the worktree that it wants.
async fn started(inner: &Arc<Inner>, new: &NewSession) -> Result<Made> {
    let mut setup = new.setup.clone();
    check(&mut setup)?;
    let mode = first_mode(&mut setup, new.prompt.is_some())?;
    if !new.cwd.is_absolute() || !new.cwd.is_dir() {
        return Err(ControlError::invalid(format!(
            "{} is no folder: name one that is there, from the root on",
            new.cwd.display()
        )));
    }
    check_added(&setup, &new.cwd)?;
    desk::check(&setup, &new.cwd, &inner.settings.agents)?;
    desk::check_version(&setup, &inner.settings.agents).await?;
    if let Some(model) = &setup.model {
        model_names::check(inner, model, &setup).await?;
    }
    if let Some(prompt) = &new.prompt {
        prompt.says_something()?;
    }
    let name = name_of(&setup, new.prompt.as_ref());
    let mut row = made(new.id, new.cwd.clone(), setup, name);
    row.mode = mode;
    if let Some(wanted) = &new.worktree {
        let order = crate::worktree::Order {
            session: new.id,
            cwd: &new.cwd,
            new: wanted,
            name: &row.name,
            env: &row.setup.env,
            now: now(),
        };
        let created = inner.worktrees.create(order).await;
        let created = created.map_err(|error| ControlError::invalid(error.to_string()))?;
        row.cwd = created.worktree.cwd.clone();
        row.worktree = serde_json::to_value(&created.worktree).ok();
    }
    Ok(Made {
        row,
        message: new.prompt.clone(),
        rules_of: None,
    })
}

fn made(id: SessionId, cwd: PathBuf, setup: Setup, name: String) -> SessionRow {
    let mut row = SessionRow::new(id, cwd, setup, now());
    row.name = name;
    row
}

fn check(setup: &mut Setup) -> Result<()> {
    setup.budget_usd = budget::sound(setup.budget_usd)?;
    if let Some(name) = &setup.name
        && (name.trim().is_empty() || name.chars().count() > LONGEST_NAME)
    {
        return Err(ControlError::invalid("a name has 1 to 200 letters"));
    }
    Ok(())
}

/// What counts as the working folder, too, has to be there: what comes later may be anybody's.
fn check_added(setup: &Setup, cwd: &Path) -> Result<()> {
    let missing = setup.add_dirs.iter().find(|dir| !cwd.join(dir).is_dir());
    match missing {
        Some(dir) => Err(ControlError::invalid(format!(
            "{} is no folder that could be added: make it first, or leave it out",
            dir.display()
        ))),
        None => Ok(()),
    }
}

/// The mode of the first agent. Hands-off is for that one alone, so the setup, which is for all, does not keep it.
fn first_mode(setup: &mut Setup, begins: bool) -> Result<Mode> {
    let mode = setup.mode;
    if let Mode::HandsOff { until } = mode {
        Desk::check_until(until, now())?;
        if !begins {
            return Err(ControlError::invalid(
                "hands-off is given to an agent that runs: say what it is to do, or choose it later",
            ));
        }
    }
    setup.mode = mode.for_next_agent();
    Ok(mode)
}

/// The first line of the first message, or what was chosen.
fn name_of(setup: &Setup, prompt: Option<&Message>) -> String {
    if let Some(name) = &setup.name {
        return name.clone();
    }
    let text = prompt.map_or("", |prompt| prompt.text.trim());
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None if line.is_empty() => "new session".to_owned(),
        None => line.to_owned(),
    }
}

/// Whether a conversation can be imported, and what it is.
async fn import(
    inner: &Arc<Inner>,
    conversation: &str,
    cwd: &Path,
    config_dir: Option<PathBuf>,
    confirmed: bool,
) -> Result<Importable> {
    let id = conversation.to_owned();
    let ours = inner
        .store
        .read(move |it| sessions::by_conversation(it, &id))
        .await?;
    if let Some(ours) = ours.first() {
        return Err(ControlError::Conflict {
            first: format!(
                "session {} has this conversation already: resume that one",
                ours.id
            ),
            holds: None,
        });
    }
    let transcripts = match config_dir {
        Some(folder) => Transcripts::at(folder),
        None => inner.transcripts()?,
    };
    let (conversation, cwd) = (conversation.to_owned(), cwd.to_owned());
    let checked = tokio::task::spawn_blocking(move || {
        let world = World::look(transcripts.config_dir());
        let wanted = Wanted {
            conversation: &conversation,
            cwd: &cwd,
            confirmed,
        };
        crate::import::check(&transcripts, wanted, &world, now())
    });
    checked.await.unwrap_or_else(|error| {
        Err(ControlError::Unknown {
            why: error.to_string(),
        })
    })
}

/// The worktree of a session.
pub(crate) fn worktree_of(row: &SessionRow) -> Result<Worktree> {
    let Some(tree) = &row.worktree else {
        return Err(ControlError::not_now(
            "this session has no worktree of its own",
        ));
    };
    serde_json::from_value(tree.clone())
        .map_err(|error| ControlError::invalid(format!("its worktree is unreadable: {error}")))
}

/// The difference of a session's worktree to its base.
pub(crate) async fn diff(inner: &Arc<Inner>, row: &SessionRow) -> Result<String> {
    let tree = worktree_of(row)?;
    let diff = inner.worktrees.diff(&tree).await;
    diff.map_err(|error| ControlError::not_now(error.to_string()))
}

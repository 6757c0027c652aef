//! Which CLI the agents are: the one a person names, the one that is found, or a scripted one.
//!
//! Owns the choice and what is said about it. Invariant: a scripted agent never passes for a real one: it is said wherever a
//! session can be begun. It works in folders of its own, so nothing of the person's CLI is touched by it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use countersign_client::options::{
    ChildEnv, Cli, LocateError, Located, Surroundings, probe_version,
};

/// How long `--version` may take. A cold start of the slowest takes two seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The scenario that new people meet.
const TOUR: &str = "tour";

/// What answers.
#[derive(Debug, Clone)]
pub(crate) struct Agents {
    /// The command, with its first arguments.
    pub(crate) command: Vec<String>,
    /// Variables for all of them.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Its version, where it told.
    pub(crate) version: Option<String>,
    /// Why they are scripted; none if they are not.
    pub(crate) rehearsal: Option<Rehearsal>,
}

/// Scripted agents.
#[derive(Debug, Clone)]
pub(crate) struct Rehearsal {
    pub(crate) why: Why,
    /// The folder they work in, where nothing of the person's lies.
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    Asked,
    NoClaude,
}

impl Agents {
    /// Finds what answers.
    ///
    /// # Errors
    /// When the command that a person named is not there, or scripted agents have no folder.
    pub(crate) async fn find(
        claude: Option<String>,
        rehearsal: bool,
        data: &Path,
    ) -> anyhow::Result<Self> {
        if rehearsal {
            return Self::scripted(Why::Asked, data);
        }
        let around = Surroundings::of_this_process();
        let cli = claude.clone().map_or(Cli::Search, Cli::Line);
        match cli.locate(&around) {
            Ok(located) => Ok(Self::real(&located, around).await),
            Err(LocateError::NotFound { .. }) if claude.is_none() => {
                Self::scripted(Why::NoClaude, data)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn real(located: &Located, around: Surroundings) -> Self {
        let env = ChildEnv::from_iter(around.env);
        let version = probe_version(located, &env, PATIENCE).await;
        let version = version.inspect_err(|error| tracing::warn!(%error, "no version"));
        let text = |word: &std::ffi::OsStr| word.to_string_lossy().into_owned();
        let first = text(located.program.as_os_str());
        Self {
            command: std::iter::once(first)
                .chain(located.args.iter().map(|word| text(word)))
                .collect(),
            env: Vec::new(),
            version: version.ok().map(|version| version.to_string()),
            rehearsal: None,
        }
    }

    fn scripted(why: Why, data: &Path) -> anyhow::Result<Self> {
        let program =
            std::env::current_exe().context("the system does not say where this program is")?;
        let program = program
            .to_str()
            .context("this program lies in a folder whose name is no UTF-8")?;
        let words = [program, "rehearse", "cli", "--scenario", TOUR];
        let beside = beside(data);
        let (folder, config) = (beside.join("project"), beside.join("claude"));
        for dir in [&beside, &folder, &config] {
            make_private(dir).with_context(|| {
                format!("the folder {} for rehearsals cannot be made", dir.display())
            })?;
        }
        Ok(Self {
            command: words.map(str::to_owned).to_vec(),
            env: vec![("CLAUDE_CONFIG_DIR".into(), config.into())],
            version: None,
            rehearsal: Some(Rehearsal { why, folder }),
        })
    }

    /// In a sentence.
    pub(crate) fn said(&self) -> String {
        match &self.rehearsal {
            None => {
                let version = self.version.as_deref().unwrap_or("of an unknown version");
                format!("claude {version} ({})", self.command.join(" "))
            }
            Some(Rehearsal {
                why: Why::Asked, ..
            }) => "rehearsal: scripted agents, no model, no account".to_owned(),
            Some(Rehearsal {
                why: Why::NoClaude, ..
            }) => format!(
                "rehearsal: no claude was found, so scripted agents answer (no model, no account). Install it with `{}` and start again",
                countersign_client::options::INSTALL
            ),
        }
    }
}

/// `countersign-rehearsal` beside the data folder, which is closed to agents.
fn beside(data: &Path) -> PathBuf {
    let name = data.file_name().unwrap_or("countersign".as_ref());
    let mut name = name.to_owned();
    name.push("-rehearsal");
    data.with_file_name(name)
}

fn make_private(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rehearsals_lie_beside_the_data_folder_not_in_it() {
        assert_eq!(
            beside(Path::new("/x/countersign")),
            Path::new("/x/countersign-rehearsal")
        );
    }

    #[test]
    fn scripted_agents_are_always_said_to_be_so() {
        let place = tempfile::tempdir().unwrap();
        for why in [Why::Asked, Why::NoClaude] {
            let agents = Agents::scripted(why, &place.path().join("data")).unwrap();
            assert!(
                agents.said().starts_with("rehearsal: "),
                "{}",
                agents.said()
            );
            assert!(agents.rehearsal.unwrap().folder.is_dir());
        }
    }
}

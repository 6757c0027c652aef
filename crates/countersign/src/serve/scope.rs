//! Keepers outlive a restart of the unit that runs the daemon.
//!
//! Owns the question whether the user's systemd answers, and the command that puts each keeper into a scope of its own then.
//! Elsewhere the unit's `KillMode=process` does it. Invariant: whatever is not there, agents start as they would without.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use countersign_keeper::KeeperCommand;

/// How long systemd may take to make a scope.
const PATIENCE: Duration = Duration::from_secs(3);

/// What systemd needs to know of the user's manager.
const VARIABLES: [&str; 2] = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

/// What comes before the command of a scope.
const SCOPE: [&str; 5] = ["--user", "--scope", "--quiet", "--collect", "--"];

/// Whether this process is a unit of systemd.
pub(crate) fn is_unit() -> bool {
    std::env::var_os("INVOCATION_ID").is_some()
}

/// The command with a scope around it, if systemd makes one; else as it is.
pub(crate) async fn of_its_own(keeper: KeeperCommand) -> KeeperCommand {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("systemd-run"));
    let Some(program) = { found }.find(|file| file.is_file()) else {
        return keeper;
    };
    match answers(&program).await {
        true => around(keeper, program, |name| std::env::var_os(name)),
        false => {
            tracing::info!("systemd makes no scopes for this user: keepers stay in the unit");
            keeper
        }
    }
}

async fn answers(program: &Path) -> bool {
    let mut command = tokio::process::Command::new(program);
    command
        .args(SCOPE)
        .arg("true")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let ran = tokio::time::timeout(PATIENCE, command.status()).await;
    matches!(ran, Ok(Ok(status)) if status.success())
}

fn around(
    keeper: KeeperCommand,
    program: PathBuf,
    variable: impl Fn(&str) -> Option<OsString>,
) -> KeeperCommand {
    let mut args: Vec<OsString> = SCOPE.map(OsString::from).to_vec();
    args.push(keeper.program.into());
    args.extend(keeper.args);
    let mut env = keeper.env;
    env.extend(
        VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).into(), variable(name)?))),
    );
    KeeperCommand { program, args, env }
}

/// Whether agents end when the user logs out: a word about it, if so.
pub(crate) fn about_linger() -> Option<String> {
    let user = std::env::var("USER").ok()?;
    let is_plain = user
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let lingers = is_plain && Path::new("/var/lib/systemd/linger").join(&user).exists();
    (!lingers).then(|| "linger is off for this user: everything ends when you log out, unless you run `loginctl enable-linger`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keeper_stands_behind_what_makes_the_scope() {
        let keeper = KeeperCommand {
            program: "/x/countersign".into(),
            args: vec!["keeper".into()],
            env: Vec::new(),
        };
        let scoped = around(keeper, "/bin/systemd-run".into(), |name| {
            (name == "XDG_RUNTIME_DIR").then(|| "/run/user/7".into())
        });
        let args: Vec<_> = scoped
            .args
            .iter()
            .map(|arg| arg.to_str().unwrap())
            .collect();
        assert_eq!(
            args,
            [
                "--user",
                "--scope",
                "--quiet",
                "--collect",
                "--",
                "/x/countersign",
                "keeper"
            ]
        );
        assert_eq!(
            scoped.env,
            [("XDG_RUNTIME_DIR".into(), "/run/user/7".into())]
        );
    }

    #[tokio::test]
    async fn a_program_that_makes_no_scope_is_not_used() {
        assert!(!answers(Path::new("/bin/false")).await);
        assert!(!answers(Path::new("/nowhere/systemd-run")).await);
    }
}

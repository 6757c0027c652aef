//! What a call that is asked about would destroy, as it is shown to who decides.
//!
//! Owns the way from a stored question to [`Harm`]. Made anew at every look, from the input: nothing of it is stored. Who
//! looks at a question that is over is not told any more: the disk has changed since, and reading a command has its price.

use std::path::{Path, PathBuf};

use countersign_policy::{Call, LOST, Place, RealDisk};
use serde_json::Value;

use crate::control::approval::{Harm, HarmKind};

/// How the CLI's own safety check begins where it holds something for destructive.
const DANGEROUS: &str = "Dangerous ";

/// What is known of a question about a call.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// Why policy asked.
    pub reason: &'a str,
    /// What the CLI says about it.
    pub remark: Option<&'a str>,
    /// The folder of the session.
    pub cwd: &'a Path,
    /// More folders that count as inside.
    pub add_dirs: &'a [PathBuf],
    /// The agent's home.
    pub home: Option<&'a Path>,
}

/// What the call would destroy, or that nobody can tell.
pub fn harm(facts: &Facts<'_>) -> Option<Harm> {
    let place = Place {
        cwd: facts.cwd,
        add_dirs: facts.add_dirs,
        home: facts.home,
        own: &[],
        disk: &RealDisk,
    };
    let call = Call::new(facts.tool, facts.input.clone());
    let (does, parts, unread) = match countersign_policy::harm(&call, &place) {
        countersign_policy::Harm::None => (String::new(), Vec::new(), None),
        countersign_policy::Harm::Destructive { does, parts } => (does.join(" and "), parts, None),
        countersign_policy::Harm::Unread { why } => (String::new(), Vec::new(), Some(why)),
    };
    let lost = facts.reason.strip_prefix(LOST);
    let lost = lost.map(|why| why.trim_end_matches('.'));
    let warned = facts.remark.and_then(|said| said.lines().next());
    let warned = warned.filter(|said| said.starts_with(DANGEROUS));
    let says = match (does.as_str(), lost, warned) {
        ("", None, None) => {
            return unread.map(|why| Harm {
                kind: HarmKind::Unread,
                says: why,
                parts: Vec::new(),
            });
        }
        ("", None, Some(said)) => format!("is held for dangerous by the CLI: {said}"),
        ("", Some(why), _) => format!("takes away what is too much to lose: {why}"),
        (does, None, _) => does.to_owned(),
        (does, Some(why), _) => format!("{does}: {why}"),
    };
    Some(Harm {
        kind: HarmKind::Destructive,
        says,
        parts,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(tool: &str, input: &Value, reason: &str, remark: Option<&str>) -> Option<Harm> {
        harm(&Facts {
            tool,
            input,
            reason,
            remark,
            cwd: Path::new("/nowhere/project"),
            add_dirs: &[],
            home: None,
        })
    }

    fn of(command: &str, reason: &str, remark: Option<&str>) -> Option<(HarmKind, String)> {
        let input = json!({"command": command});
        said("Bash", &input, reason, remark).map(|harm| (harm.kind, harm.says))
    }

    #[test]
    fn what_policy_the_host_and_the_cli_see_is_one_sentence() {
        let destructive = |says: &str| Some((HarmKind::Destructive, says.to_owned()));
        let no_rule = "No rule allows this command.";
        assert_eq!(of("cargo test", no_rule, None), None);
        assert_eq!(of("rm -rf x", no_rule, None), destructive("removes files"));
        assert_eq!(
            of("rm -rf x; git reset --hard", no_rule, None),
            destructive("removes files and discards uncommitted changes")
        );
        let lost = "No rule takes this away: `/` belongs to the system.";
        assert_eq!(
            of("rm -rf /", lost, None),
            destructive("removes files: `/` belongs to the system")
        );
        assert_eq!(
            of("mv / x", lost, None),
            destructive("takes away what is too much to lose: `/` belongs to the system")
        );
        let warning = "Dangerous rm operation\ndetected";
        assert_eq!(
            of("ls", no_rule, Some(warning)),
            destructive("is held for dangerous by the CLI: Dangerous rm operation")
        );
        assert_eq!(of("ls", no_rule, Some("It writes settings.")), None);
    }

    #[test]
    fn what_cannot_be_read_says_so_and_no_more() {
        let (kind, says) = of("python3 -c 'x'", "No rule.", None).unwrap();
        assert_eq!(kind, HarmKind::Unread);
        assert!(says.contains("python3"), "{says}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_would_be_replaced_is_looked_for_on_the_disk() {
        let of = |path: &str| {
            let input = json!({"file_path": path, "content": "x"});
            said("Write", &input, "", None).map(|harm| (harm.kind, harm.parts))
        };
        let replaced = (HarmKind::Destructive, vec!["/etc/passwd".to_owned()]);
        assert_eq!(of("/etc/passwd"), Some(replaced));
        assert_eq!(of("/etc/no-such-file-here"), None);
    }
}

//! Traces of the machine something was made on: paths of its people, hosts it downloads from. They
//! say nothing to a reader and break elsewhere.

use super::{Finding, TextFile};

/// Folders that hold a person's files, one level down.
const HOMES: &[&str] = &[concat!("/ho", "me/"), concat!("/Us", "ers/")];
/// The administrator's own folder.
const ADMIN_HOME: &str = concat!("/ro", "ot");
/// Names that stand for anybody.
const ANYBODY: &[&str] = &["user", "you", "me"];

/// Where packages come from, by word in the host's name. The user's own tools know their hosts.
const REGISTRY_WORDS: &[&str] = &[
    "registry",
    "mirror",
    "artifactory",
    "nexus",
    "pypi",
    "pythonhosted",
];
const REGISTRY_HOSTS: &[&str] = &[
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("files.", "pythonhosted.org"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("deb.", "debian.org"),
];

/// `root` is the checkout's own path, which no file should know.
pub(super) fn machine_paths(files: &[TextFile], root: &str) -> Vec<Finding> {
    // One component, as `/app`, may well mean something else.
    let root = Some(root).filter(|root| root.matches('/').count() > 1);
    each_line(files, |file, line| {
        // Whole: a checkout in `/srv/c` is not meant by `/srv/cache`.
        let own = root.filter(|root| starts(line, root).any(|rest| word(rest).is_empty()));
        let path = own
            .map(str::to_owned)
            .or_else(|| personal_path(file, line))?;
        Some(format!(
            "{path} is a path of one machine: make it relative or write a placeholder"
        ))
    })
}

pub(super) fn registry_hosts(files: &[TextFile]) -> Vec<Finding> {
    let files = files.iter().filter(|file| !file.is_lock_file());
    each_line(files, |_, line| {
        let host = registry_host(line)?;
        Some(format!(
            "{host} is a registry's host: leave that to the user's configuration"
        ))
    })
}

fn each_line<'a>(
    files: impl IntoIterator<Item = &'a TextFile>,
    rule: impl Fn(&TextFile, &str) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let broken = file
            .lines()
            .filter_map(|(number, line)| Some((number, rule(file, line)?)));
        findings
            .extend(broken.map(|(number, message)| Finding::in_line(&file.path, number, message)));
    }
    findings
}

fn personal_path(file: &TextFile, line: &str) -> Option<String> {
    let homes = HOMES
        .iter()
        .flat_map(|home| starts(line, home).map(move |rest| (home, rest)));
    let of_person = homes.into_iter().find_map(|(home, rest)| {
        let name = word(rest);
        let somebody = !name.is_empty() && !ANYBODY.contains(&name);
        somebody.then(|| format!("{home}{name}"))
    });
    of_person.or_else(|| {
        // Code may speak of the folder itself; a recording that does was made there.
        let ends: &[char] = if file.is_rust() { &['/'] } else { &['/', '"'] };
        starts(line, ADMIN_HOME)
            .any(|rest| rest.starts_with(ends))
            .then(|| ADMIN_HOME.to_owned())
    })
}

/// What follows each place where an absolute path starts with `prefix`.
fn starts<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(prefix).filter_map(move |(at, _)| {
        let before = line[..at].chars().next_back();
        let inside =
            before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '>'));
        (!inside).then(|| &line[at + prefix.len()..])
    })
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    &text[..end.unwrap_or(text.len())]
}

fn registry_host(line: &str) -> Option<String> {
    if let Some(host) = REGISTRY_HOSTS.iter().find(|host| line.contains(**host)) {
        return Some((*host).to_owned());
    }
    line.match_indices("://").find_map(|(at, separator)| {
        let rest = &line[at + separator.len()..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-')));
        let host = &rest[..end.unwrap_or(rest.len())];
        let suspicious = host
            .split(['.', '-'])
            .any(|label| REGISTRY_WORDS.contains(&label));
        suspicious.then(|| host.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(line: &str) -> usize {
        machine_paths(&[TextFile::new("a.md", line)], "/srv/build/checkout").len()
    }

    fn hosts(line: &str) -> usize {
        registry_hosts(&[TextFile::new("a.md", line)]).len()
    }

    #[test]
    fn paths_of_people_and_of_this_checkout_are_found() {
        let home = HOMES[0];
        assert_eq!(paths(&format!("see {home}ann/src")), 1);
        assert_eq!(paths(&format!("\"cwd\":\"{}ann\"", HOMES[1])), 1);
        assert_eq!(paths(&format!("\"{ADMIN_HOME}/.claude\"")), 1);
        let folder = format!("\"{ADMIN_HOME}\"");
        assert_eq!(paths(&folder), 1);
        assert_eq!(machine_paths(&[TextFile::new("a.rs", &folder)], "/"), []);
        assert_eq!(paths("built in /srv/build/checkout/target"), 1);
    }

    #[test]
    fn placeholders_temporary_folders_and_parts_of_paths_are_fine() {
        let home = HOMES[0];
        assert_eq!(paths(&format!("{home}user/project and {home}you")), 0);
        assert_eq!(paths(&format!("$SANDBOX{home}ann")), 0);
        assert_eq!(paths("/tmp/x and /usr/bin/node"), 0);
        assert_eq!(paths("/srv/build/checkouts and /srv/build/checkout2"), 0);
        assert_eq!(
            paths(&format!(
                "workspace{ADMIN_HOME}/file, {ADMIN_HOME}s of trees"
            )),
            0
        );
    }

    #[test]
    fn registries_are_found_by_name_and_by_the_look_of_their_host() {
        assert_eq!(hosts(REGISTRY_HOSTS[0]), 1);
        assert_eq!(hosts(concat!("https://npm.regi", "stry.corp.example/x")), 1);
        assert_eq!(hosts(concat!("http://mir", "ror.example:8080")), 1);
        assert_eq!(
            hosts("https://docs.rs/tokio and https://github.com/a/registry"),
            0
        );
        assert_eq!(hosts("the npm registry"), 0);
    }

    #[test]
    fn lock_files_may_name_their_registry() {
        let lock = TextFile::new("Cargo.lock", REGISTRY_HOSTS[3]);
        assert_eq!(registry_hosts(&[lock]), []);
    }
}

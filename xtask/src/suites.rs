//! The suites of `cargo xtask test`, as data. A new suite is a row here and, if it needs something
//! new, a variant of [`Need`] or [`Work`]. Nothing in this file runs anything.
//!
//! Invariant: every test of the workspace belongs to exactly one suite, since `unit` takes what no
//! other row claims.

use countersign_testkit::fetch::{NEWEST, PYTHON_SDK, Pinned, SCHEMATHESIS, Sdk, TYPESCRIPT_SDK};

use crate::conformance;
use crate::fetch::Item;
use crate::tools::{DENY, NEXTEST, Tool};

/// One row of the closing summary.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    /// The row of the budget table in CONTRIBUTING.md it counts under.
    pub(crate) part: &'static str,
    pub(crate) what: &'static str,
    pub(crate) needs: &'static [Need],
    pub(crate) work: Work,
    pub(crate) when: When,
}

/// What must be there before a suite can run. What is not makes it skipped by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// That version of the real CLI; `newest` is one.
    Claude(&'static str),
    /// That SDK, whatever CLI it drives.
    Sdk(&'static Sdk),
    Tool(&'static Tool),
    /// Root, and `setpriv` to become somebody else.
    SecondUser,
    /// A mount namespace, to lay a small disk somewhere.
    MountNamespace,
    /// A program of the system, told by its package.
    Program(&'static str),
    /// Node.js' package manager, for the page.
    Npm,
    /// A browser, for the page.
    Chromium,
    /// A nightly toolchain; exempt from `--strict`.
    Nightly,
}

/// What a suite does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Builds everything once for all suites.
    Build,
    /// `cargo xtask check`.
    Check,
    /// The tests that match a nextest filter, and who runs them.
    Tests(&'static str, Whose),
    /// The client's tests on the real CLIs, and the page made of them.
    Conformance,
    /// The tests that no other suite claims, and the doctests.
    Unclaimed,
    /// The web page: types, tests, bundle, and the page in a browser.
    Page,
    /// A script of `scripts/`, on the program of the shared build.
    Script(&'static str),
    /// The page's first steps, with a server that root runs.
    PageAsRoot,
    /// Every fuzz target over its seeds, without new inputs.
    FuzzSeeds,
}

/// Who runs the tests of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Whoever runs `cargo xtask`.
    Caller,
    /// A user without rights, also where root runs `cargo xtask`: root can read what the product's users cannot.
    OrdinaryUser,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// Only if the suite is named on the command line.
    Named,
}

const fn real_cli(
    name: &'static str,
    what: &'static str,
    needs: &'static [Need],
    filter: &'static str,
) -> Suite {
    Suite {
        name,
        part: "real CLI",
        what,
        needs,
        work: Work::Tests(filter, Whose::Caller),
        when: When::Always,
    }
}

pub(crate) const SUITES: &[Suite] = &[
    Suite {
        name: "build",
        part: "build",
        what: "everything once, for all suites",
        needs: &[],
        work: Work::Build,
        when: When::Always,
    },
    Suite {
        name: "check",
        part: "rest",
        what: "format, lints, docs, dependencies, generated files, house rules",
        needs: &[],
        work: Work::Check,
        when: When::Always,
    },
    Suite {
        name: "unit",
        part: "rest",
        what: "every test that no other suite claims, and the doctests",
        needs: &[Need::Tool(&NEXTEST)],
        work: Work::Unclaimed,
        when: When::Always,
    },
    real_cli(
        "real-cli newest",
        "the real CLI on the scripted model: the newest tested version",
        &[Need::Tool(&NEXTEST), Need::Claude(NEWEST)],
        "(binary(real_cli) | binary(history_real) | binary(experiments) | binary(drift) | binary(seen_real) | binary(run) | binary(desk) | binary(plans) | binary(versions)) & test(/(^|::)newest::/) - test(other_user)",
    ),
    real_cli(
        "real-cli 2.1.200",
        "every scenario, and the flows of `run` and of the daemon, on a version between",
        &[Need::Tool(&NEXTEST), Need::Claude("2.1.200")],
        "(binary(real_cli) | binary(drift) | binary(run) | binary(versions)) & test(/(^|::)v2_1_200::/) - test(other_user)",
    ),
    real_cli(
        "real-cli 2.1.62",
        "the same scenarios on an older version",
        &[Need::Tool(&NEXTEST), Need::Claude("2.1.62")],
        "(binary(real_cli) | binary(history_real) | binary(experiments) | binary(drift) | binary(seen_real) | binary(run) | binary(desk) | binary(plans) | binary(versions)) & test(/(^|::)v2_1_62::/) - test(other_user)",
    ),
    real_cli(
        "real-cli 2.0.75",
        "the same scenarios on an even older version",
        &[Need::Tool(&NEXTEST), Need::Claude("2.0.75")],
        "(binary(real_cli) | binary(history_real) | binary(experiments) | binary(drift) | binary(seen_real) | binary(run) | binary(desk) | binary(plans) | binary(versions)) & test(/(^|::)v2_0_75::/) - test(other_user)",
    ),
    real_cli(
        "real-cli oldest",
        "what `run` and the daemon do on the oldest version that works, and on one from the time after it",
        &[
            Need::Tool(&NEXTEST),
            Need::Claude("2.0.30"),
            Need::Claude("1.0.128"),
        ],
        "(binary(real_cli) | binary(run) | binary(versions)) & test(/(^|::)(v2_0_30|v1_0_128)::/)",
    ),
    Suite {
        name: "conformance",
        part: "real CLI",
        what: "the client on the versions whose features are listed, and docs/conformance.md as it says",
        needs: &[
            Need::Tool(&NEXTEST),
            Need::Claude(NEWEST),
            Need::Claude("2.1.62"),
            Need::Claude("2.0.75"),
        ],
        work: Work::Conformance,
        when: When::Always,
    },
    real_cli(
        "isolation",
        "nothing of the caller is visible to the real CLI, and nothing of it stays behind",
        &[Need::Tool(&NEXTEST), Need::Claude(NEWEST)],
        "binary(isolation)",
    ),
    real_cli(
        "twins",
        "the scripted CLI agrees with the real one, line by line",
        &[Need::Tool(&NEXTEST), Need::Claude(NEWEST)],
        "binary(twins) & test(/^live::/)",
    ),
    Suite {
        name: "terminal",
        part: "real CLI",
        what: "`countersign run` in a terminal: both CLIs, two sizes, one picture",
        needs: &[
            Need::Tool(&NEXTEST),
            Need::Program("tmux"),
            Need::Claude(NEWEST),
        ],
        work: Work::Tests("binary(tmux)", Whose::OrdinaryUser),
        when: When::Always,
    },
    real_cli(
        "other-user",
        "the real CLI run by a user who is not root",
        &[
            Need::Tool(&NEXTEST),
            Need::SecondUser,
            Need::Claude(NEWEST),
            Need::Claude("2.1.200"),
            Need::Claude("2.1.62"),
            Need::Claude("2.0.75"),
        ],
        "test(other_user)",
    ),
    Suite {
        name: "sdks",
        part: "SDKs",
        what: "the official Python and TypeScript SDKs, unchanged, on the scripted CLI",
        needs: &[
            Need::Tool(&NEXTEST),
            Need::Sdk(&PYTHON_SDK),
            Need::Sdk(&TYPESCRIPT_SDK),
        ],
        work: Work::Tests("binary(sdks)", Whose::Caller),
        when: When::Always,
    },
    Suite {
        name: "api",
        part: "API",
        what: "the server from outside: sign-in, security, streams, the daemon and its commands",
        needs: &[Need::Tool(&NEXTEST)],
        work: Work::Tests(
            "(package(countersign-server) & kind(test) - binary(contract)) | (package(countersign) & (binary(serve) | binary(terminal)) - test(/^disk::/))",
            Whose::OrdinaryUser,
        ),
        when: When::Always,
    },
    Suite {
        name: "ordinary-user",
        part: "API",
        what: "daemon, page, API, terminal and approvals for a user without rights, with a live agent",
        needs: &[Need::Program("curl")],
        work: Work::Script("scripts/ordinary-user.sh"),
        when: When::Always,
    },
    Suite {
        name: "contract",
        part: "API",
        what: "the live server against its own OpenAPI document, by schemathesis",
        needs: &[Need::Tool(&NEXTEST), Need::Sdk(&SCHEMATHESIS)],
        work: Work::Tests("binary(contract)", Whose::Caller),
        when: When::Always,
    },
    Suite {
        name: "faults scripted",
        part: "faults",
        what: "kills, full disks, lost power on the scripted CLI (`--long` for ten times as much)",
        needs: &[Need::Tool(&NEXTEST)],
        work: Work::Tests(
            "(binary(faults) | binary(host_faults)) - test(/(^|::)newest::/) - test(/^disk::/)",
            Whose::OrdinaryUser,
        ),
        when: When::Always,
    },
    Suite {
        name: "disk",
        part: "faults",
        what: "a full disk under keeper and daemon, on a small file system of its own",
        needs: &[Need::Tool(&NEXTEST), Need::MountNamespace],
        work: Work::Tests(
            "(binary(faults) | (package(countersign) & binary(serve))) & test(/^disk::/)",
            Whose::Caller,
        ),
        when: When::Always,
    },
    Suite {
        name: "faults newest",
        part: "faults",
        what: "the same on the real CLI",
        needs: &[Need::Tool(&NEXTEST), Need::Claude(NEWEST)],
        work: Work::Tests(
            "(binary(faults) | binary(host_faults)) & test(/(^|::)newest::/)",
            Whose::OrdinaryUser,
        ),
        when: When::Always,
    },
    Suite {
        name: "page",
        part: "browser",
        what: "the web page: types, tests, the size of its bundle, and its flows in a real browser",
        needs: &[Need::Npm, Need::Chromium],
        work: Work::Page,
        when: When::Always,
    },
    Suite {
        name: "root",
        part: "root",
        what: "as root, what the suites above ran as an ordinary user: security, the daemon, a terminal, a few kills",
        needs: &[
            Need::Tool(&NEXTEST),
            Need::SecondUser,
            Need::Program("tmux"),
        ],
        work: Work::Tests(AS_ROOT, Whose::Caller),
        when: When::Always,
    },
    Suite {
        name: "page-root",
        part: "root",
        what: "the page's first steps, with a daemon that root runs",
        needs: &[Need::SecondUser, Need::Npm, Need::Chromium],
        work: Work::PageAsRoot,
        when: When::Always,
    },
    Suite {
        name: "fuzz-seeds",
        part: "rest",
        what: "the fuzz targets over their seeds (only when named)",
        needs: &[Need::Nightly],
        work: Work::FuzzSeeds,
        when: When::Named,
    },
];

/// What is run a second time, as root, if that is who we are. Small: what root may do is more than what others may, so little
/// can fail for root alone.
const AS_ROOT: &str = "(package(countersign-server) & binary(security)) \
    | (package(countersign) & binary(serve)) \
    | (binary(tmux) & test(/scripted/)) \
    | (binary(host_faults) & (test(/^folders::/) | test(/^rounds_host::scripted::killed_anywhere/)))";

/// The nextest filter for what no suite claims.
pub(crate) fn unclaimed_filter() -> String {
    let claimed = SUITES.iter().filter_map(|suite| match suite.work {
        Work::Tests(filter, _) => Some(format!("({filter})")),
        Work::Conformance => Some(format!("({})", conformance::FILTER)),
        _ => None,
    });
    format!("not ({})", claimed.collect::<Vec<_>>().join(" | "))
}

/// The suites a command line asks for, in the order of the table; the shared build comes along
/// whenever tests run. `real-cli` means all versions of it.
pub(crate) fn select(names: &[String]) -> anyhow::Result<Vec<&'static Suite>> {
    for name in names {
        if !SUITES.iter().any(|suite| suite.is_called(name)) {
            let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
            anyhow::bail!(
                "there is no suite {name:?}; there are: {}",
                known.join(", ")
            );
        }
    }
    let asked = |suite: &Suite| match names {
        [] => suite.when == When::Always,
        names => names.iter().any(|name| suite.is_called(name)),
    };
    let build_too = SUITES
        .iter()
        .any(|suite| asked(suite) && suite.work.uses_the_build());
    let wanted = |suite: &&Suite| asked(suite) || (build_too && suite.work == Work::Build);
    Ok(SUITES.iter().filter(wanted).collect())
}

impl Suite {
    fn is_called(&self, name: &str) -> bool {
        let family = self.name.split(' ').next();
        self.name == name || family == Some(name) || self.name.replace(' ', "-") == name
    }

    /// What has to be fetched for it.
    pub(crate) fn items(&self) -> Vec<Item> {
        let mut items: Vec<Item> = self.needs.iter().filter_map(|need| need.item()).collect();
        match self.work {
            // Not a need of the whole suite: without it one step of the check is skipped.
            Work::Check => items.push(Item::Tool(&DENY)),
            // Nor this: without it the page is driven on the scripted CLI alone.
            Work::Page => items.extend(Need::Claude(NEWEST).item()),
            _ => {}
        }
        items
    }

    /// What makes tests fail rather than pass by when what they are about is not there.
    pub(crate) fn env(&self) -> Vec<(&'static str, String)> {
        let required = self.needs.iter().filter_map(|need| match need {
            Need::Claude(version) => Some(format!("claude-{version}")),
            Need::Sdk(sdk) => Some(sdk.name.to_owned()),
            Need::SecondUser => Some("other-user".to_owned()),
            Need::MountNamespace => Some("mount-namespace".to_owned()),
            Need::Program(program) => Some((*program).to_owned()),
            Need::Tool(_) | Need::Npm | Need::Chromium | Need::Nightly => None,
        });
        let required: Vec<String> = required.collect();
        if required.is_empty() {
            return Vec::new();
        }
        vec![("COUNTERSIGN_REQUIRE", required.join(","))]
    }
}

impl Need {
    pub(crate) fn item(self) -> Option<Item> {
        match self {
            Need::Claude(version) => Pinned::find(version).map(Item::Claude),
            Need::Sdk(sdk) => Some(Item::Sdk(sdk)),
            Need::Tool(tool) => Some(Item::Tool(tool)),
            Need::SecondUser
            | Need::MountNamespace
            | Need::Program(_)
            | Need::Npm
            | Need::Chromium
            | Need::Nightly => None,
        }
    }
}

impl Work {
    fn uses_the_build(self) -> bool {
        match self {
            Work::Check
            | Work::Tests(..)
            | Work::Conformance
            | Work::Unclaimed
            | Work::Page
            | Work::Script(_)
            | Work::PageAsRoot => true,
            Work::Build | Work::FuzzSeeds => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use countersign_testkit::fetch::{newest, tested};

    use super::*;
    use crate::budget::Budget;

    fn names(args: &[&str]) -> Vec<&'static str> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        select(&args)
            .unwrap()
            .iter()
            .map(|suite| suite.name)
            .collect()
    }

    #[test]
    fn a_family_name_selects_all_its_versions_and_the_build_they_need() {
        assert_eq!(
            names(&["real-cli"]),
            [
                "build",
                "real-cli newest",
                "real-cli 2.1.200",
                "real-cli 2.1.62",
                "real-cli 2.0.75",
                "real-cli oldest"
            ]
        );
        assert_eq!(names(&["real-cli-2.1.62"]), ["build", "real-cli 2.1.62"]);
        assert_eq!(names(&["fuzz-seeds"]), ["fuzz-seeds"]);
    }

    #[test]
    fn without_names_all_run_but_those_that_must_be_named() {
        assert_eq!(names(&[]).len(), SUITES.len() - 1);
        assert!(!names(&[]).contains(&"fuzz-seeds"));
    }

    #[test]
    fn an_unknown_suite_is_refused_with_the_list() {
        let error = select(&["unti".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("unti") && error.contains("real-cli 2.0.75"),
            "{error}"
        );
    }

    #[test]
    fn each_pinned_version_of_the_cli_has_its_suite_that_requires_it() {
        for pinned in tested() {
            let (called, module) = match pinned == newest() {
                true => (NEWEST, "newest::".to_owned()),
                false => (
                    pinned.version,
                    format!("v{}::", pinned.version.replace('.', "_")),
                ),
            };
            let name = format!("real-cli {called}");
            let suite = SUITES.iter().find(|suite| suite.name == name).unwrap();
            assert!(suite.items().contains(&Item::Claude(pinned)), "{name}");
            let require = ("COUNTERSIGN_REQUIRE", format!("claude-{called}"));
            assert_eq!(suite.env(), [require]);
            assert!(matches!(suite.work, Work::Tests(filter, _) if filter.contains(&module)));
        }
    }

    #[test]
    fn the_suite_of_the_sdks_requires_both_and_fetches_them() {
        let suite = SUITES.iter().find(|suite| suite.name == "sdks").unwrap();
        let require = (
            "COUNTERSIGN_REQUIRE",
            "sdk-python,sdk-typescript".to_owned(),
        );
        assert_eq!(suite.env(), [require]);
        for sdk in [&PYTHON_SDK, &TYPESCRIPT_SDK] {
            assert!(suite.items().contains(&Item::Sdk(sdk)));
        }
    }

    #[test]
    fn server_terminal_faults_and_security_run_as_an_ordinary_user_and_a_small_part_again_as_root()
    {
        let of = |name: &str| {
            let suite = SUITES.iter().find(|suite| suite.name == name).unwrap();
            let Work::Tests(filter, whose) = suite.work else {
                panic!("{name} runs no tests");
            };
            assert_eq!(suite.when, When::Always, "{name}");
            (filter, whose)
        };
        let ordinary = ["api", "terminal", "faults scripted", "faults newest"];
        let filters = ordinary.map(|name| {
            let (filter, whose) = of(name);
            assert_eq!(whose, Whose::OrdinaryUser, "{name}");
            filter
        });
        let all_of_the_server = "package(countersign-server) & kind(test) - binary(contract)";
        assert!(filters[0].contains(all_of_the_server), "{}", filters[0]);
        let (again, whose) = of("root");
        assert_eq!(whose, Whose::Caller);
        assert!(again.contains("binary(security)"), "{again}");
    }

    #[test]
    fn the_page_fetches_a_real_cli_and_runs_without_it() {
        let suite = SUITES.iter().find(|suite| suite.name == "page").unwrap();
        assert_eq!(suite.items(), [Item::Claude(newest())]);
        assert!(suite.needs.iter().all(|need| need.item().is_none()));
    }

    #[test]
    fn every_suite_that_claims_tests_is_left_out_of_the_unit_suite() {
        let unclaimed = unclaimed_filter();
        for suite in SUITES {
            if let Work::Tests(filter, _) = suite.work {
                assert!(unclaimed.contains(filter), "{} runs twice", suite.name);
            }
        }
    }

    #[test]
    fn every_suite_counts_under_a_row_of_the_budget_table() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let budget = Budget::read(root).unwrap();
        let problems = budget.problems(SUITES.iter().map(|suite| suite.part));
        assert!(problems.is_empty(), "{problems:?}");
    }
}

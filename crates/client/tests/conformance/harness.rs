//! What a case is, how it is run on one version, and where its verdict goes.
//!
//! Owns the registration (`cases!`), the deadline and the records. Knows nothing of the client. Invariant: a record
//! says `fails` until its case has ended well, so that no feature passes by not being looked at.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use countersign_testkit::demand;
use countersign_testkit::fetch::Installed;
use serde_json::{Value, json};

/// No case may take longer, even on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(100);

/// Where records go, if it is set: one file per feature and version.
const RECORDS: &str = "COUNTERSIGN_CONFORMANCE";

/// A feature: its id (`area/feature`), and in one line what is seen when it passes.
pub(crate) type Feature = (&'static str, &'static str);

/// What a version makes of a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Its effect was seen.
    Pass,
    /// It was shown that this version does not have it; the reason is what showed it.
    NotInVersion(String),
}

pub(crate) use Verdict::{NotInVersion, Pass};

/// The verdicts of one case.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    single: Option<Verdict>,
    named: BTreeMap<&'static str, Verdict>,
}

impl Verdicts {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Each of these passes.
    pub(crate) fn all(features: &[Feature]) -> Self {
        let ids = features.iter().map(|(id, _)| *id);
        ids.fold(Self::new(), Self::pass)
    }

    pub(crate) fn pass(self, feature: &'static str) -> Self {
        self.say(feature, Pass)
    }

    /// Those of `features` that are not judged yet pass.
    pub(crate) fn and_the_rest_of(self, features: &[Feature]) -> Self {
        let ids = features.iter().map(|(id, _)| *id);
        ids.fold(self, |verdicts, id| match verdicts.named.contains_key(id) {
            true => verdicts,
            false => verdicts.pass(id),
        })
    }

    pub(crate) fn say(mut self, feature: &'static str, verdict: Verdict) -> Self {
        let before = self.named.insert(feature, verdict);
        assert_eq!(before, None, "{feature} is judged twice");
        self
    }
}

/// For a case of one feature.
impl From<Verdict> for Verdicts {
    fn from(verdict: Verdict) -> Self {
        Self {
            single: Some(verdict),
            named: BTreeMap::new(),
        }
    }
}

/// The CLI a case runs on.
#[derive(Debug, Clone)]
pub(crate) struct Cli {
    pub(crate) installed: Installed,
}

/// 2.1.62, the oldest version with background tasks and an answer to every request.
pub(crate) const MIDDLE: &str = "2.1.62";
/// 2.0.75, the oldest version that is supported.
pub(crate) const OLDEST: &str = "2.0.75";

impl Cli {
    pub(crate) fn version(&self) -> &'static str {
        self.installed.pinned.version
    }

    /// Whether it has what 2.1.325 brought.
    pub(crate) fn is_newest(&self) -> bool {
        self.installed.pinned.is_at_least("2.1.325")
    }

    pub(crate) fn is(&self, version: &str) -> bool {
        self.version() == version
    }
}

/// Registers the cases of a file: one test for each version.
macro_rules! cases {
    ($($case:ident { $($id:literal => $about:literal),+ $(,)? })*) => {
        cases! { @version newest "newest" $($case)* }
        cases! { @version v2_1_62 "2.1.62" $($case)* }
        cases! { @version v2_0_75 "2.0.75" $($case)* }

        /// The features of each case here.
        mod features {
            $(pub(super) const fn $case() -> &'static [$crate::harness::Feature] {
                &[$(($id, $about)),+]
            })*
        }
    };
    (@version $module:ident $version:literal $($case:ident)*) => {
        mod $module {
            $(#[tokio::test]
            async fn $case() {
                $crate::harness::run($version, super::features::$case(), super::$case).await;
            })*
        }
    };
}

/// Runs a case on a version and records what it found.
pub(crate) async fn run<F, Fut>(version: &str, features: &[Feature], case: F)
where
    F: FnOnce(Cli) -> Fut,
    Fut: Future<Output = Verdicts>,
{
    let Some(installed) = demand::cli(version) else {
        return;
    };
    let version = installed.pinned.version;
    let records = std::env::var_os(RECORDS);
    let record = |feature: &Feature, verdict: Value| {
        if let Some(dir) = &records {
            write(Path::new(dir), version, *feature, verdict);
        }
    };
    for feature in features {
        record(feature, json!({"verdict": "fails"}));
    }
    let verdicts = tokio::time::timeout(DEADLINE, case(Cli { installed })).await;
    let mut verdicts = verdicts.unwrap_or_else(|_| panic!("no end within {DEADLINE:?}"));
    if let (Some(single), [(id, _)]) = (verdicts.single.take(), features) {
        verdicts = verdicts.say(id, single);
    }
    let judged: Vec<&str> = verdicts.named.keys().copied().collect();
    let mut declared: Vec<&str> = features.iter().map(|(id, _)| *id).collect();
    declared.sort_unstable();
    assert_eq!(judged, declared, "one verdict for each feature");
    for feature in features {
        let verdict = match &verdicts.named[feature.0] {
            Pass => json!({"verdict": "pass"}),
            NotInVersion(reason) => json!({"verdict": "absent", "reason": reason}),
        };
        record(feature, verdict);
    }
}

fn write(dir: &Path, version: &str, (id, about): Feature, mut record: Value) {
    record["version"] = version.into();
    record["feature"] = id.into();
    record["about"] = about.into();
    let name = format!("{}@{version}.json", id.replace(['/', ' '], "."));
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join(name), record.to_string()).unwrap();
}

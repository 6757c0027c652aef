//! Brings what tests need into the cache: the pinned CLIs by npm, the SDKs by npm and pip, cargo tools by `cargo install`.
//! Owns the list and its progress display. A thing that cannot be had is a value, not an error: the
//! suites that need it are skipped by name.

use std::time::{Duration, Instant};

use countersign_testkit::fetch::{self as cli, Pinned, Progress, SDKS, Sdk};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::out::{self, Format};
use crate::tools::{DENY, NEXTEST, Tool};
use crate::workspace::Workspace;

/// Something from outside this repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Claude(&'static Pinned),
    Sdk(&'static Sdk),
    Tool(&'static Tool),
}

/// Everything that `cargo xtask test` may need.
pub(crate) fn everything() -> Vec<Item> {
    let claudes = cli::tested().map(Item::Claude);
    let sdks = SDKS.iter().map(|sdk| Item::Sdk(sdk));
    claudes
        .chain(sdks)
        .chain([Item::Tool(&NEXTEST), Item::Tool(&DENY)])
        .collect()
}

impl Item {
    pub(crate) fn name(self) -> String {
        match self {
            Item::Claude(pinned) => format!("claude {}", pinned.version),
            Item::Sdk(sdk) => sdk.name.to_owned(),
            Item::Tool(tool) => tool.name.to_owned(),
        }
    }

    fn from(self) -> String {
        match self {
            Item::Claude(pinned) => format!(
                "npm {} ({} MB)",
                pinned.spec(),
                pinned.download_bytes / 1_000_000
            ),
            Item::Sdk(sdk) => format!("{} {}", sdk.registry(), sdk.spec()),
            Item::Tool(tool) => format!("cargo install {}@{}", tool.name, tool.version),
        }
    }

    pub(crate) fn present(self, workspace: &Workspace) -> bool {
        match self {
            Item::Claude(pinned) => cli::installed(&workspace.cache, pinned).is_some(),
            Item::Sdk(sdk) => sdk.installed(&workspace.cache).is_some(),
            Item::Tool(tool) => tool.found(workspace).is_some(),
        }
    }
}

/// What came of the fetching.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    /// Each item that is not there, with the reason.
    missing: Vec<(Item, String)>,
}

impl Fetched {
    /// Why the item is not there; `None` if it is.
    pub(crate) fn why_missing(&self, item: Item) -> Option<&str> {
        let found = self.missing.iter().find(|(other, _)| *other == item);
        found.map(|(_, reason)| reason.as_str())
    }
}

/// `cargo xtask fetch`.
pub(crate) fn command(workspace: &Workspace, list: bool, format: Format) -> anyhow::Result<bool> {
    let items = everything();
    let fetched = if list {
        Fetched::default()
    } else {
        bring(workspace, &items)
    };
    let rows: Vec<Row> = items
        .iter()
        .map(|item| Row {
            name: item.name(),
            from: item.from(),
            present: item.present(workspace),
            missing_because: fetched.why_missing(*item).map(str::to_owned),
        })
        .collect();
    match format {
        Format::Json => out::say_json(&rows)?,
        Format::Text => {
            out::say(format_args!("cache: {}", workspace.cache.display()));
            for row in &rows {
                let state = if row.present { "present" } else { "missing" };
                out::say(format_args!("{state}  {:<16} {}", row.name, row.from));
                if let Some(reason) = &row.missing_because {
                    out::say(format_args!("         {reason}"));
                }
            }
        }
    }
    Ok(fetched.missing.is_empty())
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    from: String,
    present: bool,
    missing_because: Option<String>,
}

/// Makes sure the items are in the cache; downloads run beside builds.
pub(crate) fn bring(workspace: &Workspace, items: &[Item]) -> Fetched {
    let absent: Vec<Item> = items
        .iter()
        .copied()
        .filter(|item| !item.present(workspace))
        .collect();
    if absent.is_empty() {
        return Fetched::default();
    }
    let board = Board::new(absent.len());
    let (downloads, tools): (Vec<Item>, Vec<Item>) = absent
        .into_iter()
        .partition(|item| matches!(item, Item::Claude(_) | Item::Sdk(_)));
    let lane = |items: Vec<Item>| {
        let bring = |item| Some((item, bring_one(workspace, item, &board).err()?));
        items.into_iter().filter_map(bring).collect::<Vec<_>>()
    };
    let missing = std::thread::scope(|scope| {
        let downloads = scope.spawn(|| lane(downloads));
        let mut missing = lane(tools);
        match downloads.join() {
            Ok(more) => missing.extend(more),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        missing
    });
    board.close();
    Fetched { missing }
}

fn bring_one(workspace: &Workspace, item: Item, board: &Board) -> Result<(), String> {
    let line = board.start(item);
    let result = match item {
        Item::Claude(pinned) => {
            cli::install(&workspace.cache, pinned, &mut |progress| match progress {
                Progress::Unpacking => line.step("unpacking"),
                _ => line.step("downloading"),
            })
            .map(|_| ())
            .map_err(|error| error.to_string())
        }
        Item::Sdk(sdk) => sdk
            .install(&workspace.cache, &mut |step| line.step(step))
            .map(|_| ())
            .map_err(|error| error.to_string()),
        Item::Tool(tool) => tool
            .install(workspace, &mut |step| line.step(step))
            .map_err(|error| format!("{error:#}")),
    };
    line.finish(&result);
    result
}

/// The progress display: bars on a terminal, plain lines elsewhere.
struct Board {
    bars: MultiProgress,
    total: ProgressBar,
}

impl Board {
    fn new(items: usize) -> Self {
        let bars = MultiProgress::new();
        let total = ProgressBar::new(items as u64);
        let total = bars.add(total.with_style(style("fetching {bar:30} {pos}/{len}  {elapsed}")));
        total.enable_steady_tick(Duration::from_millis(500));
        Board { bars, total }
    }

    fn start(&self, item: Item) -> Line<'_> {
        let bar = ProgressBar::new_spinner()
            .with_style(style("  {spinner} {prefix} {elapsed}  {wide_msg}"));
        let bar = self.bars.add(bar.with_prefix(item.name()));
        bar.enable_steady_tick(Duration::from_millis(120));
        if self.bars.is_hidden() {
            out::note(format_args!("fetching {} ({})", item.name(), item.from()));
        }
        Line {
            board: self,
            bar,
            item,
            started: Instant::now(),
        }
    }

    fn close(&self) {
        self.total.finish_and_clear();
    }
}

struct Line<'a> {
    board: &'a Board,
    bar: ProgressBar,
    item: Item,
    started: Instant,
}

impl Line<'_> {
    fn step(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    fn finish(&self, result: &Result<(), String>) {
        self.bar.finish_and_clear();
        self.board.total.inc(1);
        let (name, seconds) = (self.item.name(), self.started.elapsed().as_secs());
        let text = match result {
            Ok(()) => format!("fetched {name} in {seconds} s"),
            Err(reason) => format!("not fetched: {name}: {reason}"),
        };
        // Above the bars where there are any; a plain line otherwise.
        self.board.bars.suspend(|| out::note(text));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_each_pinned_cli_sdk_and_tool_once() {
        let names: Vec<String> = everything().into_iter().map(Item::name).collect();
        let (claudes, others) = names.split_at(cli::tested().count());
        let tested = cli::tested().map(|pinned| format!("claude {}", pinned.version));
        assert_eq!(claudes, tested.collect::<Vec<_>>());
        assert_eq!(
            others,
            [
                "sdk-python",
                "sdk-typescript",
                "schemathesis",
                "cargo-nextest",
                "cargo-deny"
            ]
        );
    }

    #[test]
    fn what_was_not_fetched_keeps_its_reason() {
        let fetched = Fetched {
            missing: vec![(Item::Tool(&DENY), "no network".into())],
        };
        assert_eq!(fetched.why_missing(Item::Tool(&DENY)), Some("no network"));
        assert_eq!(fetched.why_missing(Item::Tool(&NEXTEST)), None);
    }
}

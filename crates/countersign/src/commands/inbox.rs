//! `countersign inbox`: what agents ask.

use std::collections::BTreeSet;

use clap::Args;
use countersign_api::client::{Client, Event};
use countersign_api::control::approval::Life;
use countersign_api::control::{ApprovalFilter, ApprovalId, ApprovalView, Happened, HostEvent};

use crate::Outcome;
use crate::remote::{self, Done, Failure, Reach, Remote, decide, names, question, stop, words};
use crate::show::{notice, text};
use crate::term::style::{Line, Tone};

/// What stands behind `inbox`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Wait for more, and tell what becomes of them
    #[arg(short, long)]
    watch: bool,
    /// Show every question in full
    #[arg(short = 'l', long)]
    full: bool,
    /// Only those of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        watch,
        full,
        session,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let mut filter = ApprovalFilter {
            life: Some("open".to_owned()),
            ..ApprovalFilter::default()
        };
        if let Some(name) = session {
            filter.session = Some(names::session(&remote.client, &name).await?.id);
        }
        let inbox = Inbox {
            remote,
            filter,
            full,
            told: BTreeSet::new(),
        };
        match watch {
            true => stop::or_interrupted(inbox.watch()).await,
            false => inbox.list().await,
        }
    })
}

struct Inbox {
    remote: Remote,
    filter: ApprovalFilter,
    full: bool,
    /// Open ones that were shown.
    told: BTreeSet<ApprovalId>,
}

impl Inbox {
    fn client(&self) -> &Client {
        &self.remote.client
    }

    async fn list(self) -> Done {
        let open = self.client().all_approvals(self.filter.clone()).await?;
        let lines = match open.is_empty() {
            true => vec![Line::of("Nobody asks anything.", Tone::Dim)],
            false => {
                let mut lines = Vec::new();
                for one in &open {
                    lines.extend(self.shown(one).await);
                }
                lines
            }
        };
        self.remote.tell(&open, &lines)?;
        Ok(Outcome::Fine)
    }

    async fn watch(mut self) -> Done {
        // First the stream, then the list: what is asked in between is in both, and told once.
        let mut events = self.client().events().await?;
        self.look().await?;
        loop {
            let event = events.next().await?;
            match event.name.as_str() {
                "approval" => self.approval(&event).await?,
                "gap" => self.look().await?,
                _ => {}
            }
        }
    }

    /// Tells all that are open and were not told.
    async fn look(&mut self) -> Result<(), Failure> {
        let open = self.client().all_approvals(self.filter.clone()).await?;
        for one in &open {
            self.tell(one).await?;
        }
        Ok(())
    }

    async fn approval(&mut self, event: &Event) -> Result<(), Failure> {
        let read: Result<HostEvent, _> = serde_json::from_str(&event.data);
        let Ok(HostEvent {
            session,
            what: Happened::Approval { approval, life },
            ..
        }) = read
        else {
            return Ok(());
        };
        let is_wanted = self.filter.session.is_none() || self.filter.session == session;
        let is_news = self.told.contains(&approval) != (life == "open");
        if is_wanted && is_news {
            let view = self.client().approval(approval).await?;
            self.tell(&view).await?;
        }
        Ok(())
    }

    /// Tells an open one once, and once what became of it.
    async fn tell(&mut self, view: &ApprovalView) -> Result<(), Failure> {
        let is_open = view.life == Life::Open;
        let is_news = match is_open {
            true => self.told.insert(view.id),
            false => self.told.remove(&view.id),
        };
        if !is_news {
            return Ok(());
        }
        let lines = match is_open {
            true => self.shown(view).await,
            false => vec![became(view)],
        };
        self.remote.tell(view, &lines)
    }

    async fn shown(&self, view: &ApprovalView) -> Vec<Line> {
        if self.full && !self.remote.json {
            let mut lines = decide::shown(&self.remote, view).await;
            lines.push(Line::new());
            return lines;
        }
        let id = format!("{}  ", names::short(view.id));
        let age = words::age(view.asked, words::now());
        let name = text::one_row(&view.session_name, 40);
        vec![
            question::headline(view)
                .after(&id, Tone::Accent)
                .cut(self.remote.paper.width),
            Line::of(format!("        {name} · {age} ago"), Tone::Dim),
        ]
    }
}

fn became(view: &ApprovalView) -> Line {
    let id = names::short(view.id);
    match &view.decided {
        Some(decided) => {
            let verdict = decided.verdict().replace('-', " ");
            notice::note(format!(
                "{id}: {verdict} by {}",
                text::one_row(decided.decider(), 60)
            ))
        }
        None => notice::note(format!("{id}: {}", view.life.name())),
    }
}

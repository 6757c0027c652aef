//! Records: from the agent's write through keeper, journal and server to a client's read.
//!
//! Owns two measurements, each beside its floors: how long one line takes that comes alone, and how many go through when an
//! agent floods. Invariant: sides take turns within a round, each with a session of its own.

use std::time::Duration;

use anyhow::{Context as _, bail};
use countersign_host::control::{Control as _, Followed, SessionId};
use futures_util::StreamExt as _;

use crate::agent::Order;
use crate::clients::Heard;
use crate::course::Size;
use crate::floor;
use crate::helper::Helper;
use crate::line::written_at;
use crate::raw::Raw;
use crate::samples::Samples;
use crate::stage::Stage;
use crate::usage::{self, Done};

/// Long enough for everybody to have gone to sleep again.
const PAUSE: Duration = Duration::from_millis(1);

/// The longest record that comes along.
const MAX_INLINE: usize = 64 << 10;

const PIPE: &str = "pipe and memchr";
const FOLLOWER: &str = "a follower in the host's process";
const READER: &str = "an SSE reader";

/// What a side found, and what the server and the keeper did for it.
struct Found {
    heard: Heard,
    server: Done,
    keeper: Done,
}

pub(crate) async fn measure(stage: &Stage, size: &Size) -> anyhow::Result<()> {
    let mut pipe = Samples::default();
    let mut echo = Samples::default();
    for round in 1..=size.rounds {
        eprintln!("records: round {round} of {}", size.rounds);
        let alone = Order::Paced {
            lines: size.lines + size.warm,
            pause: PAUSE,
        };
        pipe.add(
            floor::pipe(size.lines + size.warm, PAUSE)?
                .samples
                .without_first(size.warm as usize),
        );
        echo.add(
            floor::loopback((size.lines + size.warm) as usize, PAUSE)?
                .without_first(size.warm as usize),
        );
        for side in [FOLLOWER, READER] {
            let found = follow(stage, side, &alone, size.lines + size.warm).await?;
            found.tell("alone", side, size.warm as usize)?;
        }
        let flood = Order::Flood { lines: size.flood };
        let heard = floor::pipe(size.flood, Duration::ZERO)?;
        let (server, keeper) = Default::default();
        Found {
            heard,
            server,
            keeper,
        }
        .tell_flood(PIPE, size.flood)?;
        for side in [FOLLOWER, READER] {
            let found = follow(stage, side, &flood, size.flood).await?;
            found.tell_flood(side, size.flood)?;
        }
    }
    Raw::new("alone", PIPE).took(&pipe).tell()?;
    Raw::new("alone", "loopback, there and back")
        .took(&echo)
        .tell()
}

/// One side, with an agent of its own.
async fn follow(stage: &Stage, side: &str, order: &Order, lines: u64) -> anyhow::Result<Found> {
    let session = stage.start().await?;
    let keeper = stage.keeper()?;
    let own = std::process::id();
    let mut reader = None;
    if side == READER {
        let mut args = stage.door();
        args.extend([session.to_string(), lines.to_string()]);
        reader = Some(Helper::start("reader", &args)?);
    }
    let before = (usage::done(own)?, usage::done(keeper)?);
    let heard = match &mut reader {
        Some(reader) => {
            stage.order(session, order).await?;
            reader.found()?
        }
        None => beside(stage, session, order, lines).await?,
    };
    let (server, keeper) = (
        usage::done(own)? - before.0,
        usage::done(keeper)? - before.1,
    );
    if let Some(reader) = reader {
        reader.end()?;
    }
    stage.until(session, "idle").await?;
    stage.stop(session).await?;
    Ok(Found {
        heard,
        server,
        keeper,
    })
}

/// The same without HTTP, on a thread of the host.
async fn beside(
    stage: &Stage,
    session: SessionId,
    order: &Order,
    lines: u64,
) -> anyhow::Result<Heard> {
    let mut records = stage.host()?.follow(session, None, MAX_INLINE).await?;
    loop {
        match records.next().await.context("the records end")?? {
            Followed::CaughtUp { .. } => break,
            Followed::Record { .. } => {}
            other => bail!("not what was looked for: {other:?}"),
        }
    }
    let reading = tokio::spawn(async move {
        let mut samples = Samples::default();
        let (mut first, mut last, mut pieces) = (u64::MAX, 0, 0);
        while (samples.len() as u64) < lines {
            let Followed::Record { payload, .. } =
                records.next().await.context("the records end")??
            else {
                bail!("records are missing");
            };
            last = usage::now();
            pieces += 1;
            for written in written_at(&payload) {
                first = first.min(written);
                samples.push(last.saturating_sub(written));
            }
        }
        Ok(Heard {
            samples,
            nanos: last.saturating_sub(first),
            pieces,
        })
    });
    stage.order(session, order).await?;
    reading.await?
}

impl Found {
    fn tell(self, part: &'static str, side: &str, warm: usize) -> anyhow::Result<()> {
        let records = self.heard.samples.len() as f64;
        Raw::new(part, side)
            .with("records", records)
            .with("pieces", self.heard.pieces as f64)
            .took(&self.heard.samples.without_first(warm))
            .did("server", self.server)
            .did("keeper", self.keeper)
            .tell()
    }

    fn tell_flood(self, side: &str, lines: u64) -> anyhow::Result<()> {
        Raw::new("flood", side)
            .with("records", lines as f64)
            .with("pieces", self.heard.pieces as f64)
            .with("seconds", self.heard.nanos as f64 / 1e9)
            .did("server", self.server)
            .did("keeper", self.keeper)
            .tell()
    }
}

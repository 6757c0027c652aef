//! `countersign mcp`: the MCP servers of a session's agent.

use clap::Args;
use countersign_api::control::{McpAct, McpServer};

use crate::Outcome;
use crate::remote::{self, Reach, names};
use crate::show::text;
use crate::term::style::{Line, Tone};

/// What stands behind `mcp`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// Connect this server again
    #[arg(long, value_name = "SERVER", group = "act")]
    reconnect: Option<String>,
    /// Switch this server on
    #[arg(long, value_name = "SERVER", group = "act")]
    enable: Option<String>,
    /// Switch this server off
    #[arg(long, value_name = "SERVER", group = "act")]
    disable: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        reconnect,
        enable,
        disable,
        reach,
    } = arguments;
    let acts = [
        (reconnect, McpAct::Reconnect, "connected again"),
        (enable, McpAct::Enable, "switched on"),
        (disable, McpAct::Disable, "switched off"),
    ];
    let act = acts
        .into_iter()
        .find_map(|(server, act, said)| Some((server?, act, said)));
    remote::with(reach, |remote| async move {
        let session = names::session(&remote.client, &id).await?.id;
        if let Some((server, act, said)) = act {
            let receipt = remote.client.act_on_mcp(session, &server, act).await?;
            return remote.receipt(&receipt, format!("{}: {said}", text::one_row(&server, 80)));
        }
        let servers = remote.client.mcp(session).await?;
        let lines: Vec<Line> = match servers.is_empty() {
            true => vec![Line::plain("Its agent has no MCP servers.")],
            false => servers.iter().flat_map(lines).collect(),
        };
        remote.tell(&servers, &lines)?;
        Ok(Outcome::Fine)
    })
}

fn lines(server: &McpServer) -> Vec<Line> {
    let tone = match server.status.as_str() {
        "connected" => Tone::Good,
        "failed" => Tone::Bad,
        "needs-auth" | "pending" => Tone::Warn,
        _ => Tone::Dim,
    };
    let tools = match server.tools.len() {
        0 => String::new(),
        1 => "  1 tool".to_owned(),
        count => format!("  {count} tools"),
    };
    let from = server.scope.as_deref().map_or_else(String::new, |scope| {
        format!("  from the {} settings", text::one_row(scope, 40))
    });
    let head = Line::of(text::one_row(&server.name, 80), Tone::Strong)
        .add(format!("  {}", text::one_row(&server.status, 40)), tone)
        .add(tools + &from, Tone::Dim);
    let error = server
        .error
        .as_deref()
        .map(|error| Line::of(text::one_row(error, 400), Tone::Bad).after("  ", Tone::Plain));
    std::iter::once(head).chain(error).collect()
}

//! From the orders of a session to the start order of one generation. Starts nothing.

use std::path::Path;

use countersign_keeper::{Arg, Graces, KeeperCommand, Order};
use countersign_process::{BadMarker, Marker};

use super::conversation::Begin;
use super::orders::SessionOrders;

/// The order for one generation.
pub(crate) fn order(
    orders: &SessionOrders,
    generation: u32,
    begin: &Begin,
) -> Result<Order, BadMarker> {
    let fill = |text: &String| text.replace("{generation}", &generation.to_string());
    let mut words = orders.command.iter().map(fill);
    let program = words.next().unwrap_or_default();
    let conversation = [begin.flag.to_owned(), begin.id.clone()];
    let args = words.chain(conversation).map(|arg| Arg::Plain(arg.into()));
    Ok(Order {
        session: orders.id.clone(),
        generation,
        dir: orders.dir.clone(),
        run: orders.run.clone(),
        program: program.into(),
        args: args.collect(),
        cwd: orders.cwd.clone(),
        env: pairs(&orders.env),
        token: orders.token.clone(),
        marker: Marker::new(&orders.marker)?,
        graces: Graces::default(),
        kill_first: false,
    })
}

/// The command that runs a keeper.
pub(crate) fn keeper(program: &Path, env: &[(String, String)]) -> KeeperCommand {
    KeeperCommand {
        program: program.to_owned(),
        args: Vec::new(),
        env: pairs(env),
    }
}

fn pairs(env: &[(String, String)]) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let pairs = env.iter();
    pairs
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

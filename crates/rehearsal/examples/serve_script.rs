//! Serves a script until the input ends: `serve_script FILE [name=value …]`.
//!
//! Shows the library's use; `countersign rehearse model` is the command for people.

use std::io::Write as _;

use countersign_rehearsal::model::{Options, Script, Vars, parse_var, serve_until};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("usage: serve_script FILE [name=value …]")?;
    let script = Script::parse(&std::fs::read_to_string(&file)?)
        .map_err(|error| format!("{file}: {error}"))?;
    let vars = arguments
        .map(|pair| parse_var(&pair))
        .collect::<Result<Vars, _>>()?;
    let options = Options {
        vars,
        ..Options::default()
    };

    let end_of_input = async {
        // Whether it ends or fails, there is nobody left to serve.
        let _ = tokio::task::spawn_blocking(|| {
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink())
        })
        .await;
    };
    let report = serve_until(script, options, end_of_input, |base_url| {
        let _ = writeln!(std::io::stdout(), "{base_url}");
    })
    .await?;
    writeln!(
        std::io::stdout(),
        "{}",
        serde_json::to_string_pretty(&report)?
    )?;
    Ok(())
}

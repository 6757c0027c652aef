//! What the agent asks comes as values, and a person at the terminal answers.
//!
//! `cargo run --example ask_me [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::{Claude, Question};
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let claude = match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    };
    let mut session = claude.questions().connect().await?;
    let mut answers = lines_of_stdin();
    let mut turn = session.send("Tidy up this folder.").await?;
    let result = loop {
        tokio::select! {
            result = turn.result() => break result?,
            Some(question) = session.questions.next() => ask(question, &mut answers).await?,
        }
    };
    println!("{}", result.ok()?.text());
    session.close().await;
    Ok(())
}

async fn ask(question: Question, answers: &mut mpsc::Receiver<String>) -> anyhow::Result<()> {
    let Question::Permission(question) = question else {
        return Ok(()); // a question that is dropped is refused
    };
    print!("{} {}: run it? [y/n] ", question.tool_name, question.input);
    std::io::Write::flush(&mut std::io::stdout())?;
    let interest = question.interest().clone();
    let answer = tokio::select! {
        line = answers.recv() => line.unwrap_or_default(),
        () = interest.withdrawn() => String::new(),
    };
    let told = match answer.as_str() {
        "y" => question.allow(),
        _ => question.deny("The user said no."),
    };
    if told.is_err() {
        println!("(no longer asked)");
    }
    Ok(())
}

/// A thread of its own, so that nobody waits for a key at the end.
fn lines_of_stdin() -> mpsc::Receiver<String> {
    let (send, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut typed = std::io::stdin().lines().map_while(Result::ok);
        typed.try_for_each(|line| send.blocking_send(line))
    });
    lines
}

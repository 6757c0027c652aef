//! Starting and stopping, and the addresses and scripts that are refused.

use std::path::Path;

use countersign_rehearsal::model::{
    Options, Script, Server, StartError, Vars, parse_var, serve_until,
};

use crate::http::{ask, within};
use crate::main_request;

async fn start_on(listen: &str) -> Result<Server, StartError> {
    Server::start(
        Script::parse("").unwrap(),
        Options {
            listen: listen.parse().unwrap(),
            ..Options::default()
        },
    )
    .await
}

#[tokio::test]
async fn it_refuses_to_listen_anywhere_but_on_loopback() {
    for address in [
        "0.0.0.0:0",
        "192.0.2.1:0",
        "[::]:0",
        "[2001:db8::1]:0",
        "[::ffff:10.0.0.1]:0",
    ] {
        let error = start_on(address).await.unwrap_err();
        assert!(
            matches!(error, StartError::NotLoopback(_)),
            "{address}: {error}"
        );
        assert!(error.to_string().contains("use 127.0.0.1:0"), "{error}");
    }
}

#[tokio::test]
async fn a_taken_port_is_an_error_with_a_next_step() {
    let first = start_on("127.0.0.1:0").await.unwrap();
    let error = start_on(&first.address().to_string()).await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }), "{error}");
    assert!(error.to_string().contains("0 for a free one"), "{error}");
}

#[tokio::test]
async fn serve_until_tells_its_address_and_ends_with_the_report() {
    let (told, url) = tokio::sync::oneshot::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let script = Script::parse("reply\nsay \"1\"").unwrap();
    let shutdown = async { stopped.await.unwrap() };
    let serving = tokio::spawn(serve_until(script, Options::default(), shutdown, |url| {
        told.send(url.to_owned()).unwrap()
    }));
    let url = within(url).await.unwrap();
    let address = url.strip_prefix("http://").unwrap().parse().unwrap();
    ask(address, &main_request("hi")).await.events().await;
    stop.send(()).unwrap();
    let report = within(serving).await.unwrap().unwrap();
    assert!(report.is_clean());
}

#[test]
fn the_shipped_scripts_can_be_served() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let vars = Vars::from([("cwd".to_owned(), "/w".to_owned())]);
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(path.extension().unwrap(), "model", "{}", path.display());
        let script = Script::parse(&std::fs::read_to_string(&path).unwrap());
        let script = script.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        script
            .check(&vars)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(script.replies() > 0, "{}", path.display());
        read += 1;
    }
    assert!(read >= 7, "only {read} scripts");
}

#[test]
fn the_worked_example_of_the_manual_can_be_served() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/model-script.md");
    let page = std::fs::read_to_string(page).unwrap();
    let example = page
        .split("```text\n")
        .find(|block| block.starts_with("# The model looks"))
        .unwrap();
    let script = Script::parse(example.split("```").next().unwrap()).unwrap();
    assert_eq!(script.replies(), 3);
    assert_eq!(
        script.check(&Vars::from([parse_var("cwd=/w").unwrap()])),
        Ok(())
    );
}

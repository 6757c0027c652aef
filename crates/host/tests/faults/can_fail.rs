//! The suite can fail: hosts that do something wrong on purpose, and accounts that were changed, are found out by the very
//! same checks.
//!
//! Owns one test for each. Beside it stands the same with nothing wrong, which passes.

use serde_json::{Value, json};

use crate::accounts::{Account, Died, Wrong};
use crate::orders::{Death, Fault, Ordered};
use crate::scenes;
use crate::stage::{Stage, lines};
use crate::wait::Dice;

fn finds(wrong: &[Wrong], promise: &str) -> bool {
    wrong.iter().any(|wrong| wrong.promise == promise)
}

/// A host ends when it has told of its second receipt; its client does not repeat what it has a receipt for.
fn receipts(fault: Option<Fault>, point: &str) -> Vec<Wrong> {
    let mut dice = Dice::of("can fail, receipts");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(2, &mut dice);
    let mut orders = stage.orders(&commands);
    orders.fault = fault;
    orders.die = Some(Death {
        point: point.to_owned(),
        nth: 2,
    });
    let mut host = stage.host(&orders);
    host.until_ended();
    stage.note(&host);
    let report = stage.host(&stage.orders(&commands[..1])).until_at_rest();
    // The second message came or did not: nobody waits for it here.
    let mut orders = stage.orders(&commands[..1]);
    orders
        .awaited
        .extend(crate::accounts::wanted(&commands[1..]).map(|it| it.uuid));
    let report = match fault {
        Some(_) => report,
        None => stage.host(&orders).until_at_rest(),
    };
    stage.wrong(&commands, &report, Died::Hosts)
}

#[test]
fn a_host_that_acknowledges_before_it_stores_is_found_out() {
    let wrong = receipts(None, "receipt told");
    assert!(wrong.is_empty(), "{}", lines(&wrong));
    let wrong = receipts(Some(Fault::EarlyReceipts), "receipt told early");
    assert!(finds(&wrong, "Acknowledged"), "{}", lines(&wrong));
}

#[test]
fn a_host_that_sends_a_message_under_another_name_is_found_out() {
    for (fault, is_found) in [(None, false), (Some(Fault::OtherNames), true)] {
        let mut dice = Dice::of("can fail, names");
        let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
        let commands = stage.messages(2, &mut dice);
        let mut orders = stage.orders(&commands);
        let mut host = stage.host(&orders);
        host.until_at_rest();
        orders.fault = fault;
        orders.commands.remove(0);
        let report = stage.host(&orders).until_at_rest();
        let wrong = stage.wrong(&commands, &report, Died::Hosts);
        assert_eq!(finds(&wrong, "OneName"), is_found, "{}", lines(&wrong));
    }
}

/// Each way in which an account may differ from what lies on the disk has its name.
#[test]
fn an_account_that_is_not_what_lies_on_the_disk_is_found_out() {
    let mut dice = Dice::of("can fail, accounts");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(2, &mut dice);
    let mut host = stage.host(&stage.orders(&commands));
    let report = host.until_at_rest();
    let case = stage.case();
    let receipts = commands.iter().map(|it| (it.key.clone(), json!(1)));
    let sound = Account {
        commands: commands.clone(),
        receipts: receipts.collect(),
        report,
    };
    let wrong = sound.wrong(&case, Died::Hosts);
    assert!(wrong.is_empty(), "{}", lines(&wrong));
    for (promise, change) in CHANGES {
        let mut account = sound.clone();
        change(&mut account);
        let wrong = account.wrong(&case, Died::Hosts);
        assert!(finds(&wrong, promise), "{promise}: {}", lines(&wrong));
    }
    let mut twice = case.clone();
    twice.ran.push(case.ran[0].clone());
    assert!(finds(&sound.wrong(&twice, Died::Hosts), "Marks"));
}

type Change = fn(&mut Account);

const CHANGES: [(&str, Change); 8] = [
    ("Receipts", |it| {
        it.receipts.push(("message 1".into(), json!(2)))
    }),
    ("QueueOrder", |it| it.commands.reverse()),
    ("Rows", |it| drop(approvals(it).pop())),
    ("Rows", |it| {
        let mut strange = approvals(it)[0].clone();
        strange["record"] = json!("1-1");
        approvals(it).push(strange);
    }),
    ("Lives", |it| {
        row(it, "settled")["outcome"] = json!("unknown")
    }),
    ("Lives", |it| {
        row(it, "settled")["decided"]["by"] = json!("somebody else")
    }),
    ("Rest", |it| {
        it.report["session"]["state"] = json!("running")
    }),
    ("Acknowledged", |it| {
        let mut more: Ordered = it.commands[1].clone();
        more.key = "message 2".into();
        if let countersign_host::control::Command::Send { message, .. } = &mut more.command {
            *message = countersign_host::control::Message::text("m2");
        }
        it.commands.push(more);
        it.receipts.push(("message 2".into(), json!(1)));
    }),
];

fn approvals(account: &mut Account) -> &mut Vec<Value> {
    account.report["approvals"].as_array_mut().unwrap()
}

fn row<'a>(account: &'a mut Account, life: &str) -> &'a mut Value {
    let mut rows = approvals(account).iter_mut();
    rows.find(|row| row["life"] == life).unwrap()
}

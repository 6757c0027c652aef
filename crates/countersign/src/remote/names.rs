//! Short names: as much of an id as tells it from the others.
//!
//! Owns how ids are shown and found. Ids sort by time, so those of one day begin alike: the end is shown. Either end is
//! taken. Invariant: what fits more than one is never guessed.

use countersign_api::Code;
use countersign_api::client::{Client, ClientError};
use countersign_api::control::{
    ApprovalFilter, ApprovalId, ApprovalView, SessionFilter, SessionId, SessionView,
};

use super::Failure;
use crate::show::text;

/// How many letters are shown.
const SHOWN: usize = 6;

/// Fewer letters than this are a slip.
const FEWEST: usize = 3;

/// So many of those that fit are told.
const TOLD: usize = 8;

/// The end of an id.
pub(crate) fn short(id: impl std::fmt::Display) -> String {
    let id = id.to_string();
    let end = id.len().saturating_sub(SHOWN);
    id[end..].to_lowercase()
}

/// The session that a person means, in the trash or out of sight as well.
pub(crate) async fn session(client: &Client, name: &str) -> Result<SessionView, Failure> {
    if let Ok(id) = name.parse::<SessionId>() {
        return client.session(id).await.map_err(none);
    }
    let known = SessionFilter {
        archived: true,
        most: 1000,
        ..SessionFilter::default()
    };
    let trashed = SessionFilter {
        trashed: true,
        ..known.clone()
    };
    let mut all = client.all_sessions(known).await?;
    let fits = |one: &SessionView| fits(&one.id.to_string(), name);
    if !all.iter().any(fits) {
        all = client.all_sessions(trashed).await?;
    }
    let fitting = all.into_iter().filter(fits).collect();
    let told = |one: &SessionView| (one.id.to_string(), one.name.clone());
    only("session", "countersign sessions --all", name, fitting, told)
}

/// The approval that a person means: an open one, else one of those that were decided last.
pub(crate) async fn approval(client: &Client, name: &str) -> Result<ApprovalView, Failure> {
    if let Ok(id) = name.parse::<ApprovalId>() {
        return client.approval(id).await.map_err(none);
    }
    let open = ApprovalFilter {
        life: Some("open".to_owned()),
        most: 1000,
        ..ApprovalFilter::default()
    };
    let lately = ApprovalFilter {
        most: 1000,
        ..ApprovalFilter::default()
    };
    let fits = |one: &ApprovalView| fits(&one.id.to_string(), name);
    let mut all = client.all_approvals(open).await?;
    if !all.iter().any(fits) {
        all = client.approvals(&lately).await?.items;
    }
    let fitting = all.into_iter().filter(fits).collect();
    let told = |one: &ApprovalView| {
        let about = format!("{} in {}", one.tool, one.session_name);
        (one.id.to_string(), about)
    };
    only("question", "countersign inbox", name, fitting, told)
}

/// A whole id that nothing has is as wrong as a part of one.
fn none(error: ClientError) -> Failure {
    match error.problem() {
        Some(problem) if problem.code == Code::NotFound => Failure::NotFound(error.to_string()),
        _ => error.into(),
    }
}

/// Whether this is a beginning or an end of the id.
pub(crate) fn fits(id: &str, name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.len() >= FEWEST && (id.ends_with(&name) || id.starts_with(&name))
}

/// The one that fits.
pub(crate) fn only<T>(
    what: &str,
    list: &str,
    name: &str,
    mut fitting: Vec<T>,
    told: impl Fn(&T) -> (String, String),
) -> Result<T, Failure> {
    let shown = text::one_row(name, 40);
    match fitting.len() {
        1 => Ok(fitting.remove(0)),
        0 if name.len() < FEWEST => Err(Failure::NotFound(format!(
            "`{shown}` is too short for an id: give {FEWEST} letters or more of its end or its beginning (`{list}` shows them)"
        ))),
        0 => Err(Failure::NotFound(format!(
            "there is no {what} whose id begins or ends with `{shown}`: `{list}` shows them"
        ))),
        count => {
            let mut text = format!("`{shown}` fits {count} {what}s: give more letters");
            for one in fitting.iter().take(TOLD) {
                let (id, about) = told(one);
                text.push_str(&format!("\n  {id}  {}", text::one_row(&about, 60)));
            }
            if count > TOLD {
                text.push_str(&format!("\n  … {} more", count - TOLD));
            }
            Err(Failure::NotFound(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    #[test]
    fn either_end_of_an_id_is_taken_in_any_case() {
        for name in ["5fav", "FAV", "01arz3", ID] {
            assert!(fits(ID, name), "{name}");
        }
        for name in ["av", "", "3nde", "fav5"] {
            assert!(!fits(ID, name), "{name}");
        }
        assert_eq!(short(ID), "9g5fav");
    }

    #[test]
    fn what_fits_more_than_one_is_listed_and_not_guessed() {
        let told = |id: &&str| ((*id).to_owned(), "a name\u{1b}[2J".to_owned());
        let failure = only("session", "list", "fav", vec![ID, "XFAV"], told).unwrap_err();
        assert_eq!(failure.code(), 5);
        let text = failure.text();
        assert!(text.contains(ID) && text.contains("XFAV"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(only("session", "list", "zzz", Vec::new(), told).is_err());
        assert_eq!(only("session", "list", "fav", vec![ID], told).unwrap(), ID);
    }
}

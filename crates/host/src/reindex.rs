//! Makes again what derives from journals: the life of approvals, words to search, sums, checkpoints of transcripts.
//!
//! Owns the walk over all sessions while no host runs. What people entrusted to us (decisions, queue, rules, names) is left
//! alone. Invariants: it may be stopped anywhere and run again; a journal that cannot be read is named and passed over.

use std::path::{Path, PathBuf};

use countersign_journal::{KeeperEvent, Kind, Reader, Step};

use crate::control::approval::Life;
use crate::control::{SessionId, now};
use crate::folders::Folders;
use crate::host::HostError;
use crate::index;
use crate::live::{Book, Move, Projection};
use crate::pages::{self, Turns};
use crate::store::approvals::ApprovalRow;
use crate::store::sessions::SessionRow;
use crate::store::{
    Connection, Durability, HostLock, Store, StoreError, approvals, indexed, sessions, shelf,
};

/// What was made again.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Reindexed {
    /// Sessions.
    pub sessions: u64,
    /// Sessions that the database did not know.
    pub adopted: u64,
    /// Records that were read.
    pub records: u64,
    /// Approvals that the journals tell of.
    pub approvals: u64,
    /// Approvals that were missing or stood elsewhere in their life.
    pub mended: u64,
    /// Sessions whose journal could not be read, and why.
    pub unreadable: Vec<(SessionId, String)>,
}

/// Makes again what derives from the journals of a data folder. `told` hears of each session before it is read: which one
/// it is, of how many.
///
/// # Errors
/// When the folder is no data folder, a host runs on it, or the database cannot be used.
pub fn reindex(data: &Path, mut told: impl FnMut(usize, usize)) -> Result<Reindexed, HostError> {
    // Before anything is made in it, or closed to others.
    if !Folders::are_in(data) {
        return Err(HostError::NoData {
            path: data.to_owned(),
        });
    }
    let folders = Folders::open(data).map_err(|source| HostError::Folder {
        path: data.to_owned(),
        source,
    })?;
    let mut lock = HostLock::take(folders.root())?;
    let (store, _) = Store::take(&mut lock)?;
    let all = folders.all_sessions().map_err(|source| HostError::Folder {
        path: folders.sessions(),
        source,
    })?;
    let mut done = Reindexed::default();
    for (at, id) in all.iter().enumerate() {
        told(at, all.len());
        done.sessions += 1;
        if let Err(why) = one(&store, &folders, *id, &mut done)? {
            done.unreadable.push((*id, why));
        }
    }
    Ok(done)
}

fn one(
    store: &Store,
    folders: &Folders,
    id: SessionId,
    done: &mut Reindexed,
) -> Result<Result<(), String>, StoreError> {
    let dir = folders.session(id);
    let adopted = store.write_blocking(Durability::Full, move |it| {
        let is_new = sessions::find(it, id)?.is_none();
        if is_new {
            sessions::insert(it, &adopted_row(id, &dir))?;
        }
        indexed::forget(it, id)?;
        shelf::clear(it, id)?;
        Ok(is_new)
    })?;
    done.adopted += u64::from(adopted);
    let book = Book::new(id, 0, []);
    let mut projection = Projection::new(
        &folders.session(id),
        countersign_journal::Cursor::START,
        book,
    );
    loop {
        let batch = match projection.take(None, |_| {}) {
            Ok(batch) => batch,
            Err(error) => return Ok(Err(error.to_string())),
        };
        done.records += batch.records as u64;
        let has_more = batch.has_more || batch.rewound.is_some();
        let moves = batch.moves;
        let (asked, mended) =
            store.write_blocking(Durability::Normal, move |it| mend(it, id, moves))?;
        done.approvals += asked;
        done.mended += mended;
        if !has_more {
            break;
        }
    }
    let indexed = index::catch_up_blocking(store, folders, id);
    if let Err(error) = indexed {
        return Ok(Err(error.to_string()));
    }
    let dir = folders.session(id);
    if !dir.join("journal").exists() {
        return Ok(Ok(()));
    }
    let turn = Turns::default().take_blocking(id);
    let made = pages::open(store, &dir, id, None, &turn);
    Ok(made.map(drop).map_err(|error| error.to_string()))
}

/// A session that is known by its folder alone.
pub(crate) fn adopted_row(id: SessionId, dir: &Path) -> SessionRow {
    let cwd = last_cwd(dir).unwrap_or_else(|| dir.to_owned());
    let mut row = SessionRow::new(id, cwd, Default::default(), now());
    row.name = "found again".to_owned();
    row.origin = Some("found".to_owned());
    row
}

/// The folder that the last agent of a session was started in.
fn last_cwd(dir: &Path) -> Option<PathBuf> {
    if !dir.join("journal").exists() {
        return None;
    }
    let mut reader = Reader::open(dir).ok()?;
    let mut found = None;
    loop {
        match reader.next() {
            Ok(Step::Record(record)) if record.kind == Kind::Keeper => {
                if let Ok(KeeperEvent::Open { cwd, .. }) = serde_json::from_slice(record.payload) {
                    found = Some(cwd.into());
                }
            }
            // What was read before a damaged place holds.
            Ok(Step::End) | Err(_) => return found,
            Ok(_) => {}
        }
    }
}

/// Brings the rows of approvals in line with what the journal says.
fn mend(it: &Connection, session: SessionId, moves: Vec<Move>) -> Result<(u64, u64), StoreError> {
    let (mut asked, mut mended) = (0, 0);
    for step in moves {
        match step {
            Move::Asked(new) => {
                asked += 1;
                let row = ApprovalRow::asked(session, new.generation, new.seq, new.at, &new.asked);
                mended += u64::from(approvals::insert(it, &row)?);
            }
            Move::Life {
                id, life, decided, ..
            } => {
                let mut row = approvals::get(it, id)?;
                let is_over =
                    |life: &Life| matches!(life, Life::Settled { .. } | Life::Withdrawn { .. });
                // The journal is read from its beginning: only its last word counts.
                if row.life == life || (is_over(&row.life) && !is_over(&life)) {
                    continue;
                }
                row.life = life;
                row.decided = row.decided.take().or(decided);
                approvals::save(it, &row)?;
                mended += 1;
            }
        }
    }
    Ok((asked, mended))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_data_folder_is_left_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("project");
        std::fs::create_dir(&folder).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&folder, open).unwrap();
        }
        let before = std::fs::metadata(&folder).unwrap().permissions();
        for path in [folder.clone(), place.path().join("nothing")] {
            let refused = reindex(&path, |_, _| {}).unwrap_err().to_string();
            assert!(refused.contains("is no data folder"), "{refused}");
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions(), before);
        assert!(!place.path().join("nothing").exists());
    }

    #[test]
    fn a_data_folder_without_its_database_is_one() {
        let place = tempfile::tempdir().unwrap();
        let id = SessionId::fresh();
        std::fs::create_dir_all(place.path().join("sessions").join(id.to_string())).unwrap();
        let done = reindex(place.path(), |_, _| {}).unwrap();
        assert_eq!((done.sessions, done.adopted), (1, 1));
        assert!(place.path().join("host.db").is_file());
    }
}

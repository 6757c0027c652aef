//! The trash, on real files: in, out, and gone only on a person's word.
//!
//! Owns what must never happen: a thing that is lost, replaced, or deleted unasked.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use countersign_host::trash::{Reason, Trash, TrashError, TrashId, Word};
use tempfile::TempDir;

use crate::stage::{NOW, session, write};

struct Place {
    root: PathBuf,
    trash: Trash,
    _folder: TempDir,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    Place {
        trash: Trash::at(root.join("data/trash")),
        root,
        _folder: folder,
    }
}

/// A folder on another disk than the temp folder, where there is one.
fn other_disk(than: &Path) -> Option<TempDir> {
    let other = tempfile::tempdir_in("/dev/shm").ok()?;
    let differs = fs::metadata(other.path()).ok()?.dev() != fs::metadata(than).ok()?.dev();
    differs.then_some(other)
}

#[test]
fn what_goes_can_come_back() {
    let place = place();
    let thing = place.root.join("a\n\"thing\"");
    write(&thing.join("in/it"), "text");
    symlink("/nowhere", thing.join("link")).unwrap();
    let id = place.trash.put(&thing, "not needed", NOW).unwrap();
    assert!(fs::symlink_metadata(&thing).is_err());
    let listing = place.trash.list().unwrap();
    assert_eq!(listing.entries.len(), 1);
    assert_eq!(listing.entries[0].origin, thing);
    assert_eq!(listing.entries[0].reason, Reason::from("not needed"));
    assert_eq!(place.trash.restore(&id).unwrap(), thing);
    assert_eq!(fs::read_to_string(thing.join("in/it")).unwrap(), "text");
    assert_eq!(
        fs::read_link(thing.join("link")).unwrap(),
        Path::new("/nowhere")
    );
    assert!(place.trash.list().unwrap().entries.is_empty());
    let again = place.trash.restore(&id);
    assert!(matches!(again, Err(TrashError::NoEntry(_))));
}

#[test]
fn a_link_goes_and_not_what_it_leads_to() {
    let place = place();
    write(&place.root.join("real/file"), "text");
    let link = place.root.join("link");
    symlink(place.root.join("real"), &link).unwrap();
    place.trash.put(&link, "a link", NOW).unwrap();
    assert!(place.root.join("real/file").exists());
    assert!(fs::symlink_metadata(&link).is_err());
    // Also one that leads nowhere.
    symlink("/nowhere", &link).unwrap();
    let id = place.trash.put(&link, "a link", NOW).unwrap();
    place.trash.restore(&id).unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("/nowhere"));
}

#[test]
fn names_never_collide() {
    let place = place();
    let thing = place.root.join("thing");
    let ids: Vec<TrashId> = (0..5)
        .map(|n| {
            write(&thing, format!("{n}"));
            place.trash.put(&thing, "again", NOW).unwrap()
        })
        .collect();
    let listing = place.trash.list().unwrap();
    let listed: Vec<_> = listing
        .entries
        .iter()
        .map(|entry| entry.id.clone())
        .collect();
    assert_eq!(listed, ids);
    place.trash.restore(&ids[3]).unwrap();
    assert_eq!(fs::read_to_string(&thing).unwrap(), "3");
    assert_eq!(place.trash.last_from(&thing).unwrap().unwrap().id, ids[4]);
}

#[test]
fn many_at_once_all_arrive() {
    let place = place();
    std::thread::scope(|scope| {
        for n in 0..16 {
            let (trash, thing) = (&place.trash, place.root.join(format!("thing{n}")));
            scope.spawn(move || {
                write(&thing, "x");
                trash.put(&thing, "at once", NOW).unwrap();
            });
        }
    });
    assert_eq!(place.trash.list().unwrap().entries.len(), 16);
}

#[test]
fn restoring_never_overwrites() {
    let place = place();
    let thing = place.root.join("thing");
    fs::create_dir(&thing).unwrap();
    let id = place.trash.put(&thing, "x", NOW).unwrap();
    for taken in ["an empty folder", "a file", "a link that leads nowhere"] {
        match taken {
            "a file" => fs::write(&thing, "mine").unwrap(),
            "an empty folder" => fs::create_dir(&thing).unwrap(),
            _ => symlink("/nowhere", &thing).unwrap(),
        }
        let error = place.trash.restore(&id).unwrap_err();
        assert!(matches!(error, TrashError::Occupied(_)), "{taken}: {error}");
        let is_folder = fs::symlink_metadata(&thing).unwrap().is_dir();
        if is_folder {
            fs::remove_dir(&thing).unwrap();
        } else {
            fs::remove_file(&thing).unwrap();
        }
    }
    // Elsewhere it may, and the way there is made.
    let other = place.root.join("deep/er/other");
    assert_eq!(place.trash.restore_to(&id, &other).unwrap(), other);
    assert!(other.is_dir());
}

#[test]
fn what_cannot_go_stays() {
    let place = place();
    write(&place.root.join("data/file"), "x");
    let none = place.trash.put(&place.root.join("none"), "x", NOW);
    assert!(matches!(none, Err(TrashError::NotThere(_))));
    let link = place.root.join("to-data");
    symlink(place.root.join("data"), &link).unwrap();
    for path in [
        Path::new("/"),
        &place.root.join("data/.."),
        &place.root.join("data"),
        &place.root,
        &place.root.join("data/trash"),
        &link.join("trash"),
    ] {
        let error = place.trash.put(path, "x", NOW).unwrap_err();
        assert!(
            matches!(error, TrashError::Refused { .. }),
            "{path:?}: {error}"
        );
    }
    let inside = place
        .trash
        .put(&place.root.join("data/file"), "x", NOW)
        .unwrap();
    let it = place.trash.folder().join(inside.as_str()).join("it");
    assert!(place.trash.put(&it, "twice", NOW).is_err());
    assert!(it.exists());
}

#[test]
fn only_a_person_s_word_empties_it_and_only_what_is_older() {
    let place = place();
    for (name, at) in [("old", NOW), ("new", NOW + 10)] {
        let thing = place.root.join(name);
        write(&thing.join("file"), name);
        place.trash.put(&thing, "x", at).unwrap();
    }
    assert!(matches!(Word::of(" "), Err(TrashError::NoWord)));
    let word = Word::of("a person").unwrap();
    assert!(place.trash.empty_older_than(NOW, &word).unwrap().is_empty());
    let gone = place.trash.empty_older_than(NOW + 10, &word).unwrap();
    assert_eq!(gone.len(), 1);
    assert!(gone[0].origin.ends_with("old"));
    let left = place.trash.list().unwrap().entries;
    assert_eq!(left.len(), 1);
    assert!(left[0].origin.ends_with("new"));
    assert_eq!(fs::read_dir(place.trash.folder()).unwrap().count(), 1);
}

#[test]
fn emptying_follows_no_link_and_passes_closed_folders() {
    let place = place();
    write(&place.root.join("real/file"), "text");
    let thing = place.root.join("thing");
    write(&thing.join("closed/file"), "x");
    symlink(place.root.join("real"), thing.join("link")).unwrap();
    fs::set_permissions(thing.join("closed"), fs::Permissions::from_mode(0o500)).unwrap();
    place.trash.put(&thing, "x", NOW).unwrap();
    let word = Word::of("a person").unwrap();
    place.trash.empty_older_than(u64::MAX, &word).unwrap();
    assert_eq!(fs::read_dir(place.trash.folder()).unwrap().count(), 0);
    assert!(place.root.join("real/file").exists());
}

#[test]
fn what_cannot_be_read_is_told_and_never_deleted() {
    let place = place();
    let thing = place.root.join("thing");
    write(&thing, "x");
    let id = place.trash.put(&thing, "x", NOW).unwrap();
    let folder = place.trash.folder().join(id.as_str());
    fs::write(folder.join("entry.json"), "{").unwrap();
    // Nothing came here: a crash before the move.
    fs::create_dir(place.trash.folder().join("0000000000000001-0000")).unwrap();
    // Not ours.
    fs::create_dir(place.trash.folder().join("mine")).unwrap();
    let listing = place.trash.list().unwrap();
    assert!(listing.entries.is_empty());
    assert_eq!(listing.damaged, std::slice::from_ref(&folder));
    let word = Word::of("a person").unwrap();
    place.trash.empty_older_than(u64::MAX, &word).unwrap();
    assert!(folder.join("it").exists());
    assert!(place.trash.folder().join("mine").exists());
}

#[test]
fn to_another_disk_and_back_it_is_copied_and_compared() {
    let place = place();
    let Some(disk) = other_disk(&place.root) else {
        eprintln!("only one disk here: the copy is tested beside its code");
        return;
    };
    let thing = disk.path().join("thing");
    write(&thing.join("in/it"), "text");
    fs::set_permissions(thing.join("in/it"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../elsewhere", thing.join("link")).unwrap();
    let of = Reason::of(session(1), "x");
    let id = place.trash.put(&thing, of, NOW).unwrap();
    assert!(!thing.exists());
    let it = place.trash.folder().join(id.as_str()).join("it");
    assert_eq!(fs::read_to_string(it.join("in/it")).unwrap(), "text");
    assert!(
        !place
            .trash
            .folder()
            .join(id.as_str())
            .join("it.part")
            .exists()
    );

    fs::write(&thing, "in the way").unwrap();
    let error = place.trash.restore(&id).unwrap_err();
    assert!(matches!(error, TrashError::Occupied(_)), "{error}");
    assert_eq!(fs::read_to_string(&thing).unwrap(), "in the way");
    fs::remove_file(&thing).unwrap();
    place.trash.restore(&id).unwrap();
    assert_eq!(fs::read_to_string(thing.join("in/it")).unwrap(), "text");
    let mode = fs::metadata(thing.join("in/it")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(
        fs::read_link(thing.join("link")).unwrap(),
        Path::new("../elsewhere")
    );
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 1);
    assert!(place.trash.list().unwrap().entries.is_empty());
}

#[test]
fn what_cannot_be_copied_to_another_disk_stays_where_it_is() {
    let place = place();
    let Some(disk) = other_disk(&place.root) else {
        return;
    };
    let thing = disk.path().join("thing");
    write(&thing.join("file"), "text");
    let _socket = std::os::unix::net::UnixListener::bind(thing.join("socket")).unwrap();
    let error = place.trash.put(&thing, "x", NOW).unwrap_err();
    assert!(matches!(error, TrashError::Refused { .. }), "{error}");
    assert_eq!(fs::read_to_string(thing.join("file")).unwrap(), "text");
    assert!(place.trash.list().unwrap().entries.is_empty());
    assert_eq!(fs::read_dir(place.trash.folder()).unwrap().count(), 0);
}

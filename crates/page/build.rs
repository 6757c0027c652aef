//! Builds `ui/` with npm and lists its files, so that an optimised build has the page in it.
//!
//! Owns when and how npm runs: in a copy under `OUT_DIR`, never in the source tree; only where the code is optimised, because
//! other builds read the page from the disk. Invariants: whatever npm does, the Rust build goes on; without a page the reason
//! is kept, and the plain page says it; where npm has failed, the next build asks it again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

/// What the bundler needs of `ui/`.
const SOURCES: &[&str] = &[
    ".npmrc",
    "budget.mjs",
    "pack.mjs",
    "index.html",
    "package-lock.json",
    "package.json",
    "public",
    "src",
    "svelte.config.js",
    "tsconfig.json",
    "vite.config.ts",
];

/// npm is given up after this: an offline machine must not wait for its retries.
const PATIENCE: Duration = Duration::from_secs(240);

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let ui = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../ui");
    println!("cargo::rerun-if-changed=build.rs");
    let is_checked = env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_some();
    let built = match is_checked {
        true => Err("this is a debug build, which reads ui/dist from the disk".to_owned()),
        false => build(&ui, &out),
    };
    let (files, why) = match built {
        Ok(dist) => (list(&dist)?, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    if let (false, Some(why)) = (is_checked, &why) {
        println!("cargo::warning=the web page is not part of this build: {why}");
    }
    write_list(&out.join("files.rs"), files, why.as_deref())
}

/// Where the built page lies, or why there is none.
fn build(ui: &Path, out: &Path) -> Result<PathBuf, String> {
    for name in ["COUNTERSIGN_NO_UI", "COUNTERSIGN_UI_DIST"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if env::var_os("COUNTERSIGN_NO_UI").is_some_and(|value| value != "0") {
        return Err("COUNTERSIGN_NO_UI is set".to_owned());
    }
    // For those who build it elsewhere, as packagers do.
    if let Some(dist) = env::var_os("COUNTERSIGN_UI_DIST").map(PathBuf::from) {
        println!("cargo::rerun-if-changed={}", dist.display());
        return match dist.join("index.html").is_file() {
            true => Ok(dist),
            false => Err("COUNTERSIGN_UI_DIST has no index.html".to_owned()),
        };
    }
    for name in SOURCES {
        println!("cargo::rerun-if-changed={}", ui.join(name).display());
    }
    let copy = out.join("ui");
    let dist = out.join("dist");
    mirror(ui, &copy).map_err(|error| format!("ui/ cannot be copied: {error}"))?;
    let began = Instant::now();
    if !has_modules(&copy) {
        let install = ["ci", "--omit=dev", "--ignore-scripts", "--prefer-offline"];
        npm(&copy, &dist, &install, began)?;
        let _ = fs::copy(
            copy.join("package-lock.json"),
            copy.join("node_modules/.built-from"),
        );
    }
    npm(&copy, &dist, &["run", "build"], began)?;
    match dist.join("index.html").is_file() {
        true => Ok(dist),
        false => Err("npm left no index.html".to_owned()),
    }
}

/// Whether what is installed is what the lock file says.
fn has_modules(copy: &Path) -> bool {
    let installed = fs::read(copy.join("node_modules/.built-from"));
    let wanted = fs::read(copy.join("package-lock.json"));
    matches!((installed, wanted), (Ok(installed), Ok(wanted)) if installed == wanted)
}

/// Runs npm, with its words kept for the reason.
fn npm(folder: &Path, dist: &Path, args: &[&str], began: Instant) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let log = folder.join("npm.log");
    let said = |error: io::Error| format!("npm cannot be run: {error}");
    let out = fs::File::create(&log).map_err(said)?;
    let err = out.try_clone().map_err(said)?;
    let spawned = Command::new(program)
        .args(args)
        .args([
            "--no-audit",
            "--no-fund",
            "--fetch-retries=1",
            "--loglevel=error",
        ])
        .current_dir(folder)
        .env("COUNTERSIGN_UI_OUT", dist)
        // cargo's own settings are not npm's.
        .env_remove("npm_config_target")
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn();
    let child = match spawned {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let what_to_do = "install Node.js 20 or later, `touch ui/index.html`, and build again";
            return Err(format!("npm is not on this machine; {what_to_do}"));
        }
        Err(error) => return Err(said(error)),
    };
    wait(child, began).map_err(|how| {
        let words = fs::read_to_string(&log).unwrap_or_default();
        let last = words.lines().rev().map(str::trim);
        let mut last = last.filter(|line| !line.is_empty() && !line.contains("complete log"));
        let word = last.next().unwrap_or_default();
        // The network may be back then: cargo runs this again for a file that is not there.
        println!("cargo::rerun-if-changed={}", folder.join("never").display());
        format!(
            "`npm {}` {how}: {word} (the next build tries again)",
            args.join(" ")
        )
    })
}

fn wait(mut child: Child, began: Instant) -> Result<(), String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err("failed".to_owned()),
            Ok(None) if began.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(40)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("took too long".to_owned());
            }
            Err(error) => return Err(format!("failed ({error})")),
        }
    }
}

/// Makes the copy like the sources. What npm put beside them stays.
fn mirror(ui: &Path, copy: &Path) -> io::Result<()> {
    for folder in ["src", "public"] {
        let old = copy.join(folder);
        if old.exists() {
            fs::remove_dir_all(old)?;
        }
    }
    fs::create_dir_all(copy)?;
    for name in SOURCES {
        let from = ui.join(name);
        if from.is_dir() {
            for (inner, path) in list(&from)? {
                let to = copy.join(name).join(inner);
                fs::create_dir_all(to.parent().unwrap_or(copy))?;
                fs::copy(path, to)?;
            }
        } else if from.is_file() {
            fs::copy(&from, copy.join(name))?;
        }
    }
    Ok(())
}

/// Every file below a folder, by its path in it with `/`. Hidden ones are left out.
fn list(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    let mut folders = vec![(String::new(), folder.to_owned())];
    while let Some((prefix, folder)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let name = format!("{prefix}{name}");
            match entry.path() {
                path if path.is_dir() => folders.push((format!("{name}/"), path)),
                path => files.push((name, path)),
            }
        }
    }
    files.sort();
    Ok(files)
}

fn write_list(to: &Path, files: Vec<(String, PathBuf)>, why: Option<&str>) -> io::Result<()> {
    let mut list = String::from("static FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in files {
        let path = fs::canonicalize(path)?;
        let _ = writeln!(list, "    ({name:?}, include_bytes!({path:?})),");
    }
    let _ = writeln!(list, "];\nconst WHY_NOT: Option<&str> = {why:?};");
    fs::write(to, list)
}

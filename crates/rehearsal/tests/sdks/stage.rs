//! One case in its sandbox: the SDK's interpreter, the suite's runner, the CLI, and nothing of the caller.
//!
//! Owns how a case is started and judged, on the scripted CLI or on the real one. Invariants: the environment is the
//! sandbox's alone; the only address in it is on loopback; what the case left running is gone with the sandbox.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use countersign_testkit::demand;
use countersign_testkit::fetch::{
    Installed, InstalledSdk, PYTHON_SDK, Pinned, Sdk, TYPESCRIPT_SDK,
};
use countersign_testkit::sandbox::{Launch, RunAs, Sandbox};

/// The CLI that is played, and the real one where the suites are held against it.
const VERSION: &str = countersign_testkit::fetch::NEWEST;
/// Where nobody listens: whoever asks the network is refused at once.
const NOWHERE: &str = "http://127.0.0.1:9";

/// The suite of one SDK.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Suite {
    sdk: &'static Sdk,
    runner: &'static str,
}

pub(crate) const PYTHON: Suite = Suite {
    sdk: &PYTHON_SDK,
    runner: "python/run.py",
};

pub(crate) const TYPESCRIPT: Suite = Suite {
    sdk: &TYPESCRIPT_SDK,
    runner: "typescript/run.mjs",
};

impl Suite {
    /// Runs one case; does nothing but say so where the SDK is not there.
    pub(crate) fn play(self, case: &str) {
        let output = self.run(case);
        let Some(output) = output else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{case}: {}\n{said}", output.status);
    }

    /// The names of all cases, sorted; `None` where the SDK is not there.
    pub(crate) fn list(self) -> Option<Vec<String>> {
        let output = self.run("--list")?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", output.status);
        let names = String::from_utf8(output.stdout).unwrap();
        Some(names.lines().map(str::to_owned).collect())
    }

    fn run(self, argument: &str) -> Option<Output> {
        let sdk = demand::sdk(self.sdk)?;
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let (cli, model) = match std::env::var("SDKS_ON").as_deref() {
            Ok("real") => (demand::cli(VERSION)?, Some(Model::start(&sandbox)?)),
            _ => (scripted(), None),
        };
        let launch = Launch {
            base_url: model.as_ref().map_or(NOWHERE, |model| &model.url).into(),
            ..Launch::default()
        };
        let spec = sandbox.spec(&cli, &launch).unwrap();
        let output = Command::new(&sdk.interpreter)
            .arg(suites().join(self.runner))
            .arg(argument)
            .env_clear()
            .envs(spec.env)
            .envs(about(&sdk, &cli))
            .current_dir(spec.cwd)
            .stdin(Stdio::null())
            .output();
        Some(output.unwrap())
    }
}

/// What the runner has to know.
fn about(sdk: &InstalledSdk, cli: &Installed) -> [(&'static str, OsString); 3] {
    [
        ("SDKS_CLI", cli.command[0].clone()),
        ("SDKS_PACKAGE", sdk.package.clone().into()),
        // The suite's own folder is left as it is.
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
    ]
}

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdks")
}

/// The example that is built next to the tests, in the real CLI's place.
fn scripted() -> Installed {
    let program = demand::example("play_scenario");
    Installed {
        pinned: Pinned::find(VERSION).unwrap(),
        dir: program.parent().unwrap().to_owned(),
        command: vec![program.into()],
    }
}

/// The model that the real CLI talks to. The scripted CLI needs none.
#[derive(Debug)]
struct Model {
    process: Child,
    url: String,
}

impl Model {
    fn start(sandbox: &Sandbox) -> Option<Self> {
        let python = demand::sdk(&PYTHON_SDK)?.interpreter;
        let mut process = Command::new(python)
            .arg(suites().join("python/plain_model.py"))
            .args([sandbox.home(), sandbox.project()])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let stdout = process.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut url).unwrap();
        let url = url.trim_end().to_owned();
        Some(Self { process, url })
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

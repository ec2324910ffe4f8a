//! A first run of a model in a process of its own, whose memory and time are limited.
//!
//! A small model can ask for any amount of both: an `Expand` to a trillion elements, an infinite `Loop`, a graph so
//! deep that it overflows the stack. None of these can be caught in the process in which it happens.

use super::error::OnnxProblem;
use super::file::OnnxFile;
use super::settings::{Layout, OnnxSettings, Preprocessing};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Beyond the file itself, for the process of the trial run.
const MAX_BYTES: u64 = 8 << 30;
const MAX_TIME: Duration = Duration::from_secs(120);
/// With more nodes than this, a model may be too deep.
const MAX_PLAIN_NODES: usize = 5000;

/// Operators whose outputs are about as large as their inputs and weights. Models of these alone need no trial run.
const PLAIN: [&str; 40] = [
    "Add",
    "AveragePool",
    "BatchNormalization",
    "Cast",
    "Clip",
    "Concat",
    "Constant",
    "Conv",
    "Div",
    "Dropout",
    "Erf",
    "Flatten",
    "Gather",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LayerNormalization",
    "LeakyRelu",
    "MatMul",
    "MaxPool",
    "Mul",
    "Pow",
    "ReduceMean",
    "Relu",
    "Reshape",
    "Shape",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Tanh",
    "Transpose",
    "Unsqueeze",
];

/// The program that answers with [`answer_trial_run`] when it is called with [`TRIAL_RUN`].
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The exit code of the program when it has no memory left.
pub const OUT_OF_MEMORY: u8 = 12;

/// The argument of the program.
pub const TRIAL_RUN: &str = "onnx-trial-run";

/// From now on, models with operators of unlimited size are first run by this program, in a process with limits.
pub fn try_onnx_models_with(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

/// What the process is to run.
#[derive(Serialize, Deserialize)]
struct Request {
    file: PathBuf,
    /// `None` to list all values.
    scene: Option<String>,
    map: Option<String>,
    mean: [f32; 3],
    std: [f32; 3],
    layout: Option<Layout>,
    max_bytes: u64,
}

impl Request {
    fn new(path: &Path, preprocessing: &Preprocessing, n_file_bytes: usize) -> Self {
        let Preprocessing { mean, std, layout } = preprocessing.clone();
        let max_bytes = MAX_BYTES + 8 * n_file_bytes as u64;
        Self { file: path.to_owned(), scene: None, map: None, mean, std, layout, max_bytes }
    }
}

/// Runs a model that is opened with these settings; whether it is otherwise suitable is found out later.
pub(super) fn try_opening(
    settings: &OnnxSettings,
    file: &OnnxFile<'_>,
    n_bytes: usize,
) -> Result<(), OnnxProblem> {
    let request = Request::new(&settings.file, &settings.preprocessing, n_bytes);
    try_running(file, &Request { scene: Some(settings.scene.clone()), map: settings.map.clone(), ..request })
}

/// Runs a model whose values are listed.
pub(super) fn try_listing(
    path: &Path,
    preprocessing: &Preprocessing,
    file: &OnnxFile<'_>,
    n_bytes: usize,
) -> Result<(), OnnxProblem> {
    try_running(file, &Request::new(path, preprocessing, n_bytes))
}

fn try_running(file: &OnnxFile<'_>, request: &Request) -> Result<(), OnnxProblem> {
    let is_plain = file.nodes.len() <= MAX_PLAIN_NODES
        && file.nodes.iter().all(|node| node.inner_inputs.is_empty() && PLAIN.contains(&node.operator));
    let Some(program) = PROGRAM.get().filter(|_| !is_plain) else { return Ok(()) };
    let mut child = start(program, request)?;
    match wait(&mut child)? {
        // Its own answer is found again here, as a typed error.
        Some(status) if status.code().is_some_and(|code| code != i32::from(OUT_OF_MEMORY)) => Ok(()),
        Some(_) => Err(OnnxProblem::TooLarge { max_gb: request.max_bytes >> 30 }),
        None => Err(OnnxProblem::TooSlow { max_secs: MAX_TIME.as_secs() }),
    }
}

fn start(program: &Path, request: &Request) -> io::Result<Child> {
    let mut child = limited(program, request.max_bytes)
        // Threads reserve memory, too.
        .envs([("RTEN_NUM_THREADS", "1"), ("RAYON_NUM_THREADS", "1"), ("MALLOC_ARENA_MAX", "2")])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let written = child
        .stdin
        .take()
        .map_or(Ok(()), |mut stdin| stdin.write_all(&serde_json::to_vec(request).unwrap_or_default()));
    // It may have ended before it had read all.
    written.or(Ok(())).map(|()| child)
}

/// The program with limited memory, where there is a shell that can limit it.
fn limited(program: &Path, max_bytes: u64) -> Command {
    if !cfg!(unix) {
        let mut command = Command::new(program);
        command.arg(TRIAL_RUN);
        return command;
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -v \"$2\"; ulimit -c 0; exec \"$0\" \"$1\""]);
    command.arg(program).arg(TRIAL_RUN).arg((max_bytes >> 10).to_string());
    command
}

/// `None` if it took too long and was killed.
fn wait(child: &mut Child) -> io::Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > MAX_TIME {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Runs the model that standard input names.
pub fn answer_trial_run() -> ExitCode {
    let mut json = Vec::new();
    let read = io::stdin().lock().take(1 << 20).read_to_end(&mut json);
    let Some(request) = read.ok().and_then(|_| serde_json::from_slice::<Request>(&json).ok()) else {
        return ExitCode::FAILURE;
    };
    let Request { file, scene, map, mean, std, layout, .. } = request;
    let preprocessing = Preprocessing { mean, std, layout };
    let is_ok = match scene {
        Some(scene) => super::OnnxEncoder::open(&OnnxSettings { file, scene, map, preprocessing }).is_ok(),
        None => super::OnnxModelInfo::read(&file, &preprocessing).is_ok(),
    };
    if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! The gate as a service: questions that need no memory, sessions, and loops, over HTTP.
//!
//! What needs no memory is answered by the component of `bindings/http`, which other engines run, too. Loops are run here,
//! each by a process of its own, and told as streams of events. Sessions are kept here for harnesses that run their loops
//! themselves.
//!
//! Safe unless it is told otherwise: it listens on this machine alone, wants a token beyond it, and bounds bodies, time,
//! connections and requests.

mod accept;
mod access;
mod asked;
mod error;
mod gate;
mod key_path;
mod loops;
mod metrics;
mod options;
mod problem;
mod reply;
mod router;
mod sessions;
mod token;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

use crate::config::Config;
use crate::engine::{GateEngine, GateLimits, HttpGate};
use access::AccessLog;
pub use error::ServeError;
use loops::Loops;
use metrics::Metrics;
pub use options::{ServeLimits, ServeOptions};
use sessions::Sessions;
use token::Door;

/// How many connections may wait to be taken. The system may have a limit of its own.
const WAITING: i32 = 4096;

/// What all requests share.
struct Shared {
    http: Arc<HttpGate>,
    gate: Arc<GateEngine>,
    loops: Option<Arc<Loops>>,
    sessions: Option<Arc<Sessions>>,
    program: PathBuf,
    door: Door,
    limits: ServeLimits,
    seats: Semaphore,
    /// For long bodies, while they are received.
    long_seats: Semaphore,
    metrics: Arc<Metrics>,
    access: AccessLog,
    echo: bool,
}

/// A server that listens, and answers once it is run.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
    shared: Arc<Shared>,
}

/// Ends a server.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Sender<bool>);

impl Shutdown {
    /// A shutdown that nobody has asked for.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Lets the server end: no new connections, loops stop so that they can be resumed, requests under way are answered.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// Takes the address and loads the gate. Requests that come now wait until it is run.
    pub fn bind(options: &ServeOptions) -> Result<Self, ServeError> {
        options.check()?;
        let config = options.config.as_deref().map(Config::load).transpose()?;
        let loops = config.map(Loops::new);
        let sessions = options.store.as_deref().map(Sessions::at).transpose()?;
        see_that_they_are_apart(loops.as_ref(), sessions.as_ref())?;
        let listen = |error| ServeError::Listen {
            listen: options.listen,
            error,
        };
        let listener = TcpListener::bind(options.listen).map_err(listen)?;
        // Many may come at once: whoever finds no place tries again after a second.
        rustix::net::listen(&listener, WAITING).map_err(|error| listen(error.into()))?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let limits = GateLimits::default();
        let shared = Shared {
            http: Arc::new(HttpGate::new(limits)?),
            gate: Arc::new(GateEngine::with_limits(limits)?),
            loops: loops.map(Arc::new),
            sessions: sessions.map(Arc::new),
            program: options.program.clone(),
            door: Door::new(options.token.as_deref()),
            limits: options.limits,
            seats: Semaphore::new(options.limits.requests),
            long_seats: Semaphore::new(router::LONG_SEATS),
            metrics: Arc::default(),
            access: AccessLog::new(options.access_log).map_err(ServeError::System)?,
            echo: options.echo,
        };
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .thread_name("serve")
            .build()
            .map_err(ServeError::System)?;
        Ok(Self {
            listener,
            address,
            runtime,
            shared: Arc::new(shared),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until it is told to end.
    pub fn run(self, shutdown: &Shutdown) -> Result<(), ServeError> {
        let Self {
            listener,
            runtime,
            shared,
            ..
        } = self;
        allow_many_files();
        let ending = shutdown.0.subscribe();
        let served = runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let ended = end_loops(Arc::clone(&shared), ending.clone());
            let ended = tokio::spawn(ended);
            accept::accept(listener, shared, ending).await;
            ended.await.map_err(std::io::Error::other)
        });
        runtime.shutdown_background();
        served.map_err(ServeError::System)
    }
}

/// Sessions that others show evidence for are kept apart from those whose checks are run here.
fn see_that_they_are_apart(
    loops: Option<&Loops>,
    sessions: Option<&Sessions>,
) -> Result<(), ServeError> {
    match (loops, sessions) {
        (Some(loops), Some(sessions)) if sessions.are_in(&loops.root) => Err(ServeError::Store {
            code: "serve_store",
            message: format!(
                "{} is where the loops of the configuration are; keep sessions in another folder",
                loops.root.display()
            ),
        }),
        _ => Ok(()),
    }
}

/// Waits for the end of the server, then lets every loop stop and waits for that, but not longer than it may.
async fn end_loops(shared: Arc<Shared>, mut ending: watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
    let Some(loops) = shared.loops.clone() else {
        return;
    };
    let until = tokio::time::Instant::now() + shared.limits.grace;
    while !loops.keys().is_empty() && tokio::time::Instant::now() < until {
        let told = Arc::clone(&loops);
        let _ = tokio::task::spawn_blocking(move || told.cancel_all()).await;
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// As many open files as the system lets this process have: each connection is one.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: now.maximum,
        maximum: now.maximum,
    };
    // Otherwise it has fewer.
    let _ = setrlimit(Resource::Nofile, wanted);
}

//! Runs a test in a network of its own, which has nothing but the loopback device.
//!
//! The server of a test and its client must share the network, so the test's own program is started again inside.
//! Where the system does not permit that, the test runs where it is; then only the proxy of [`DEAD_PROXY`] keeps
//! the client from the outside.

use std::env;
use std::process::{Command, Output, Stdio};

use crate::binary::{BUILT, binary};

/// Nothing listens there: the port is reserved for a service that discards.
pub const DEAD_PROXY: &str = "http://127.0.0.1:9";
/// Set inside of the network.
const INSIDE: &str = "RALPH_GATE_OFFLINE";
const ENTER: [&str; 6] = [
    "--user",
    "--map-root-user",
    "--net",
    "sh",
    "-c",
    r#"ip link set lo up && exec "$@""#,
];

/// Defines tests that run in a network of their own.
#[macro_export]
macro_rules! offline_tests {
    ($($(#[$attribute:meta])* fn $name:ident() $body:block)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $name() {
            $crate::clients::offline::run(concat!(module_path!(), "::", stringify!($name)), || $body);
        }
    )*};
}

/// Runs the body of the test of this path (with its crate) in a network of its own.
///
/// # Panics
///
/// If the test fails inside.
pub fn run(path: &str, body: impl FnOnce()) {
    if env::var_os(INSIDE).is_some() || !permitted() {
        return body();
    }
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    let output = env::current_exe().and_then(|program| {
        entered()
            .arg(program)
            .args(["--exact", name, "--nocapture"])
            .env(INSIDE, "1")
            .env(BUILT, binary())
            .output()
    });
    let said = output.map_or_else(|error| error.to_string(), |output| said(&output));
    // A name that fits no test would pass otherwise.
    assert!(
        said.contains("1 passed"),
        "{name} failed in its own network:\n{said}"
    );
}

fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn permitted() -> bool {
    let status = entered()
        .arg("true")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// A command in a new network. The program is its first argument.
fn entered() -> Command {
    let mut command = Command::new("unshare");
    command.args(ENTER).arg("sh");
    command
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener, TcpStream};

    offline_tests! {
        fn the_network_has_a_loopback_device_and_nothing_else() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            if std::env::var_os(super::INSIDE).is_some() {
                let outside: SocketAddr = "192.0.2.1:80".parse().unwrap();
                let error = TcpStream::connect(outside).unwrap_err();
                assert_eq!(error.kind(), std::io::ErrorKind::NetworkUnreachable);
            }
        }
    }
}

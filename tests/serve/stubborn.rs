//! Clients that are slow, too large, malformed or simply there: the server cuts them off and answers the others.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown as Half, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use ralph_gate::serve::{ServeLimits, ServeOptions, Server, Shutdown};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::web::{Connection, Served};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A server in this process, with limits that are soon reached.
struct Small {
    address: SocketAddr,
    shutdown: Shutdown,
    running: Option<thread::JoinHandle<()>>,
}

impl Small {
    fn start(limits: ServeLimits) -> Self {
        let listen = "127.0.0.1:0".parse().unwrap();
        let options = ServeOptions {
            limits,
            access_log: false,
            ..ServeOptions::new(listen, PathBuf::from("unused"))
        };
        let server = Server::bind(&options).unwrap();
        let (address, shutdown) = (server.address(), Shutdown::new());
        let end = shutdown.clone();
        let running = thread::spawn(move || server.run(&end).unwrap());
        Self {
            address,
            shutdown,
            running: Some(running),
        }
    }

    fn connect(&self) -> Connection {
        Connection::to(self.address).unwrap()
    }

    /// Whether others are answered.
    fn answers(&self) -> bool {
        let asked = self.connect().post("/v1/promise", r#"{"output": "x"}"#);
        asked.unwrap().status == 200
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        self.shutdown.begin();
        let ended = self.running.take().map(thread::JoinHandle::join);
        if !thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

fn limits() -> ServeLimits {
    ServeLimits {
        head: Duration::from_millis(300),
        body_time: Duration::from_millis(300),
        stalled: Duration::from_millis(300),
        grace: Duration::from_secs(5),
        ..ServeLimits::default()
    }
}

/// All that a connection still gives, until the server closes it.
fn rest(connection: &mut Connection) -> String {
    let mut rest = Vec::new();
    // Cut off hard or softly.
    let _ = connection.raw().read_to_end(&mut rest);
    String::from_utf8_lossy(&rest).into_owned()
}

#[test]
fn half_a_head_is_waited_for_no_longer_than_it_may_take() {
    let server = Small::start(limits());
    let mut slow = server.connect();
    slow.raw()
        .write_all(b"POST /v1/promise HTTP/1.1\r\nhost: loc")
        .unwrap();
    assert!(server.answers());
    let said = rest(&mut slow);
    assert!(!said.contains(" 200 "), "{said}");
    assert!(server.answers());
}

#[test]
fn half_a_body_is_waited_for_no_longer_than_it_may_take() {
    let server = Small::start(limits());
    let mut slow = server.connect();
    let head = "POST /v1/promise HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    slow.raw().write_all(head.as_bytes()).unwrap();
    assert!(server.answers());
    let said = rest(&mut slow);
    assert!(
        said.starts_with("HTTP/1.1 408 ") && said.contains("body_timed_out"),
        "{said}"
    );
}

#[test]
fn a_body_that_is_too_large_is_not_read() {
    let server = Small::start(ServeLimits {
        body: 4096,
        ..limits()
    });
    let mut announced = server.connect();
    let head = "POST /v1/promise HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n";
    announced.raw().write_all(head.as_bytes()).unwrap();
    let answer = announced.answer(false).unwrap();
    assert_eq!(
        (answer.status, answer.json()["observed"].as_u64()),
        (413, Some(5000))
    );

    let mut unannounced = server.connect();
    let head = "POST /v1/promise HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    unannounced.raw().write_all(head.as_bytes()).unwrap();
    let piece = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    for _ in 0..2 {
        let _ = unannounced.raw().write_all(piece.as_bytes());
    }
    assert_eq!(unannounced.answer(false).unwrap().status, 413);
    assert!(server.answers());
}

#[test]
fn what_is_no_request_is_refused_and_nobody_else_notices() {
    let server = Small::start(limits());
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET\r\n\r\n",
        b"POST /v1/promise HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"POST /v1/promise HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/promise HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"GET /healthz HTTP/1.1\r\nhost : localhost\r\n\r\n",
    ] {
        let mut connection = server.connect();
        connection.raw().write_all(nonsense).unwrap();
        let said = rest(&mut connection);
        assert!(!said.contains(" 200 "), "{nonsense:?}: {said}");
        assert!(server.answers());
    }
}

#[test]
fn two_lengths_that_disagree_are_one_request_or_none() {
    let server = Small::start(limits());
    let mut connection = server.connect();
    // What a front server might take for the body, and another one for a second request.
    let smuggled = "POST /v1/promise HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\
                    transfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    connection.raw().write_all(smuggled.as_bytes()).unwrap();
    let said = rest(&mut connection);
    assert!(!said.contains("\"status\":\"ok\""), "{said}");
}

#[test]
fn who_says_no_more_is_still_answered() {
    let server = Small::start(limits());
    let mut connection = server.connect();
    let body = r#"{"output": "x"}"#;
    let request = format!(
        "POST /v1/promise HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.raw().write_all(request.as_bytes()).unwrap();
    connection.raw().shutdown(Half::Write).unwrap();
    assert_eq!(connection.answer(false).unwrap().status, 200);
}

#[test]
fn a_connection_that_says_nothing_more_is_closed() {
    let server = Small::start(limits());
    let mut connection = server.connect();
    assert_eq!(connection.get("/healthz").unwrap().status, 200);
    assert_eq!(rest(&mut connection), "");
}

#[test]
fn who_takes_nothing_of_its_answers_is_cut_off() {
    let server = Small::start(ServeLimits {
        head: Duration::from_mins(1),
        ..limits()
    });
    let mut greedy = server.connect();
    let request = "GET /v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(400);
    greedy.raw().write_all(request.as_bytes()).unwrap();
    assert!(server.answers());
    // Nobody reads until the server has given up on this connection, which it counts no more.
    let is_gone = || {
        let metrics = server.connect().get("/metrics").unwrap().body;
        metrics
            .lines()
            .any(|line| line == "ralph_gate_connections 1")
    };
    while !is_gone() {}
    let answers = rest(&mut greedy).matches("HTTP/1.1 200").count();
    assert!(answers < 400, "all of them were sent");
}

#[test]
fn idle_connections_make_room_for_others() {
    let server = Small::start(ServeLimits {
        connections: 50,
        head: Duration::from_mins(1),
        ..limits()
    });
    let idle: Vec<Connection> = (0..300).map(|_| server.connect()).collect();
    assert!(server.answers());
    assert_eq!(idle.len(), 300);
    let metrics = server.connect().get("/metrics").unwrap().body;
    let evicted = metrics
        .lines()
        .find_map(|line| line.strip_prefix("ralph_gate_connections_evicted_total "));
    assert!(evicted.unwrap().parse::<u32>().unwrap() >= 250, "{metrics}");
}

/// The real server, as it is without options: a connection is a file, and no process has twenty thousand.
#[test]
fn ten_thousand_idle_connections_keep_nobody_waiting() {
    const IDLE: usize = 10_000;
    let files = getrlimit(Resource::Nofile);
    let most = files.maximum.unwrap_or(u64::MAX);
    assert!(most > 10_100, "this system allows {most} files a process");
    let allowed = Rlimit {
        current: files.maximum,
        ..files
    };
    setrlimit(Resource::Nofile, allowed).unwrap();
    let server = Served::start(Command::new(binary()), &["--no-access-log"]).unwrap();
    let idle: Vec<TcpStream> = (0..IDLE)
        .map(|_| TcpStream::connect(server.address).unwrap())
        .collect();
    let mut connection = server.connect().unwrap();
    let begun = Instant::now();
    let answer = connection
        .post("/v1/promise", r#"{"output": "x"}"#)
        .unwrap();
    assert_eq!(answer.status, 200);
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    let metrics = connection.get("/metrics").unwrap().body;
    let open = metrics
        .lines()
        .find_map(|line| line.strip_prefix("ralph_gate_connections "));
    let open: usize = open.unwrap().parse().unwrap();
    assert!(open > IDLE, "{open}");
    drop(idle);
}

#[test]
fn more_at_once_than_may_be_are_told_to_try_again() {
    let server = Small::start(ServeLimits {
        requests: 1,
        ..ServeLimits::default()
    });
    let body = format!(r#"{{"output": "{}"}}"#, "word ".repeat(400_000));
    let ask = |_| {
        let mut connection = server.connect();
        let mut busy = 0;
        for _ in 0..20 {
            let answer = connection.post("/v1/promise", &body).unwrap();
            match answer.status {
                200 => {}
                429 => {
                    assert_eq!(answer.header("retry-after"), Some("1"));
                    busy += 1;
                }
                other => panic!("{other}: {}", answer.body),
            }
        }
        busy
    };
    let busy: u32 = thread::scope(|scope| {
        let asking: Vec<_> = (0..6).map(|it| scope.spawn(move || ask(it))).collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).sum()
    });
    assert!(busy > 0, "nobody was told to try again");
    assert!(server.answers());
}

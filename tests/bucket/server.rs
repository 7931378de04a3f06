//! The server of S3 as a process, for as long as a test needs it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use ralph_gate_tests::python::python;

use crate::BUCKET;

/// A server with one empty bucket, on a free port of this machine.
pub(crate) struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Every so many writes of a session fail; none of them if it is 0.
    pub(crate) fn start(lies: u32) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bucket/server.py");
        let mut process = Command::new(python("bucket"))
            .arg(script)
            .args(["--lies", &lies.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().context("no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let port = line.trim().parse();
        let server = Self {
            process,
            port: port.context("the server did not say where it is")?,
        };
        server.make_bucket()?;
        Ok(server)
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What a program has to know of it.
    pub(crate) fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ]
    }

    /// The client of object storage has no way to make a bucket.
    fn make_bucket(&self) -> Result<()> {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.port))?;
        let request = format!(
            "PUT /{BUCKET} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            self.port
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(answer.starts_with("HTTP/1.1 200"), "no bucket: {answer}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

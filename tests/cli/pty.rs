//! A pseudo terminal with the real command behind it and a terminal emulator in front of it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// After this without a byte something hangs.
const HUNG: Duration = Duration::from_mins(1);

/// A command that believes a person watches.
pub(crate) struct Watched {
    pub(crate) child: Child,
    /// Everything that it wrote.
    pub(crate) bytes: Vec<u8>,
    keyboard: File,
    parser: vt100::Parser,
    chunks: Receiver<Vec<u8>>,
}

impl Watched {
    /// Starts the command on a terminal of that size.
    pub(crate) fn start(mut command: Command, rows: u16, columns: u16) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&controller, size).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        command
            .stdin(Stdio::from(terminal.try_clone().unwrap()))
            .stdout(Stdio::from(terminal.try_clone().unwrap()))
            .stderr(Stdio::from(terminal));
        let child = command.spawn().unwrap();
        // Its copies of the terminal: the end is seen when nobody has one any more.
        drop(command);
        let keyboard = File::from(controller.try_clone().unwrap());
        let (rows, columns) = (NonZeroU16::new(rows), NonZeroU16::new(columns));
        Self {
            child,
            bytes: Vec::new(),
            keyboard,
            parser: vt100::Parser::new(rows.unwrap(), columns.unwrap(), 0),
            chunks: read(controller),
        }
    }

    pub(crate) fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// What a person sees, without the empty rows below.
    pub(crate) fn text(&self) -> String {
        let contents = self.screen().contents();
        let rows = contents.lines().map(str::trim_end);
        let rows: Vec<&str> = rows.collect();
        format!("{}\n", rows.join("\n").trim_end())
    }

    /// Types a line.
    pub(crate) fn type_line(&mut self, line: &str) {
        self.keyboard
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    /// Reads until every one of these texts is on the screen.
    pub(crate) fn wait_for(&mut self, texts: &[&str]) {
        while !texts.iter().all(|text| self.text().contains(text)) {
            assert!(self.take(), "{texts:?} never came:\n{}", self.text());
        }
    }

    /// Reads to the end and gives the exit code.
    pub(crate) fn finish(&mut self) -> i32 {
        while self.take() {}
        let status = self.child.wait().unwrap();
        status.code().expect("the guard itself was killed")
    }

    /// Shows what came next, if anything can come.
    fn take(&mut self) -> bool {
        match self.chunks.recv_timeout(HUNG) {
            Ok(chunk) if chunk.is_empty() => false,
            Ok(chunk) => {
                self.parser.process(&chunk);
                self.bytes.extend(chunk);
                true
            }
            Err(error) => panic!("it hangs ({error}):\n{}", self.text()),
        }
    }
}

impl Drop for Watched {
    /// A test that failed leaves nothing running: the guard's death is everybody's.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads in a thread of its own. An empty chunk is the end.
fn read(controller: OwnedFd) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    let mut controller = File::from(controller);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            // Linux reports the end of a terminal as an error.
            let length = controller.read(&mut buffer).unwrap_or(0);
            if sender.send(buffer[..length].to_vec()).is_err() || length == 0 {
                return;
            }
        }
    });
    receiver
}

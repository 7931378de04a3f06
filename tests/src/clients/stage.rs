//! A repository, a model and a client, and hooks that answer by the number of the call.

use std::{fs, thread};

use serde_json::{Value, json};

use super::model_server::{ModelServer, Turn};
use super::{Client, Run};
use crate::place::Place;

/// A client in a repository, and the model that it asks.
#[derive(Debug)]
pub struct Stage {
    /// The client.
    pub client: Client,
    /// The repository, and the person's home beside it.
    pub place: Place,
    /// The model.
    pub model: ModelServer,
}

impl Stage {
    /// With these files in the repository.
    ///
    /// # Panics
    ///
    /// If it can't be made.
    pub fn new(
        client: Client,
        files: &[(&str, &str)],
        turns: impl IntoIterator<Item = Turn>,
    ) -> Self {
        Self {
            client,
            place: Place::new(files),
            model: ModelServer::start(turns).expect("a server"),
        }
    }

    /// Where it does not matter what is in the repository.
    ///
    /// # Panics
    ///
    /// If it can't be made.
    pub fn anywhere(client: Client, turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::new(client, &[("README.md", "A project.\n")], turns)
    }

    /// A run of the client, yet to be started.
    pub fn run(&self) -> Run<'_> {
        Run::new(self.client, &self.place, self.model.address())
    }

    /// A hook that runs the commands of its first reply at its first call, and so on, and says nothing after the last.
    /// Gives the command that runs it.
    ///
    /// # Panics
    ///
    /// If it can't be written.
    pub fn hook(&self, name: &str, replies: &[&str]) -> String {
        let folder = self.place.beside(name);
        fs::create_dir(&folder).expect("a folder");
        for (number, reply) in replies.iter().enumerate() {
            fs::write(folder.join(format!("{}.sh", number + 1)), reply).expect("written");
        }
        let script = format!(
            "cd {} || exit 70\n\
             call=$(($(cat calls 2>/dev/null || echo 0) + 1)); echo $call > calls\n\
             cat > event.json; cat event.json >> events.jsonl; echo >> events.jsonl\n\
             if [ -e $call.sh ]; then . ./$call.sh; fi\n",
            folder.display()
        );
        let path = folder.join("hook.sh");
        fs::write(&path, script).expect("written");
        // The shell reads the file: a file that was just written can't always be run itself.
        format!("sh {}", path.display())
    }

    /// What a hook of this name was told, call by call.
    ///
    /// # Panics
    ///
    /// If that is not JSON.
    pub fn told(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.place.beside(name).join("events.jsonl"));
        let text = text.unwrap_or_default();
        let lines = text.lines().filter(|line| !line.is_empty());
        let read = |line| serde_json::from_str(line).expect("JSON");
        lines.map(read).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What runs the checks may end a little later than the client that asked for them.
        if !thread::panicking() {
            self.place.mark.wait_until_gone().expect("all has ended");
        }
    }
}

/// A block in the one form that all clients accept.
pub fn block(reason: &str) -> String {
    say(&json!({ "decision": "block", "reason": reason }).to_string())
}

/// A command of the shell that prints a text.
pub fn say(text: &str) -> String {
    format!("printf %s '{}'\n", text.replace('\'', r"'\''"))
}

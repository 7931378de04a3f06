//! The stateless functions of the typed face.

use super::gate::GateEngine;
use super::size::TextSize as _;
use super::{
    Brief, CallError, ContractReport, EngineError, Fingerprint, GateError, IssueStates, Iteration,
    LoopFile, LoopFileChange, Prd, PrdUpdate, ProgressEntry, ProgressLog, PromiseReport,
    PromiseRules, Resumption, Routing, SignalReport, SnapshotView, TextFormat, Verdict,
};

impl GateEngine {
    /// Evaluates one iteration, for short-lived callers such as a hook process.
    pub fn evaluate_final(
        &self,
        contract: &str,
        snapshot: Option<&str>,
        iteration: &Iteration,
    ) -> Result<Verdict, CallError> {
        let size = contract.len() + snapshot.map_or(0, str::len) + iteration.text_size();
        let parameters = (contract, snapshot, iteration);
        let verdict: Result<Verdict, GateError> =
            self.ask(&self.exports().evaluate_final, parameters, size)?;
        Ok(verdict?)
    }

    /// Reads a contract and reports every problem and weakness at once. Without a format, it is recognised.
    pub fn check_contract(
        &self,
        text: &str,
        format: Option<TextFormat>,
    ) -> Result<ContractReport, EngineError> {
        self.ask(&self.exports().check_contract, (text, format), text.len())
    }

    /// Decides where a request goes. An empty policy is the default one.
    pub fn route(&self, request: &str, policy: &str) -> Result<Routing, CallError> {
        let size = request.len() + policy.len();
        let routing: Result<Routing, GateError> =
            self.ask(&self.exports().route, (request, policy), size)?;
        Ok(routing?)
    }

    /// What to tell the agent before the next iteration.
    pub fn write_brief(&self, contract: &str, snapshot: Option<&str>) -> Result<Brief, CallError> {
        let size = contract.len() + snapshot.map_or(0, str::len);
        let brief: Result<Brief, GateError> =
            self.ask(&self.exports().write_brief, (contract, snapshot), size)?;
        Ok(brief?)
    }

    /// Goes on with a stopped loop, or with another contract. Gives the new snapshot.
    pub fn resume(
        &self,
        contract: &str,
        snapshot: &str,
        resumption: &Resumption,
    ) -> Result<String, CallError> {
        let size =
            contract.len() + snapshot.len() + resumption.operator.len() + resumption.reason.len();
        let parameters = (contract, snapshot, resumption);
        let snapshot: Result<String, GateError> =
            self.ask(&self.exports().resume, parameters, size)?;
        Ok(snapshot?)
    }

    /// Finds the promises in an agent's output.
    pub fn parse_promises(
        &self,
        output: &str,
        rules: PromiseRules,
    ) -> Result<PromiseReport, EngineError> {
        self.ask(
            &self.exports().parse_promises,
            (output, rules),
            output.len(),
        )
    }

    /// Fingerprints an iteration's work, without a loop.
    pub fn take_fingerprint(&self, iteration: &Iteration) -> Result<Fingerprint, CallError> {
        let size = iteration.text_size();
        let fingerprint: Result<Fingerprint, GateError> =
            self.ask(&self.exports().take_fingerprint, (iteration,), size)?;
        Ok(fingerprint?)
    }

    /// Decides the loop signal from issue states.
    pub fn decide_signal(&self, states: &IssueStates) -> Result<SignalReport, EngineError> {
        let size = states.text_size();
        self.ask(&self.exports().decide_signal, (states,), size)
    }

    /// Reads a snapshot.
    pub fn read_snapshot(&self, text: &str) -> Result<SnapshotView, CallError> {
        let view: Result<SnapshotView, GateError> =
            self.ask(&self.exports().read_snapshot, (text,), text.len())?;
        Ok(view?)
    }

    /// Reads `prd.json`.
    pub fn read_prd(&self, text: &str) -> Result<Prd, CallError> {
        let prd: Result<Prd, GateError> =
            self.ask(&self.exports().read_prd, (text,), text.len())?;
        Ok(prd?)
    }

    /// Changes lines of the checklist; everything else stays byte for byte.
    pub fn update_prd(&self, text: &str, updates: &[PrdUpdate]) -> Result<String, CallError> {
        let size = text.len() + updates.iter().map(PrdUpdate::text_size).sum::<usize>();
        let prd: Result<String, GateError> =
            self.ask(&self.exports().update_prd, (text, updates), size)?;
        Ok(prd?)
    }

    /// Reads `progress.txt`. What is not an entry is kept.
    pub fn read_progress(&self, text: &str) -> Result<ProgressLog, EngineError> {
        self.ask(&self.exports().read_progress, (text,), text.len())
    }

    /// The bytes to append to `progress.txt` for an entry.
    pub fn write_progress(&self, entry: &ProgressEntry) -> Result<String, EngineError> {
        let size = entry.title.len() + entry.body.len();
        self.ask(&self.exports().write_progress, (entry,), size)
    }

    /// Reads a loop state file.
    pub fn read_loop_file(&self, text: &str) -> Result<LoopFile, CallError> {
        let file: Result<LoopFile, GateError> =
            self.ask(&self.exports().read_loop_file, (text,), text.len())?;
        Ok(file?)
    }

    /// Changes the front matter of a loop state file; the prompt stays byte for byte.
    pub fn update_loop_file(
        &self,
        text: &str,
        change: &LoopFileChange,
    ) -> Result<String, CallError> {
        let size = text.len() + change.session_id.as_ref().map_or(0, String::len);
        let file: Result<String, GateError> =
            self.ask(&self.exports().update_loop_file, (text, change), size)?;
        Ok(file?)
    }

    /// A new loop state file.
    pub fn write_loop_file(&self, file: &LoopFile) -> Result<String, EngineError> {
        let size = file.prompt.len() + file.completion_promise.as_ref().map_or(0, String::len);
        self.ask(&self.exports().write_loop_file, (file,), size)
    }
}

//! Closed sets of words in a configuration.

use crate::words::words;

words! {
    /// What gives a check its result.
    KindName {
        /// A program and how it ends.
        Command = "command",
        /// A test program and the results that it reports.
        TestsGreen = "tests_green",
        /// The checklist.
        PrdAllPass = "prd_all_pass",
        /// The findings of a scanner.
        NoHighRisk = "no_high_risk",
        /// The repository.
        Git = "git",
        /// One file.
        File = "file",
        /// What a component makes of the evidence.
        Policy = "policy",
        /// What an expression of the Common Expression Language makes of it.
        Cel = "cel",
        /// What a module of Rego makes of it.
        Rego = "rego",
    }
}

words! {
    /// What a policy gets of WASI, which programs with a standard library ask for.
    WasiGrant {
        /// Nothing: a policy that asks for it is not run.
        None = "none",
        /// One without files, environment, network, time and chance.
        DenyAll = "deny-all",
    }
}

words! {
    /// Which client an agent is.
    AdapterName {
        /// Claude Code.
        Claude = "claude",
        /// Codex CLI.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// Any other program: what it prints is its answer.
        Command = "command",
    }
}

words! {
    /// How an agent gets its prompt.
    PromptTo {
        /// On standard input.
        Stdin = "stdin",
        /// As the last argument, or in place of `{prompt}`.
        Argument = "argument",
    }
}

words! {
    /// What becomes of processes that an agent leaves running.
    Leftovers {
        /// They are killed, and the iteration can't complete.
        Refuse = "refuse",
        /// They are killed.
        Kill = "kill",
    }
}

words! {
    /// How much of what happens goes into the event log.
    RecordName {
        /// All of it.
        Full = "full",
        /// Digests and lengths in place of texts.
        DigestOnly = "digest_only",
    }
}

words! {
    /// A metric that can be chosen before an experiment.
    PrimaryMetric {
        /// Ended as complete.
        Completion = "completion_rate",
        /// Ended as complete, and is.
        VerifiedCompletion = "verified_completion_rate",
        /// Ended as complete, and is not.
        FalseComplete = "false_complete_rate",
        /// Left to a person.
        Handoff = "handoff_rate",
    }
}

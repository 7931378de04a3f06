//! The engine against the real gate: both faces agree, and every limit is a typed error.

use super::*;

const CONTRACT: &str = r#"{
    "mode": "ralph", "completion_token": "DONE", "completion_checks": ["tests_green"], "loop_max_iters": 5
}"#;

fn engine() -> GateEngine {
    GateEngine::new().unwrap()
}

/// An agent that claims to be done while the tests fail.
fn claim() -> Iteration {
    Iteration {
        index: 1,
        action: Action::Final,
        output: "All done.\n<promise>DONE</promise>".to_owned(),
        checks: vec![CheckResult {
            id: "tests_green".to_owned(),
            outcome: Outcome::Fail,
            reason: Some("2 of 14 failed".to_owned()),
            code: None,
            attempts: Vec::new(),
            iteration: None,
            fingerprint: None,
            failing: None,
        }],
        artifacts: vec![Artifact {
            name: "tree".to_owned(),
            kind: ArtifactKind::Digest,
            content: "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned(),
        }],
        usage: Usage {
            elapsed_ms: 5200,
            tool_calls: 3,
            cost_usd: Some("0.14".to_owned()),
            tokens: 0,
        },
        ..Iteration::default()
    }
}

fn input(iteration: &Iteration) -> String {
    let contract: serde_json::Value = serde_json::from_str(CONTRACT).unwrap();
    serde_json::json!({ "contract": contract, "snapshot": null, "iteration": iteration })
        .to_string()
}

#[test]
fn two_engines_live_in_one_process_and_in_eight_threads() {
    let expected = engine().call("evaluate_final", &input(&claim())).unwrap();
    let (first, second) = (engine(), engine());
    let small = GateLimits {
        stack: 256 << 10,
        ..GateLimits::default()
    };
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (first, second, expected) = (&first, &second, &expected);
            scope.spawn(move || {
                let own = if thread % 2 == 0 {
                    engine()
                } else {
                    GateEngine::with_limits(small).unwrap()
                };
                for engine in [first, second, &own] {
                    let answer = engine.call("evaluate_final", &input(&claim())).unwrap();
                    assert_eq!(&answer, expected);
                }
            });
        }
    });
    drop(first);
    let answer = second.call("evaluate_final", &input(&claim())).unwrap();
    assert_eq!(answer, expected);
}

#[test]
fn the_typed_face_serialises_to_the_bytes_of_the_json_face() {
    let engine = engine();
    let verdict = engine.evaluate_final(CONTRACT, None, &claim()).unwrap();
    assert_eq!(verdict.decision, Decision::Continue);
    assert_eq!(
        serde_json::to_string(&verdict).unwrap(),
        engine.call("evaluate_final", &input(&claim())).unwrap()
    );
}

#[test]
fn an_error_is_the_same_on_both_faces() {
    let engine = engine();
    let late = Iteration {
        index: 7,
        ..claim()
    };
    let Err(CallError::Gate(error)) = engine.evaluate_final(CONTRACT, None, &late) else {
        panic!("an iteration out of order was evaluated");
    };
    assert_eq!(error.code, ErrorCode::IterationOutOfOrder);
    let json = serde_json::json!({ "error": error }).to_string();
    assert_eq!(json, engine.call("evaluate_final", &input(&late)).unwrap());
}

#[test]
fn a_session_answers_like_the_stateless_call() {
    let engine = engine();
    let mut session = engine.open(CONTRACT, None).unwrap();
    assert_eq!(
        session.brief().unwrap(),
        engine.write_brief(CONTRACT, None).unwrap()
    );
    let verdict = session.evaluate_final(&claim()).unwrap();
    assert_eq!(
        verdict,
        engine.evaluate_final(CONTRACT, None, &claim()).unwrap()
    );
    assert_eq!(session.snapshot().unwrap(), verdict.snapshot);
}

#[test]
fn a_session_answers_in_json_as_well() {
    let engine = engine();
    let iteration = serde_json::to_string(&claim()).unwrap();
    let json = engine
        .open(CONTRACT, None)
        .unwrap()
        .evaluate_final_json(&iteration)
        .unwrap();
    assert_eq!(
        json,
        engine.call("evaluate_final", &input(&claim())).unwrap()
    );
}

#[test]
fn a_session_goes_on_from_a_snapshot() {
    let engine = engine();
    let first = engine.evaluate_final(CONTRACT, None, &claim()).unwrap();
    let mut session = engine.open(CONTRACT, first.snapshot.as_deref()).unwrap();
    let second = session
        .evaluate_final(&Iteration {
            index: 2,
            ..claim()
        })
        .unwrap();
    assert_eq!(second.counters.iteration, 2);
}

#[test]
fn an_error_of_the_gate_leaves_the_session_as_it_was() {
    let engine = engine();
    let mut session = engine.open(CONTRACT, None).unwrap();
    let before = session.snapshot().unwrap();
    assert!(
        session
            .evaluate_final(&Iteration {
                index: 9,
                ..claim()
            })
            .is_err()
    );
    assert_eq!(session.snapshot().unwrap(), before);
    session.evaluate_final(&claim()).unwrap();
}

#[test]
fn every_typed_function_fits_the_component() {
    let engine = engine();
    assert!(
        engine
            .check_contract(CONTRACT, Some(TextFormat::Json))
            .unwrap()
            .valid
    );
    assert_eq!(engine.route(CONTRACT, "").unwrap().mode, Mode::Ralph);
    let promises = engine
        .parse_promises("<promise>DONE</promise>", PromiseRules::Strict)
        .unwrap();
    assert_eq!(promises.accepted.as_deref(), Some("DONE"));
    assert!(!engine.take_fingerprint(&claim()).unwrap().digest.is_empty());
    let signal = engine
        .decide_signal(&IssueStates::default())
        .unwrap()
        .signal;
    assert_eq!(signal, Signal::LoopDone);

    let snapshot = engine
        .evaluate_final(CONTRACT, None, &claim())
        .unwrap()
        .snapshot
        .unwrap();
    assert_eq!(engine.read_snapshot(&snapshot).unwrap().iteration, 1);
    let canceled = Iteration {
        canceled: true,
        ..claim()
    };
    let stopped = engine
        .evaluate_final(CONTRACT, None, &canceled)
        .unwrap()
        .snapshot
        .unwrap();
    let resumption = Resumption {
        operator: "ada".to_owned(),
        reason: "the tests are fixed".to_owned(),
        accept_contract: false,
    };
    let resumed = engine.resume(CONTRACT, &stopped, &resumption).unwrap();
    assert_eq!(engine.read_snapshot(&resumed).unwrap().resumed, 1);
}

#[test]
fn every_typed_format_fits_the_component() {
    let engine = engine();
    let prd = r#"{"items": [{"id": "a", "title": "first", "passes": false}]}"#;
    assert_eq!(engine.read_prd(prd).unwrap().total, 1);
    let update = PrdUpdate {
        id: "a".to_owned(),
        passes: true,
        evidence: None,
    };
    let updated = engine.update_prd(prd, &[update]).unwrap();
    assert_eq!(engine.read_prd(&updated).unwrap().passed, 1);

    let entry = ProgressEntry {
        iteration: 3,
        title: "fixed".to_owned(),
        body: "it".to_owned(),
    };
    let text = engine.write_progress(&entry).unwrap();
    assert_eq!(engine.read_progress(&text).unwrap().entries, [entry]);

    let file = LoopFile {
        active: true,
        iteration: 1,
        session_id: None,
        max_iterations: 20,
        completion_promise: Some("DONE".to_owned()),
        started_at: None,
        prompt: "\nFix the tests.\n".to_owned(),
    };
    let text = engine.write_loop_file(&file).unwrap();
    let change = LoopFileChange {
        iteration: Some(2),
        ..LoopFileChange::default()
    };
    let updated = engine.update_loop_file(&text, &change).unwrap();
    assert_eq!(
        engine.read_loop_file(&updated).unwrap(),
        LoopFile {
            iteration: 2,
            ..file
        }
    );
}

#[test]
fn too_much_input_is_refused_before_the_call() {
    let limits = GateLimits {
        input: 100,
        ..GateLimits::default()
    };
    let engine = GateEngine::with_limits(limits).unwrap();
    let error = engine.call("parse_promises", &"x".repeat(101)).unwrap_err();
    assert!(
        matches!(
            error,
            EngineError::InputTooLarge {
                observed: 101,
                limit: 100
            }
        ),
        "{error}"
    );

    let long = Iteration {
        output: "x".repeat(102),
        ..Iteration::default()
    };
    let Err(CallError::Engine(error)) = engine.take_fingerprint(&long) else {
        panic!("102 bytes were fingerprinted");
    };
    assert!(
        matches!(
            error,
            EngineError::InputTooLarge {
                observed: 102,
                limit: 100
            }
        ),
        "{error}"
    );
}

#[test]
fn too_much_memory_is_a_typed_error_and_ends_the_session() {
    let limits = GateLimits {
        memory: 4 << 20,
        ..GateLimits::default()
    };
    let engine = GateEngine::with_limits(limits).unwrap();
    let mut session = engine.open(CONTRACT, None).unwrap();
    let long = Iteration {
        output: "x".repeat(8 << 20),
        ..claim()
    };
    let Err(CallError::Engine(EngineError::OutOfMemory { observed, limit })) =
        session.evaluate_final(&long)
    else {
        panic!("8 MiB went into 4 MiB of memory");
    };
    assert!(observed > limit);
    assert_eq!(limit, 4 << 20);
    assert!(matches!(
        session.snapshot(),
        Err(EngineError::SessionBroken)
    ));
    // The engine itself is unharmed.
    engine.evaluate_final(CONTRACT, None, &claim()).unwrap();
}

#[test]
fn too_little_stack_is_a_typed_error() {
    let limits = GateLimits {
        stack: 512,
        ..GateLimits::default()
    };
    let engine = GateEngine::with_limits(limits).unwrap();
    let error = engine.call("evaluate_final", &input(&claim())).unwrap_err();
    assert!(
        matches!(error, EngineError::StackOverflow { limit: 512 }),
        "{error}"
    );
}

#[test]
fn too_little_memory_to_start_is_a_typed_error() {
    let limits = GateLimits {
        memory: 0,
        ..GateLimits::default()
    };
    let engine = GateEngine::with_limits(limits).unwrap();
    let error = engine.call("parse_promises", "{}").unwrap_err();
    assert!(
        matches!(error, EngineError::OutOfMemory { limit: 0, .. }),
        "{error}"
    );
}

#[test]
fn a_session_outlives_its_engine_and_moves_to_another_thread() {
    let mut session = engine().open(CONTRACT, None).unwrap();
    let verdict = std::thread::spawn(move || session.evaluate_final(&claim()).unwrap()).join();
    assert_eq!(verdict.unwrap().decision, Decision::Continue);
}

#[test]
fn the_engine_is_shared_between_threads() {
    let engine = engine();
    let verdicts: Vec<Verdict> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| engine.evaluate_final(CONTRACT, None, &claim()).unwrap()))
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(verdicts.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn the_digest_is_that_of_the_component() {
    let component = include_bytes!(concat!(env!("OUT_DIR"), "/gate.wasm"));
    assert_eq!(blake3::hash(component).to_hex().as_str(), GATE.digest);
    assert_eq!(component.len(), GATE.size);
}

#[test]
fn a_failure_that_belongs_to_no_check_is_named_after_what_failed() {
    let failure = |code, check: Option<&str>| Failure {
        code,
        check: check.map(str::to_owned),
        reason: String::new(),
    };
    for (code, check, subject) in [
        (FailureCode::CheckFailed, Some("tests"), "tests"),
        (FailureCode::EvidenceTampered, Some("tests"), "tests"),
        (FailureCode::EvidenceTampered, None, "tripwire"),
        (FailureCode::RatioNotMet, None, "optional checks"),
        (FailureCode::TokenMissing, None, "promise"),
    ] {
        assert_eq!(failure(code, check).subject(), subject);
    }
}

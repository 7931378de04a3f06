//! What `ralph-gate serve` has beside the gate's own paths: sessions, loops and counts.

use serde_json::{Map, Value, json};

use super::{Operation, Request, Success, reference};

/// What any path may be answered with: who asks may not, or too many do.
pub(super) const ANYWHERE: [u16; 5] = [401, 403, 408, 429, 503];

/// A body that is said to be JSON, and the mistakes that can be made with one.
const WITH_BODY: [u16; 4] = [400, 413, 415, 422];

const IF_MATCH: (&str, bool, &str) = (
    "If-Match",
    false,
    "The version that the change is about, as the last answer had it in its ETag; or `*`. Without it the answer is 428.",
);
const IF_NONE_MATCH: (&str, bool, &str) = (
    "If-None-Match",
    false,
    "A version that is known: nothing is sent if the session still has it.",
);

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    let mut all = sessions();
    all.extend(all_loops());
    all.extend(one_loop(&SESSION));
    all.extend(one_loop(&DRAFT));
    all.push(Operation {
        success: Success {
            kind: "text/plain; version=0.0.4; charset=utf-8",
            ..Success::default()
        },
        ..operation(
            "/metrics",
            "get",
            "read_metrics",
            "Counts, as Prometheus text.",
            json!({ "type": "string" }),
            &[405],
        )
    });
    all
}

fn operation(
    path: &'static str,
    method: &'static str,
    id: &str,
    description: &str,
    answer: Value,
    problems: &[u16],
) -> Operation {
    let mut problems = [&ANYWHERE[..], problems].concat();
    problems.sort_unstable();
    Operation {
        path,
        method,
        id: id.to_owned(),
        description: description.to_owned(),
        request: None,
        answer: Some(answer),
        success: Success::default(),
        headers: &[],
        problems,
    }
}

fn with_body(operation: Operation, schema: &str, example: Value) -> Operation {
    let mut problems = [&operation.problems[..], &WITH_BODY[..]].concat();
    problems.sort_unstable();
    problems.dedup();
    Operation {
        request: Some(Request {
            schema: reference(schema),
            example: Some(example),
        }),
        problems,
        ..operation
    }
}

const TAGGED: Success = Success {
    status: 200,
    kind: JSON,
    is_tagged: true,
};

fn sessions() -> Vec<Operation> {
    let one = "/v1/sessions/{session}";
    let begin = operation(
        one,
        "put",
        "begin_session",
        "Begin a session. Its contract is pinned; each iteration is judged by it and by what the server remembers.",
        reference("Session"),
        &[404, 405, 409, 412],
    );
    let begin = Operation {
        success: Success {
            status: 201,
            ..TAGGED
        },
        headers: &[(
            "If-None-Match",
            false,
            "With `*`, a session that is there already is answered with 412 instead of 409.",
        )],
        ..begin
    };
    let look = Operation {
        success: TAGGED,
        headers: &[IF_NONE_MATCH],
        ..operation(
            one,
            "get",
            "read_session",
            "What a session holds.",
            reference("Session"),
            &[304, 404, 405],
        )
    };
    let evaluate = operation(
        "/v1/sessions/{session}/evaluate-final",
        "post",
        "evaluate_session",
        "Judge an iteration, and remember it before anybody hears of the verdict.",
        reference("Verdict"),
        &[404, 405, 409, 412, 428],
    );
    let evaluate = Operation {
        success: TAGGED,
        headers: &[IF_MATCH],
        ..evaluate
    };
    let resume = operation(
        "/v1/sessions/{session}/resume",
        "post",
        "resume_session",
        "Go on with a loop that stopped, under the contract that it has.",
        reference("Session"),
        &[404, 405, 409, 412, 428],
    );
    let resume = Operation {
        success: TAGGED,
        headers: &[IF_MATCH],
        ..resume
    };
    let events = Operation {
        success: Success {
            kind: "application/x-ndjson",
            ..TAGGED
        },
        headers: &[IF_NONE_MATCH],
        ..operation(
            "/v1/sessions/{session}/events",
            "get",
            "read_session_events",
            "What happened in a session, line by line: `ralph-gate replay` judges it again.",
            json!({ "type": "string" }),
            &[304, 404, 405],
        )
    };
    let mut all = list_and_remove(one);
    all.extend([
        with_body(
            begin,
            "SessionBeginning",
            json!({ "request": {
                "mode": "ralph", "completion_token": "COMPLETE", "completion_checks": ["tests_green"], "loop_max_iters": 5,
            } }),
        ),
        look,
        with_body(
            evaluate,
            "SessionIteration",
            json!({ "iteration": {
                "index": 1, "action": "final", "output": "All done.\n<promise>COMPLETE</promise>",
                "checks": [{ "id": "tests_green", "outcome": "fail", "reason": "2 of 14 failed" }],
            } }),
        ),
        with_body(resume, "OperatorNote", note()),
        events,
    ]);
    all
}

fn list_and_remove(one: &'static str) -> Vec<Operation> {
    let list = operation(
        "/v1/sessions",
        "get",
        "list_sessions",
        "Every session that the server keeps.",
        json!({ "type": "object", "required": ["sessions"], "properties": {
            "sessions": { "type": "array", "items": { "type": "object" } },
        } }),
        &[404, 405],
    );
    let remove = Operation {
        headers: &[IF_MATCH],
        ..operation(
            one,
            "delete",
            "remove_session",
            "Remove a session with everything in it. One that can't be read is removed with `If-Match: *`; one in a bucket \
             only with the tools of the storage (405).",
            json!({ "type": "object", "required": ["key", "removed"] }),
            &[404, 405, 409, 412, 428],
        )
    };
    vec![list, remove]
}

fn note() -> Value {
    json!({ "operator": "ada", "reason": "the machine was down" })
}

const STREAM: Success = Success {
    status: 200,
    kind: EVENTS,
    is_tagged: false,
};

fn all_loops() -> [Operation; 2] {
    let begin = operation(
        "/v1/loops",
        "post",
        "begin_loop",
        "Begin a loop, and hear its events until it stops. Agent and checks are those of the server's configuration.",
        json!({ "type": "string" }),
        &[404, 405, 409],
    );
    [
        with_body(
            Operation {
                success: STREAM,
                ..begin
            },
            "LoopBeginning",
            json!({ "mode": "ralph", "completion_token": "COMPLETE", "completion_checks": ["tests"], "prompt": "make the tests pass" }),
        ),
        operation(
            "/v1/loops",
            "get",
            "list_loops",
            "Every loop that the server has.",
            json!({ "type": "object", "required": ["loops"], "properties": {
                "loops": { "type": "array", "items": { "type": "object" } },
            } }),
            &[404, 405],
        ),
    ]
}

/// The paths of one loop, by what names it.
struct Named {
    /// What its operations end with.
    what: &'static str,
    one: &'static str,
    events: &'static str,
    cancel: &'static str,
    complete: &'static str,
    resume: &'static str,
}

const SESSION: Named = Named {
    what: "loop",
    one: "/v1/loops/{session}",
    events: "/v1/loops/{session}/events",
    cancel: "/v1/loops/{session}/cancel",
    complete: "/v1/loops/{session}/override",
    resume: "/v1/loops/{session}/resume",
};

/// A loop whose session has no key yet.
const DRAFT: Named = Named {
    what: "draft",
    one: "/v1/drafts/{draft}",
    events: "/v1/drafts/{draft}/events",
    cancel: "/v1/drafts/{draft}/cancel",
    complete: "/v1/drafts/{draft}/override",
    resume: "/v1/drafts/{draft}/resume",
};

fn one_loop(named: &Named) -> [Operation; 5] {
    let id = |verb: &str| format!("{verb}_{}", named.what);
    let resume = operation(
        named.resume,
        "post",
        &id("resume"),
        "Go on with a loop, and hear its events until it stops.",
        json!({ "type": "string" }),
        &[404, 405, 409],
    );
    let complete = operation(
        named.complete,
        "post",
        &id("override"),
        "Complete a loop by hand, running or not.",
        json!({ "type": "object" }),
        &[404, 405, 409],
    );
    let events = operation(
        named.events,
        "get",
        &format!("{}_events", id("read")),
        "Hear the events of a loop that is running, or read those of one that has ended. They are kept in memory: after a \
         restart of the server they are gone (404).",
        json!({ "type": "string" }),
        &[404, 405],
    );
    [
        operation(
            named.one,
            "get",
            &id("read"),
            "How a loop stands.",
            json!({ "type": "object", "required": ["key", "state", "iteration", "stop_reason"] }),
            &[404, 405],
        ),
        Operation {
            success: STREAM,
            headers: &[(
                "Last-Event-ID",
                false,
                "The last event that was heard: those behind it come. Without it, those since the loop was begun or resumed.",
            )],
            ..events
        },
        operation(
            named.cancel,
            "post",
            &id("cancel"),
            "End a running loop as `context_canceled`, so that it can be resumed.",
            json!({ "type": "object", "required": ["canceled", "state"] }),
            &[404, 405, 409],
        ),
        with_body(complete, "OperatorNote", note()),
        with_body(
            Operation {
                success: STREAM,
                ..resume
            },
            "LoopResumption",
            json!({ "operator": "ada", "reason": "the machine was down", "accept_contract": false }),
        ),
    ]
}

/// What the operations refer to, beside the gate's own schemas.
pub(super) fn schemas() -> Map<String, Value> {
    let text = |most: u32| json!({ "type": "string", "minLength": 1, "maxLength": most });
    let count = json!({ "type": "integer", "minimum": 0 });
    let may_be_text = json!({ "type": ["string", "null"] });
    let session = json!({
        "description": "What a session holds.",
        "type": "object",
        "required": ["key", "revision", "iteration", "contract", "snapshot", "prd", "handoff", "events"],
        "properties": {
            "key": { "description": "Whose session it is.", "type": "object", "required": ["session_key"] },
            "revision": { "description": "Counts changes; the ETag.", "type": "integer", "minimum": 1 },
            "iteration": count,
            "contract": { "description": "The pinned contract.", "type": "string" },
            "snapshot": may_be_text,
            "prd": may_be_text,
            "handoff": may_be_text,
            "events": count,
        },
    });
    let beginning = json!({
        "description": "What a session begins with.",
        "type": "object",
        "additionalProperties": false,
        "required": ["request"],
        "properties": {
            "request": reference("Request"),
            "policy": { "anyOf": [reference("RoutingPolicy"), { "type": "null" }] },
            "prd": { "description": "The checklist's text.", "type": ["string", "null"] },
            "task_class": may_be_text,
            "labels": { "description": "For reports.", "type": "object", "additionalProperties": { "type": "string" } },
            "argv": { "description": "The agent.", "type": "array", "items": { "type": "string" } },
            "prompt": { "description": "The task.", "type": "string" },
            "record": { "description": "What the event log holds of texts.", "type": "string", "enum": ["full", "digest_only"] },
        },
    });
    let iteration = json!({
        "description": "An iteration that is to be judged.",
        "type": "object",
        "additionalProperties": false,
        "required": ["iteration"],
        "properties": {
            "iteration": reference("Iteration"),
            "prd": { "description": "What changes in the checklist.", "type": "array", "items": reference("PrdUpdate") },
            "runs": {
                "description": "How a person runs the checks.",
                "type": "array",
                "items": {
                    "type": "object", "additionalProperties": false, "required": ["check", "argv"],
                    "properties": { "check": { "type": "string" }, "argv": { "type": "array", "items": { "type": "string" } } },
                },
            },
        },
    });
    let resumption = json!({
        "description": "Who resumes a loop, and why.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "operator": text(1000), "reason": text(1000), "accept_contract": { "type": "boolean" },
        },
    });
    let beginning_of_loop = json!({
        "description": "A request, and the task.",
        "type": "object",
        "allOf": [reference("Request")],
        "properties": { "prompt": text(64 << 10) },
    });
    Map::from_iter([
        ("Session".to_owned(), session),
        ("SessionBeginning".to_owned(), beginning),
        ("SessionIteration".to_owned(), iteration),
        ("LoopBeginning".to_owned(), beginning_of_loop),
        ("LoopResumption".to_owned(), resumption),
    ])
}

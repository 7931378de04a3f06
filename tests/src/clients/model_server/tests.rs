//! The server by itself, asked by hand.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use super::*;

const STREAM: &str = "/v1beta/models/any:streamGenerateContent?alt=sse";

fn ask(address: SocketAddr, target: &str, body: &Value) -> String {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!("POST {target} HTTP/1.1\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn with_tools() -> Value {
    json!({ "tools": [{ "name": "exec_command" }] })
}

fn parts(server: &ModelServer) -> Vec<Part> {
    server.received().iter().map(|one| one.part).collect()
}

#[test]
fn turns_are_taken_in_order_and_the_last_answer_stays() {
    let server = ModelServer::start([Turn::say("One."), Turn::run("true")]).unwrap();
    let answers = [(); 4].map(|()| ask(server.address(), "/v1/responses", &with_tools()));
    assert!(answers[0].contains("One."));
    assert!(answers[1].contains(r#""name":"exec_command","arguments":"{\"cmd\":\"true\"}""#));
    assert!(answers[2].contains(AFTER_SCRIPT) && answers[3].contains(AFTER_SCRIPT));
    let expected = [
        Part::Turn(0),
        Part::Turn(1),
        Part::AfterScript,
        Part::AfterScript,
    ];
    assert_eq!(parts(&server), expected);
}

#[test]
fn the_messages_interface_tells_a_text_and_a_use_of_a_tool() {
    let server = ModelServer::start([Turn::say_and_run("One.", "true")]).unwrap();
    let answer = ask(server.address(), "/v1/messages?beta=true", &with_tools());
    let pieces = [
        r#""text":"One.""#,
        r#""partial_json":"{\"command\":\"true\",\"description\":\"scripted\"}""#,
        r#""stop_reason":"tool_use""#,
    ];
    for piece in pieces {
        assert!(answer.contains(piece), "{piece} is not in {answer}");
    }
    ask(server.address(), "/v1/messages", &json!({}));
    assert_eq!(parts(&server), [Part::Turn(0), Part::Aside]);
}

#[test]
fn requests_beside_the_conversation_take_no_turn() {
    let server = ModelServer::start([Turn::say("One.")]).unwrap();
    ask(server.address(), "/v1/responses", &json!({}));
    ask(server.address(), STREAM, &json!({ "tools": [] }));
    ask(
        server.address(),
        "/v1beta/models/any:generateContent",
        &with_tools(),
    );
    ask(
        server.address(),
        "/v1beta/models/any:countTokens",
        &json!({}),
    );
    assert!(ask(server.address(), STREAM, &with_tools()).contains("One."));
    assert_eq!(parts(&server)[..4], [Part::Aside; 4]);
    assert_eq!(server.conversation(), [with_tools()]);
}

#[test]
fn what_the_server_does_not_know_is_not_found() {
    let server = ModelServer::start([]).unwrap();
    let answer = ask(server.address(), "/v1/elsewhere", &json!({}));
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert_eq!(parts(&server), [Part::Unknown]);
}

#[test]
fn no_turn_is_taken_twice() {
    let turns = (0..20).map(|number| Turn::say(format!("number {number}.")));
    let server = ModelServer::start(turns).unwrap();
    let address = server.address();
    let threads =
        [(); 20].map(|()| std::thread::spawn(move || ask(address, STREAM, &with_tools())));
    let answers = threads.map(|thread| thread.join().unwrap());
    for number in 0..20 {
        let said = format!("number {number}.");
        let times = answers
            .iter()
            .filter(|answer| answer.contains(&said))
            .count();
        assert_eq!(times, 1, "{said}");
    }
}

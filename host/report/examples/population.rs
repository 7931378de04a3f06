//! Writes the logs of simulated agents, for `cargo xtask bench report`: FOLDER, how many runs, how many of them differ.
//!
//! The loops are those of the test `coverage`: decided by the gate and written by the memory. What an agent says is
//! as long as it is in real logs. Prints how many bytes there are.

#[path = "../tests/coverage/play.rs"]
#[allow(dead_code, reason = "the test uses the rest")]
mod play;
#[path = "../tests/coverage/population.rs"]
#[allow(dead_code, reason = "the test uses the rest")]
mod population;

use std::error::Error;
use std::fs;
use std::path::Path;

use play::{Stage, choose};
use population::Arm;
use ralph_gate_report::statistics::Random;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, runs, different] = arguments.as_slice() else {
        return Err("usage: population FOLDER RUNS DIFFERENT".into());
    };
    let (runs, different): (usize, usize) = (runs.parse()?, different.parse()?);
    let mut random = Random::new(1);
    let prose = "The parser now accepts nested lists, and the tests for \"them\" pass.\n";
    let stages = Arm::ALL.map(|arm| Stage::new(arm).with_output(prose.repeat(27)));
    let logs: Vec<Vec<u8>> = (0..different)
        .map(|number| {
            let [first, second] = &stages;
            let stage = if number % 2 == 0 { first } else { second };
            let agent = choose(&mut random);
            stage.play(agent, &format!("run-{number}"), None, &mut random)
        })
        .collect();
    let mut bytes = 0;
    for (run, log) in (0..runs).zip(logs.iter().cycle()) {
        // As many in one folder as file systems like.
        let session = Path::new(folder)
            .join(format!("{:03}", run / 1000))
            .join(format!("run-{run}"));
        fs::create_dir_all(&session)?;
        fs::write(session.join("events.jsonl"), log)?;
        bytes += log.len();
    }
    println!("{bytes}");
    Ok(())
}

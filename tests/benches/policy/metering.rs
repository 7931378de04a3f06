//! What fuel and epochs cost: one loop over bytes, compiled four times.

use std::time::Duration;

use ralph_gate_tests::clock::{medians, micros, ratio};
use wasmtime::{Config, Engine, Instance, Module, Store, TypedFunc};

/// Sums the bytes of its memory again and again, as scanners do.
const LOOP: &str = r#"(module
  (memory 16)
  (func (export "run") (result i32)
    (local $at i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 1048576))))
    (local.get $sum)))"#;

/// The loop under one setting.
struct Metered {
    store: Store<()>,
    run: TypedFunc<(), i32>,
}

impl Metered {
    fn new(fuel: bool, epochs: bool) -> Self {
        let mut config = Config::new();
        config.consume_fuel(fuel).epoch_interruption(epochs);
        let engine = Engine::new(&config).expect("an engine");
        let module = wat::parse_str(LOOP).expect("it is right");
        let module = Module::new(&engine, module).expect("it compiles");
        let mut store = Store::new(&engine, ());
        if fuel {
            store.set_fuel(u64::MAX).expect("there is fuel");
        }
        store.set_epoch_deadline(1);
        let instance = Instance::new(&mut store, &module, &[]).expect("an instance");
        let run = instance
            .get_typed_func(&mut store, "run")
            .expect("it has the function");
        Self { store, run }
    }

    fn run(&mut self) {
        let sum = self.run.call(&mut self.store, ()).expect("it ends");
        assert_eq!(sum, 0);
    }
}

pub(crate) fn measure(budget: Duration) {
    let [mut plain, mut fuel, mut epochs, mut both] = [
        Metered::new(false, false),
        Metered::new(true, false),
        Metered::new(false, true),
        Metered::new(true, true),
    ];
    let times = medians(
        budget / 2,
        [
            &mut || plain.run(),
            &mut || fuel.run(),
            &mut || epochs.run(),
            &mut || both.run(),
        ],
    );
    println!("\na loop over 1 MiB, byte by byte");
    for (name, time) in ["plain", "fuel", "epochs", "both"].iter().zip(times) {
        println!(
            "{name:>10} {:>10.1} µs {:>6.2}x",
            micros(time),
            ratio(time, times[0])
        );
    }
}

//! Nothing: it is there so that the build-dependencies of this crate are compiled.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}

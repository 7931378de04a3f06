//! What a real bash completes with the script that the command prints.

use std::io::ErrorKind;
use std::process::Command;

use crate::binary::binary;
use crate::said::Said;

/// Loads the script, asks the function that it registers about the last of the words, and prints what that offers.
const ASK: &str = r#"
gate=$1
shift
eval "$("$gate" completions bash)"
COMP_WORDS=("$gate" "$@")
COMP_CWORD=$#
function=$(complete -p ralph-gate)
function=${function##*-F }
"${function%% *}" "$gate" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// What bash offers for the last of these words, which may be empty. None where there is no bash.
///
/// # Panics
///
/// If bash or the script fails.
pub fn complete_in_bash(bash: &mut Command, words: &[&str]) -> Option<Vec<String>> {
    bash.args(["--norc", "-c", ASK, "bash"])
        .arg(binary())
        .args(words);
    let output = match bash.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("skipped: there is no bash");
            return None;
        }
        output => output.expect("bash starts"),
    };
    let said = Said::of(output);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    let offered = said.stdout.lines().filter(|line| !line.is_empty());
    Some(offered.map(str::to_owned).collect())
}

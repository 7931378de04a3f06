//! Makes a failing input small: what can be left out is left out, as long as the rule stays broken.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Tries before an input is taken as small enough.
const TRIES: usize = 2000;

/// Why an input breaks a rule, if it does.
pub(crate) fn broken(check: &mut dyn FnMut(&[u8]), input: &[u8]) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(|| check(input))).err()?;
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    Some(text.unwrap_or("a panic without a text").to_owned())
}

/// The smallest input found that still breaks a rule.
pub(crate) fn smallest(check: &mut dyn FnMut(&[u8]), input: &[u8]) -> Vec<u8> {
    let mut small = input.to_vec();
    let mut tries = TRIES;
    let mut length = small.len() / 2;
    while length > 0 && tries > 0 {
        let mut from = 0;
        while from < small.len() && tries > 0 {
            tries -= 1;
            let mut candidate = small.clone();
            candidate.drain(from..(from + length).min(small.len()));
            if broken(check, &candidate).is_some() {
                small = candidate;
            } else {
                from += length;
            }
        }
        length /= 2;
    }
    small
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_input_becomes_as_small_as_its_cause() {
        let mut check = |input: &[u8]| {
            assert!(!(input.contains(&b'x') && input.contains(&b'y')), "both");
        };
        let input = b"aaaaaaaaaxaaaaaaaaaaaaaayaaaaa";
        assert_eq!(broken(&mut check, input).as_deref(), Some("both"));
        assert_eq!(smallest(&mut check, input), b"xy");
        assert_eq!(broken(&mut check, b"x"), None);
    }
}

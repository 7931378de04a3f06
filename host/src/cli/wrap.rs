//! Puts a JSON value under a name, byte for byte: numbers keep their digits and lines stay where they are.

/// `{"name":VALUE}`, and how many characters stand before the value. `json` must be one JSON value.
pub(crate) fn wrap(name: &str, json: &str) -> (String, u32) {
    let prefix = format!("{{\"{name}\":");
    let shift = u32::try_from(prefix.len()).unwrap_or(u32::MAX);
    (format!("{prefix}{json}}}"), shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_keeps_every_byte() {
        let (json, shift) = wrap("iteration", "{\"cost\": 0.10000000000000000000001}\n");
        assert_eq!(
            json,
            "{\"iteration\":{\"cost\": 0.10000000000000000000001}\n}"
        );
        assert_eq!(shift, 13);
    }
}

//! Whether a media type says that a body is JSON in UTF-8.

/// `application/json` with any parameters, among which a `charset` must be UTF-8.
pub(crate) fn is_json(text: &str) -> bool {
    let mut parts = parts(text).into_iter();
    let is_type = |part: &str| part.trim().eq_ignore_ascii_case("application/json");
    parts.next().is_some_and(is_type) && parts.all(|parameter| !is_other_charset(parameter))
}

fn is_other_charset(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    let value = value.trim().trim_matches('"');
    name.trim().eq_ignore_ascii_case("charset") && !value.eq_ignore_ascii_case("utf-8")
}

/// What stands between the semicolons that are outside quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(|letter| {
        let is_end = letter == ';' && !quoted;
        if letter == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && letter == '\\' && !escaped;
        is_end
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_taken_with_any_parameters_but_in_utf_8_alone() {
        for good in [
            "application/json",
            "Application/JSON",
            " application/json ; charset=UTF-8",
            "application/json;charset=\"utf-8\"",
            "application/json; profile=\"a;charset=latin1\"",
            "application/json; profile=\"\\\";charset=latin1\"",
            "application/json;",
            "application/json; v=1",
        ] {
            assert!(is_json(good), "{good}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonl",
            "application/problem+json",
            "application/json, text/plain",
            "application/json; charset=latin1",
            "application/json; v=1; Charset = utf-16",
        ] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}

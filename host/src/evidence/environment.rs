//! What a child process inherits of our environment: everything but secrets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Words in a variable's name that make it a secret.
const SECRET_WORDS: &[&str] = &[
    "APIKEY",
    "AUTH",
    "BEARER",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "DSN",
    "KEY",
    "KEYS",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PRIVATE",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Ends of a variable's name that make it a secret, also without a word's boundary before them.
const SECRET_ENDS: &[&str] = &[
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PWD",
    "SECRET",
    "TOKEN",
];

/// Where the process is and was, which is no password.
const FOLDERS: &[&str] = &["OLDPWD", "PWD"];

/// The name of a setting, which is no key to anything. Without it git does not run.
const GIT_SETTING: &str = "GIT_CONFIG_KEY_";

/// The beginning of OpenTelemetry's variables. Headers for a collector are what it knows its users by.
const COLLECTOR: &str = "OTEL_";

/// The beginning of our own variables, which say something about us alone.
const OWN: &str = "RALPH_GATE_";

/// The variables of a child process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// By name.
    pub variables: BTreeMap<OsString, OsString>,
    /// What it does not get.
    pub withheld: Withheld,
}

/// The names of variables that look like secrets and were not listed, sorted.
pub type Withheld = Vec<String>;

impl Environment {
    /// What a process inherits of `ours`: without secrets, except those that are listed; with some of its own.
    pub fn inherit<'s>(
        ours: impl IntoIterator<Item = (OsString, OsString)>,
        listed: impl IntoIterator<Item = &'s str>,
        own: &BTreeMap<String, String>,
    ) -> Self {
        let listed: Vec<&str> = listed.into_iter().collect();
        let mut environment = Self::default();
        for (name, value) in ours {
            let shown = name.to_string_lossy();
            if shown.starts_with(OWN) {
                continue;
            }
            if is_secret(&shown, &value) && !listed.contains(&shown.as_ref()) {
                environment.withheld.push(shown.into_owned());
            } else {
                environment.variables.insert(name, value);
            }
        }
        environment.withheld.retain(|name| !own.contains_key(name));
        environment.withheld.sort();
        for (name, value) in own {
            environment.variables.insert(name.into(), value.into());
        }
        environment
    }
}

/// Whether a variable is a secret by its name, or by a value with a password or a private key in it.
fn is_secret(name: &str, value: &OsStr) -> bool {
    let upper = name.to_ascii_uppercase();
    let has_word = || upper.split('_').any(|word| SECRET_WORDS.contains(&word));
    let has_end = || SECRET_ENDS.iter().any(|end| upper.ends_with(end));
    let is_header = upper.starts_with(COLLECTOR) && upper.ends_with("_HEADERS");
    let is_plain = FOLDERS.contains(&name) || name.starts_with(GIT_SETTING);
    if !is_plain && (is_header || has_word() || has_end()) {
        return true;
    }
    let value = value.to_string_lossy();
    has_password(&value) || value.contains("-----BEGIN ")
}

/// `scheme://user:password@host`
fn has_password(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        user.is_some_and(|user| user.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherit(ours: &[(&str, &str)], listed: &[&str]) -> (Vec<String>, Withheld) {
        let ours = ours
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        let environment = Environment::inherit(ours, listed.iter().copied(), &BTreeMap::new());
        let names = environment.variables.into_keys();
        let names = names.map(|name| name.into_string().unwrap()).collect();
        (names, environment.withheld)
    }

    #[test]
    fn secrets_are_withheld_by_name() {
        let ours = [
            ("PATH", "/bin"),
            ("HOME", "/me"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("GITHUB_TOKEN", "x"),
            ("npm_config_auth", "x"),
            ("DB_PASSWORD", "x"),
            ("SSH_AUTH_SOCK", "x"),
            ("PGPASSWORD", "x"),
            ("MYSQL_PWD", "x"),
            ("SSHPASS", "x"),
            ("AUTHTOKEN", "x"),
            ("MONKEY", "x"),
            ("GIT_CONFIG_KEY_0", "gc.auto"),
            ("OLDPWD", "/"),
            ("PWD", "/"),
        ];
        let (kept, withheld) = inherit(&ours, &[]);
        let plain = [
            "GIT_CONFIG_KEY_0",
            "HOME",
            "MONKEY",
            "OLDPWD",
            "PATH",
            "PWD",
        ];
        assert_eq!(kept, plain);
        assert_eq!(
            withheld,
            [
                "AUTHTOKEN",
                "AWS_SECRET_ACCESS_KEY",
                "DB_PASSWORD",
                "GITHUB_TOKEN",
                "MYSQL_PWD",
                "PGPASSWORD",
                "SSHPASS",
                "SSH_AUTH_SOCK",
                "npm_config_auth"
            ]
        );
    }

    #[test]
    fn what_a_collector_knows_us_by_is_withheld() {
        let ours = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x=y"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x=y"),
        ];
        let (kept, withheld) = inherit(&ours, &[]);
        assert_eq!(kept, ["OTEL_EXPORTER_OTLP_ENDPOINT"]);
        assert_eq!(
            withheld,
            [
                "OTEL_EXPORTER_OTLP_HEADERS",
                "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
            ]
        );
    }

    #[test]
    fn secrets_are_withheld_by_value() {
        let ours = [
            ("DATABASE_URL", "postgres://me:hunter2@db/x"),
            ("MIRRORS", "https://a.example,https://me:hunter2@b.example"),
            ("CERT", "-----BEGIN PRIVATE KEY-----"),
            ("HOMEPAGE", "https://example.org/a:b@c"),
        ];
        assert_eq!(inherit(&ours, &[]).0, ["HOMEPAGE"]);
    }

    #[test]
    fn what_is_listed_is_handed_over() {
        let ours = [("API_TOKEN", "x"), ("OTHER_TOKEN", "y")];
        let (kept, withheld) = inherit(&ours, &["API_TOKEN"]);
        assert_eq!(
            (kept, withheld),
            (vec!["API_TOKEN".to_owned()], vec!["OTHER_TOKEN".to_owned()])
        );
    }

    #[test]
    fn our_own_variables_are_not_handed_on() {
        assert_eq!(
            inherit(&[("RALPH_GATE_INNER", "1")], &["RALPH_GATE_INNER"]).0,
            Vec::<String>::new()
        );
    }
}

//! What a child process inherits of our environment: variables that are known to be harmless, and those that are listed.
//!
//! An allow-list: what is not on it is left out, also if nothing about its name says that it is a secret. What is on it and
//! looks like a secret, by its name or its value, is left out too.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::config::{Check, Config};
use crate::process::Redactor;

/// Variables that every process may have. A `*` at the end stands for the rest of a name.
const GENERAL: &[&str] = &[
    "ALL_PROXY",
    "CI",
    "CLICOLOR*",
    "COLORTERM",
    "COLUMNS",
    "CURL_CA_BUNDLE",
    "FORCE_COLOR",
    "FTP_PROXY",
    "GIT_*",
    "HOME",
    "HOSTNAME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LINES",
    "LOGNAME",
    "NO_COLOR",
    "NO_PROXY",
    "OLDPWD",
    "PATH",
    "PWD",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SHLVL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TERM",
    "TERMINFO",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_*",
    "all_proxy",
    "ftp_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Variables by which compilers, interpreters, package managers and test runners find their files.
const TOOLCHAINS: &[&str] = &[
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "AR",
    "ASDF_*",
    "BUNDLE_*",
    "BUN_INSTALL",
    "CARGO_*",
    "CC",
    "CFLAGS",
    "CHROME_BIN",
    "CMAKE_*",
    "COMPOSER_HOME",
    "CONDA_*",
    "COREPACK_*",
    "CPATH",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "DENO_DIR",
    "DENO_INSTALL",
    "DOTNET_*",
    "DYLD_LIBRARY_PATH",
    "ERL_*",
    "FLUTTER_ROOT",
    "FNM_*",
    "GEM_HOME",
    "GEM_PATH",
    "GOBIN",
    "GOCACHE",
    "GOENV",
    "GOFLAGS",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "GRADLE_HOME",
    "GRADLE_OPTS",
    "GRADLE_USER_HOME",
    "HEX_HOME",
    "HOMEBREW_*",
    "JAVA_HOME",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_HOME",
    "KOTLIN_HOME",
    "LD",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "LLVM_*",
    "M2_HOME",
    "MAKEFLAGS",
    "MAVEN_HOME",
    "MAVEN_OPTS",
    "MISE_*",
    "MIX_*",
    "NIX_*",
    "NODE_*",
    "NPM_CONFIG_*",
    "NUGET_PACKAGES",
    "NVM_*",
    "N_PREFIX",
    "OPAMROOT",
    "OPAM_SWITCH_PREFIX",
    "PIPENV_*",
    "PIP_*",
    "PKG_CONFIG*",
    "PLAYWRIGHT_*",
    "PNPM_HOME",
    "POETRY_*",
    "PUB_CACHE",
    "PUPPETEER_*",
    "PYENV_*",
    "PYTHON*",
    "RBENV_*",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_*",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "RUSTUP_*",
    "RUST_*",
    "SDKMAN_*",
    "SDKROOT",
    "UV_*",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "YARN_*",
    "npm_config_*",
];

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

/// Settings for git: how many there are, and the name and the value of each, with its number. A name is no key to anything.
/// Git does not run where one of them is missing.
const GIT_COUNT: &str = "GIT_CONFIG_COUNT";
const GIT_SETTING: &str = "GIT_CONFIG_KEY_";
const GIT_VALUE: &str = "GIT_CONFIG_VALUE_";
const MAX_GIT_SETTINGS: usize = 10_000;

/// The beginning of OpenTelemetry's variables. Headers for a collector are what it knows its users by.
const COLLECTOR: &str = "OTEL_";

/// The beginning of our own variables, which say something about us alone.
const OWN: &str = "RALPH_GATE_";

/// The variables of a child process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// By name.
    pub variables: BTreeMap<OsString, OsString>,
    /// What it does not get because it looks like a secret.
    pub withheld: Withheld,
    /// How many more variables it does not get.
    pub others: usize,
}

/// The names of variables that look like secrets and were not listed, sorted.
pub type Withheld = Vec<String>;

impl Environment {
    /// What a process inherits of `ours`: what is on the allow-list and no secret, what is listed whatever it is, and some
    /// of its own. A listed name may end in `*`, which stands for the rest of a name.
    pub fn inherit<'s>(
        ours: impl IntoIterator<Item = (OsString, OsString)>,
        listed: impl IntoIterator<Item = &'s str>,
        own: &BTreeMap<String, String>,
    ) -> Self {
        let listed: Vec<&str> = listed.into_iter().collect();
        let mut environment = Self::default();
        for (name, value) in ours {
            let shown = name.to_string_lossy();
            if shown.starts_with(OWN) || own.contains_key(shown.as_ref()) {
                continue;
            }
            let is_secret = is_secret(&shown, &value);
            let is_allowed = || is_among(GENERAL, &shown) || is_among(TOOLCHAINS, &shown);
            if is_among(&listed, &shown) || (!is_secret && is_allowed()) {
                environment.variables.insert(name, value);
            } else if is_secret {
                environment.withheld.push(shown.into_owned());
            } else {
                environment.others += 1;
            }
        }
        environment.withheld.sort();
        environment.renumber_git_settings();
        for (name, value) in own {
            environment.variables.insert(name.into(), value.into());
        }
        environment
    }

    /// Leaves out settings for git of which one half is withheld, so that git runs with the others.
    fn renumber_git_settings(&mut self) {
        let is_setting =
            |name: &String| name.starts_with(GIT_SETTING) || name.starts_with(GIT_VALUE);
        if !self.withheld.iter().any(is_setting) {
            return;
        }
        let variables = &mut self.variables;
        let count = variables.get(OsStr::new(GIT_COUNT));
        let Some(count) = count.and_then(|count| count.to_str()?.parse::<usize>().ok()) else {
            return;
        };
        let mut kept = 0;
        for number in 0..count.min(MAX_GIT_SETTINGS) {
            let mut take = |half: &str| variables.remove(OsStr::new(&format!("{half}{number}")));
            if let (Some(name), Some(value)) = (take(GIT_SETTING), take(GIT_VALUE)) {
                variables.insert(format!("{GIT_SETTING}{kept}").into(), name);
                variables.insert(format!("{GIT_VALUE}{kept}").into(), value);
                kept += 1;
            }
        }
        variables.insert(GIT_COUNT.into(), kept.to_string().into());
    }
}

/// Whether a name is one of these, or begins as one of these does that ends in `*`.
fn is_among(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| match known.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => *known == name,
    })
}

/// A redactor for all secrets of a loop: of what its processes inherit or don't, and of what the configuration gives the
/// agent and the checks. What one of them has, another one may print.
pub fn secrets(ours: &[(OsString, OsString)], config: &Config) -> Redactor {
    let inherited = ours.iter();
    let inherited = inherited.map(|(name, value)| (name.to_string_lossy(), value.as_os_str()));
    let programs = config.checks.values().filter_map(Check::program);
    let own = programs.flat_map(|program| &program.env);
    let own = own.chain(&config.agent.env);
    let own = own.map(|(name, value)| (name.as_str().into(), OsStr::new(value.as_str())));
    let secrets = inherited
        .chain(own)
        .filter(|(name, value)| is_secret(name, value))
        .map(|(name, value)| (name.into_owned(), value.to_string_lossy().into_owned()));
    Redactor::new(secrets)
}

/// Whether a variable is a secret by its name, or by a value with credentials or a private key in it.
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
    has_credentials(&value) || has_authorization(&value) || value.contains("-----BEGIN ")
}

/// `scheme://user:password@host`, and `scheme://token@host` where the scheme and the user don't say that it is a login.
fn has_credentials(value: &str) -> bool {
    value.match_indices("://").any(|(at, sign)| {
        let (before, address) = value.split_at(at);
        let address = address.strip_prefix(sign).unwrap_or_default();
        let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else {
            return false;
        };
        let is_part = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
        let scheme = before.rsplit(|char| !is_part(char)).next();
        let is_login = scheme.is_some_and(|scheme| scheme.ends_with("ssh") || scheme == "sftp");
        let is_name = user.is_empty() || user == "git";
        let is_text = user.contains([' ', ',', ';', '"', '\'']);
        user.contains(':') || !(is_login || is_name || is_text)
    })
}

/// `Authorization: …`, `Basic …` or `Bearer …`
fn has_authorization(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is_scheme = |word: &str| {
        let word = word.rsplit([':', '=', '"', '\'']).next();
        word.is_some_and(|word| word == "basic" || word == "bearer")
    };
    let mut pairs = words.windows(2);
    lower.contains("authorization:")
        || pairs.any(
            |pair| matches!(pair, [first, second] if is_scheme(first) && !second.starts_with('-')),
        )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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
        let plain = ["GIT_CONFIG_KEY_0", "HOME", "OLDPWD", "PATH", "PWD"];
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
        let (kept, withheld) = inherit(&ours, &["OTEL_EXPORTER_OTLP_ENDPOINT"]);
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
            ("https_proxy", "http://me:hunter2@proxy.example:3128"),
            ("PIP_INDEX_URL", "https://example.org/a:b@c"),
        ];
        assert_eq!(inherit(&ours, &[]).0, ["PIP_INDEX_URL"]);
    }

    #[test]
    fn a_token_in_a_url_or_a_header_is_withheld() {
        let ours = [
            ("PIP_INDEX_URL", "https://a1b2c3d4@packages.example/simple"),
            (
                "UV_INDEX",
                "x=https://plain.example/ y=https://t0ken@b.example/",
            ),
            (
                "GIT_CONFIG_PARAMETERS",
                "'http.extraheader=AUTHORIZATION: basic eDp5'",
            ),
            ("NODE_HEADERS", "X-Header: Bearer abc"),
            ("npm_config_proxy", "Basic eDp5"),
        ];
        assert_eq!(inherit(&ours, &[]).0, Vec::<String>::new());
        let plain = [
            ("CARGO_REGISTRY", "ssh://user@host.example/index"),
            ("GIT_SSH_URL", "git+ssh://git@host.example/x"),
            (
                "GOPROXY",
                "https://git@host.example/x,https://proxy.example",
            ),
            ("JAVA_OPTS", "-Dscheme=basic -Dfile.encoding=UTF-8"),
            ("PIP_FIND_LINKS", "https://a.example me@b.example"),
        ];
        assert_eq!(inherit(&plain, &[]).0, plain.map(|(name, _)| name));
    }

    #[test]
    fn git_gets_its_other_settings_where_one_is_withheld() {
        let ours = [
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", "http.extraheader"),
            ("GIT_CONFIG_KEY_1", "safe.directory"),
            (
                "GIT_CONFIG_KEY_2",
                "url.https://me:hunter2@host.example/.insteadOf",
            ),
            ("GIT_CONFIG_VALUE_0", "AUTHORIZATION: basic eDp5"),
            ("GIT_CONFIG_VALUE_1", "*"),
            ("GIT_CONFIG_VALUE_2", "https://host.example/"),
        ];
        let ours = ours.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::inherit(ours, [], &BTreeMap::new());
        assert_eq!(
            environment.withheld,
            ["GIT_CONFIG_KEY_2", "GIT_CONFIG_VALUE_0"]
        );
        let kept = [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "safe.directory"),
            ("GIT_CONFIG_VALUE_0", "*"),
        ];
        let kept = kept.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(environment.variables, BTreeMap::from(kept));
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
    fn only_what_is_on_the_list_is_inherited() {
        let ours = [
            ("CARGO_HOME", "/c"),
            ("CARGO_REGISTRY_TOKEN", "x"),
            ("LC_ALL", "C"),
            ("MY_COMPANY_HOST", "db.internal"),
            ("NODE_OPTIONS", "--max-old-space-size=1"),
            ("VIRTUAL_ENV", "/v"),
            ("XDG_CACHE_HOME", "/x"),
        ];
        let (kept, withheld) = inherit(&ours, &[]);
        let known = [
            "CARGO_HOME",
            "LC_ALL",
            "NODE_OPTIONS",
            "VIRTUAL_ENV",
            "XDG_CACHE_HOME",
        ];
        assert_eq!(kept, known);
        assert_eq!(withheld, ["CARGO_REGISTRY_TOKEN"]);
        let others = ours.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::inherit(others, [], &BTreeMap::new());
        assert_eq!(environment.others, 1);
    }

    #[test]
    fn a_star_in_the_list_stands_for_the_rest_of_a_name() {
        let ours = [("MY_HOST", "a"), ("MY_TOKEN", "b"), ("YOUR_HOST", "c")];
        assert_eq!(inherit(&ours, &["MY_*"]).0, ["MY_HOST", "MY_TOKEN"]);
        assert_eq!(inherit(&ours, &["*"]).0.len(), 3);
    }

    #[test]
    fn the_lists_are_sorted_and_name_no_secret() {
        for list in [GENERAL, TOOLCHAINS] {
            assert!(list.is_sorted());
            for name in list {
                assert!(!is_secret(name, OsStr::new("")), "{name}");
            }
        }
    }

    #[test]
    fn secrets_of_the_host_and_of_the_configuration_are_redacted() {
        let ours = [
            ("API_TOKEN".into(), "0123456789".into()),
            ("LANG".into(), "en_US.UTF-8".into()),
        ];
        let text = "[agent.env]\nDB_PASSWORD = \"correct horse\"\n\n\
                    [checks.a]\nargv = [\"a\"]\nenv = { A_KEY = \"battery staple\" }\n";
        let config = Config::read(Path::new("ralph-gate.toml"), text).unwrap();
        let redactor = secrets(&ours, &config);
        assert_eq!(
            redactor.redact("0123456789 correct horse battery staple en_US.UTF-8"),
            "[redacted API_TOKEN] [redacted DB_PASSWORD] [redacted A_KEY] en_US.UTF-8"
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

//! Where spans are sent: the standard variables of OpenTelemetry, or else `[telemetry]` of the configuration.

use std::fmt;
use std::time::Duration;

use super::http::Target;
use super::model::{Attribute, Value};
use super::otlp::Sender;
use super::spans::Content;
use crate::config::Telemetry;

/// The only way in which OTLP is spoken here.
const PROTOCOL: &str = "http/protobuf";
/// How long a request may take, as the specification has it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that anybody may wish for.
const LONGEST: Duration = Duration::from_mins(1);
/// The most headers and attributes that are taken from a variable.
const MOST: usize = 128;

/// Variables that carry secrets for the collector.
pub const HEADER_VARIABLES: [&str; 3] = [
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
];

/// Everything that sending needs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where spans go.
    pub(super) traces: Target,
    /// Where metrics go, if they go anywhere.
    pub(super) metrics: Option<Target>,
    pub(super) headers: Headers,
    pub(super) timeout: Duration,
    pub(super) sender: Sender,
    /// Whether texts go along.
    pub content: Content,
}

/// Headers for the collector. Never shown: they are mostly secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Headers(pub(super) Vec<(String, String)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} headers", self.0.len())
    }
}

/// Why nothing is sent although somebody asked for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TelemetryError {
    /// There is no TLS in here.
    #[error(
        "{place} is {url}, and https is not supported: let a local OpenTelemetry Collector listen on http://127.0.0.1:4318 \
         and send it on"
    )]
    Https {
        /// The variable or field.
        place: String,
        /// What it says, without a password.
        url: String,
    },
    /// No address.
    #[error("{place} is {url}, which is no address like http://127.0.0.1:4318: {reason}")]
    Address {
        /// The variable or field.
        place: String,
        /// What it says, without a password.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Another protocol.
    #[error(
        "{place} is {protocol}, and only {PROTOCOL} is spoken here: set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL={PROTOCOL}, and \
         an endpoint that takes it, which has port 4318 in most collectors"
    )]
    Protocol {
        /// The variable.
        place: String,
        /// What it says.
        protocol: String,
    },
    /// No header.
    #[error("{place} has something that is no list of `name=value`: {reason}")]
    Header {
        /// The variable.
        place: &'static str,
        /// What is wrong with it. The value is not told.
        reason: &'static str,
    },
    /// Nothing is configured.
    #[error(
        "no endpoint is known: name one with --endpoint, such as http://127.0.0.1:4318, or with OTEL_EXPORTER_OTLP_ENDPOINT"
    )]
    NoEndpoint,
    /// It was switched off.
    #[error(
        "OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER switches OpenTelemetry off: unset it, or name an --endpoint"
    )]
    Disabled,
}

/// A variable of the environment.
pub type Variable<'v> = &'v dyn Fn(&str) -> Option<String>;

/// Whether anybody asks for anything to be sent: the one question that is asked where every microsecond counts.
pub fn is_wanted(variable: Variable<'_>, file: &Telemetry) -> bool {
    !is_disabled(variable) && (file.endpoint.is_some() || base(variable).is_some())
}

fn is_disabled(variable: Variable<'_>) -> bool {
    let is =
        |name: &str, word: &str| variable(name).is_some_and(|it| it.eq_ignore_ascii_case(word));
    is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none")
}

/// The variable that names the endpoint, and what it says.
fn base(variable: Variable<'_>) -> Option<(&'static str, String)> {
    let names = [
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ];
    names.into_iter().find_map(|name| {
        let value = variable(name).filter(|value| !value.trim().is_empty());
        Some((name, value?.trim().to_owned()))
    })
}

impl Settings {
    /// What variables and the configuration say. None if nothing is to be sent.
    ///
    /// What a person set in the environment goes before what a file in the repository says, and headers of the
    /// environment go only where the environment says: a repository can't send them elsewhere.
    pub fn find(variable: Variable<'_>, file: &Telemetry) -> Result<Option<Self>, TelemetryError> {
        if is_disabled(variable) {
            return Ok(None);
        }
        let content = if file.content {
            Content::Sent
        } else {
            Content::Withheld
        };
        if base(variable).is_some() {
            return Self::of_variables(variable, content).map(Some);
        }
        let Some(endpoint) = &file.endpoint else {
            return Ok(None);
        };
        let place = "[telemetry] endpoint";
        Self::at(variable, place, endpoint, Headers::default(), content).map(Some)
    }

    /// What a person named on the command line, or else what variables say.
    pub fn named(
        variable: Variable<'_>,
        endpoint: Option<&str>,
        content: Content,
    ) -> Result<Self, TelemetryError> {
        match endpoint {
            Some(endpoint) => {
                let headers = headers(variable)?;
                Self::at(variable, "--endpoint", endpoint, headers, content)
            }
            None if is_disabled(variable) => Err(TelemetryError::Disabled),
            None if base(variable).is_some() => Self::of_variables(variable, content),
            None => Err(TelemetryError::NoEndpoint),
        }
    }

    fn of_variables(variable: Variable<'_>, content: Content) -> Result<Self, TelemetryError> {
        let (place, url) = base(variable).ok_or(TelemetryError::NoEndpoint)?;
        for name in [
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "OTEL_EXPORTER_OTLP_PROTOCOL",
        ] {
            match variable(name) {
                Some(protocol) if protocol == PROTOCOL => break,
                Some(protocol) if !protocol.is_empty() => {
                    return Err(TelemetryError::Protocol {
                        place: name.to_owned(),
                        protocol: shown(&protocol),
                    });
                }
                _ => {}
            }
        }
        let headers = headers(variable)?;
        if place == "OTEL_EXPORTER_OTLP_ENDPOINT" {
            return Self::at(variable, place, &url, headers, content);
        }
        // One that is for traces alone is taken as it is, and says nothing about metrics.
        let general = variable("OTEL_EXPORTER_OTLP_ENDPOINT").filter(|url| !url.trim().is_empty());
        let metrics = general.map(|url| target("OTEL_EXPORTER_OTLP_ENDPOINT", &url, "/v1/metrics"));
        Ok(Self {
            traces: target(place, &url, "")?,
            metrics: of_metrics(variable, metrics.transpose()?)?,
            headers,
            timeout: timeout(variable),
            sender: sender(variable),
            content,
        })
    }

    /// With an endpoint for every signal.
    fn at(
        variable: Variable<'_>,
        place: &str,
        endpoint: &str,
        headers: Headers,
        content: Content,
    ) -> Result<Self, TelemetryError> {
        let metrics = target(place, endpoint, "/v1/metrics")?;
        let metrics = if place == "OTEL_EXPORTER_OTLP_ENDPOINT" {
            of_metrics(variable, Some(metrics))?
        } else {
            Some(metrics)
        };
        Ok(Self {
            traces: target(place, endpoint, "/v1/traces")?,
            metrics,
            headers,
            timeout: timeout(variable),
            sender: sender(variable),
            content,
        })
    }

    /// Where spans go, for a person.
    pub fn endpoint(&self) -> String {
        self.traces.to_string()
    }
}

/// Where metrics go, if somebody says so for them alone.
fn of_metrics(
    variable: Variable<'_>,
    usual: Option<Target>,
) -> Result<Option<Target>, TelemetryError> {
    if variable("OTEL_METRICS_EXPORTER").is_some_and(|it| it.eq_ignore_ascii_case("none")) {
        return Ok(None);
    }
    let name = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
    match variable(name).filter(|url| !url.trim().is_empty()) {
        Some(url) => target(name, &url, "").map(Some),
        None => Ok(usual),
    }
}

fn target(place: &str, url: &str, path: &str) -> Result<Target, TelemetryError> {
    let url = url.trim();
    let place = place.to_owned();
    if url
        .get(..8)
        .is_some_and(|it| it.eq_ignore_ascii_case("https://"))
    {
        let url = shown(url);
        return Err(TelemetryError::Https { place, url });
    }
    let found = if path.is_empty() {
        Target::read(url)
    } else {
        Target::read(&format!("{}{path}", url.trim_end_matches('/')))
    };
    found.map_err(|reason| TelemetryError::Address {
        place,
        url: shown(url),
        reason,
    })
}

/// A value, without what stands before an `@`, and not too long.
fn shown(value: &str) -> String {
    let value = match (value.split_once("://"), value.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://…@{rest}"),
        _ => value.to_owned(),
    };
    let value: String = value.chars().filter(|it| !it.is_control()).collect();
    value.chars().take(200).collect()
}

fn timeout(variable: Variable<'_>) -> Duration {
    let names = [
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        "OTEL_EXPORTER_OTLP_TIMEOUT",
    ];
    let found = names.into_iter().find_map(variable);
    let found = found.and_then(|text| text.trim().parse().ok());
    found.map_or(TIMEOUT, |milliseconds| {
        Duration::from_millis(milliseconds).min(LONGEST)
    })
}

/// `name=value,name=value`, values percent-encoded.
fn headers(variable: Variable<'_>) -> Result<Headers, TelemetryError> {
    let [all, traces, _] = HEADER_VARIABLES;
    let Some((place, text)) = [traces, all]
        .into_iter()
        .find_map(|name| Some((name, variable(name)?)))
    else {
        return Ok(Headers::default());
    };
    let mut headers = Vec::new();
    for (name, value) in pairs(&text) {
        let failed = |reason| TelemetryError::Header { place, reason };
        let (name, value) = (name, value.ok_or_else(|| failed("a value is missing"))?);
        let is_token = |it: char| it.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(it);
        if name.is_empty() || !name.chars().all(is_token) {
            return Err(failed("a name is no name of a header"));
        }
        // What a proxy or a collector would take for the end of the header.
        if value.chars().any(char::is_control) {
            return Err(failed("a value has control characters"));
        }
        headers.push((name, value));
    }
    Ok(Headers(headers))
}

/// The members of a list, each with its value where it has one.
fn pairs(text: &str) -> impl Iterator<Item = (String, Option<String>)> {
    let members = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    members.take(MOST).map(|member| {
        let member = member.split(';').next().unwrap_or_default();
        match member.split_once('=') {
            Some((name, value)) => (decoded(name.trim()), Some(decoded(value.trim()))),
            None => (decoded(member), None),
        }
    })
}

/// Without percent-encoding. What is no UTF-8 then stays as it was.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|code| code.bytes().all(|it| it.is_ascii_hexdigit()));
        match (
            first,
            code.and_then(|code| u8::from_str_radix(code, 16).ok()),
        ) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = more.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Who sends.
fn sender(variable: Variable<'_>) -> Sender {
    let version = env!("CARGO_PKG_VERSION");
    let own = [
        ("service.name", "ralph-gate"),
        ("service.version", version),
        ("telemetry.sdk.name", "ralph-gate"),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.version", version),
    ];
    let mut resource: Vec<Attribute> = own.map(|(key, text)| attribute(key, text)).to_vec();
    let given = variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let given = pairs(&given).filter_map(|(name, value)| Some((name, value?)));
    let name = variable("OTEL_SERVICE_NAME").filter(|name| !name.is_empty());
    let name = name.map(|name| ("service.name".to_owned(), name));
    for (key, text) in given.chain(name) {
        match resource.iter_mut().find(|it| it.key == key) {
            Some(known) => known.value = Value::Text(text),
            None => resource.push(attribute(&key, &text)),
        }
    }
    Sender {
        resource,
        version: version.to_owned(),
    }
}

fn attribute(key: &str, text: &str) -> Attribute {
    Attribute {
        key: key.to_owned(),
        value: Value::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(
        variables: &[(&str, &str)],
        file: Option<&str>,
    ) -> Result<Option<Settings>, TelemetryError> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let file = Telemetry {
            endpoint: file.map(str::to_owned),
            content: false,
        };
        assert_eq!(
            is_wanted(&variable, &file),
            !matches!(Settings::find(&variable, &file), Ok(None))
        );
        Settings::find(&variable, &file)
    }

    fn endpoints(variables: &[(&str, &str)], file: Option<&str>) -> (String, Option<String>) {
        let found = find(variables, file).unwrap().unwrap();
        (found.endpoint(), found.metrics.map(|it| it.to_string()))
    }

    const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

    #[test]
    fn nothing_is_sent_unless_somebody_names_an_endpoint() {
        assert!(find(&[], None).unwrap().is_none());
        assert!(find(&[(BASE, "")], None).unwrap().is_none());
        let off = [(BASE, "http://a"), ("OTEL_SDK_DISABLED", "TRUE")];
        assert!(find(&off, Some("http://b")).unwrap().is_none());
        let off = [(BASE, "http://a"), ("OTEL_TRACES_EXPORTER", "none")];
        assert!(find(&off, None).unwrap().is_none());
    }

    #[test]
    fn a_base_gets_the_path_of_each_signal_and_an_endpoint_for_traces_is_taken_as_it_is() {
        let both = (
            "http://a:4318/x/v1/traces".to_owned(),
            Some("http://a:4318/x/v1/metrics".to_owned()),
        );
        assert_eq!(endpoints(&[(BASE, "http://a:4318/x/")], None), both);
        assert_eq!(endpoints(&[], Some("http://a:4318/x")), both);
        assert_eq!(
            endpoints(&[(TRACES, "http://a/own")], None),
            ("http://a:80/own".to_owned(), None)
        );
        let metrics = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m/own");
        assert_eq!(
            endpoints(&[(TRACES, "http://a/own"), metrics], None).1,
            Some("http://m:80/own".to_owned())
        );
        assert_eq!(
            endpoints(
                &[(BASE, "http://a"), ("OTEL_METRICS_EXPORTER", "none")],
                None
            )
            .1,
            None
        );
    }

    #[test]
    fn the_environment_goes_before_the_file_and_its_headers_go_nowhere_else() {
        let headers = (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Basic%20eA==,x=1",
        );
        let found = find(&[(BASE, "http://a"), headers], Some("http://b"));
        let found = found.unwrap().unwrap();
        assert_eq!(found.endpoint(), "http://a:80/v1/traces");
        let expected = [("authorization", "Basic eA=="), ("x", "1")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found.headers.0, expected);
        assert_eq!(format!("{:?}", found.headers), "2 headers");
        let found = find(&[headers], Some("http://b")).unwrap().unwrap();
        assert_eq!(found.headers, Headers::default());
    }

    #[test]
    fn what_is_not_supported_is_refused_with_a_remedy() {
        let refused = |variables: &[(&str, &str)]| find(variables, None).unwrap_err().to_string();
        let https = refused(&[(BASE, "https://me:secret@a")]);
        assert!(
            https.contains("https://…@a") && https.contains("local"),
            "{https}"
        );
        assert!(!https.contains("secret"), "{https}");
        let grpc = refused(&[(BASE, "http://a"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
        assert!(
            grpc.contains("http/protobuf") && grpc.contains("4318"),
            "{grpc}"
        );
        let own = [
            (BASE, "http://a"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
        ];
        assert!(find(&own, None).unwrap().is_some());
        assert!(refused(&[(BASE, "a:4318")]).contains("no address"));
        for bad in ["x", "x=a%0d%0ay: z", "x y=z", "=z"] {
            let message = refused(&[(BASE, "http://a"), ("OTEL_EXPORTER_OTLP_HEADERS", bad)]);
            assert!(message.contains("OTEL_EXPORTER_OTLP_HEADERS"), "{message}");
        }
    }

    #[test]
    fn the_resource_is_named_by_the_service_name_first() {
        let named = |variables: &[(&str, &str)]| {
            let mut all = vec![(BASE, "http://a")];
            all.extend(variables);
            find(&all, None).unwrap().unwrap().sender.resource
        };
        let text = |resource: &[Attribute], key: &str| {
            let found = resource.iter().filter(|it| it.key == key);
            let found: Vec<Value> = found.map(|it| it.value.clone()).collect();
            found
        };
        let value = |text: &str| vec![Value::Text(text.to_owned())];
        assert_eq!(text(&named(&[]), "service.name"), value("ralph-gate"));
        let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,team=b%2Cc,odd");
        let found = named(&[attributes]);
        assert_eq!(text(&found, "service.name"), value("a"));
        assert_eq!(text(&found, "team"), value("b,c"));
        let found = named(&[attributes, ("OTEL_SERVICE_NAME", "z")]);
        assert_eq!(text(&found, "service.name"), value("z"));
    }

    #[test]
    fn a_timeout_is_in_milliseconds_and_bounded() {
        let timeout = |text| {
            let found = find(
                &[(BASE, "http://a"), ("OTEL_EXPORTER_OTLP_TIMEOUT", text)],
                None,
            );
            found.unwrap().unwrap().timeout
        };
        assert_eq!(timeout("250"), Duration::from_millis(250));
        assert_eq!(timeout("999999999"), LONGEST);
        assert_eq!(timeout("soon"), TIMEOUT);
    }
}

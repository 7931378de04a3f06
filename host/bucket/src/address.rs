//! An address becomes a storage: which one, which bucket, which prefix. Credentials come from the environment.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};

use crate::error::BucketError;

/// How often the client sends a request again that the storage answered with an error of its own.
const RETRIES: usize = 3;

/// An address in its parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address<'u> {
    scheme: Scheme,
    bucket: &'u str,
    pub(crate) prefix: Path,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    S3,
    Gs,
    Az,
    Memory,
}

impl<'u> Address<'u> {
    pub(crate) fn parse(url: &'u str) -> Result<Self, BucketError> {
        let wrong = |reason: &str| BucketError::Address {
            url: url.to_owned(),
            reason: reason.to_owned(),
        };
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| wrong("it has no `://`"))?;
        let scheme = match scheme {
            "s3" => Scheme::S3,
            "gs" => Scheme::Gs,
            "az" => Scheme::Az,
            "memory" => Scheme::Memory,
            "file" => {
                return Err(BucketError::Folder {
                    url: url.to_owned(),
                });
            }
            other => return Err(wrong(&format!("`{other}` is not known"))),
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() != (scheme == Scheme::Memory) {
            return Err(match scheme {
                Scheme::Memory => wrong("memory has no buckets; write memory:///prefix"),
                _ => wrong("it names no bucket"),
            });
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !bucket.chars().all(is_plain) {
            return Err(wrong("the bucket's name has a character that none has"));
        }
        if !prefix.chars().all(|c| is_plain(c) || c == '/') {
            return Err(wrong(
                "the prefix has other characters than letters, digits, `-`, `_`, `.` and `/`",
            ));
        }
        let prefix = Path::parse(prefix).map_err(|error| wrong(&error.to_string()))?;
        Ok(Self {
            scheme,
            bucket,
            prefix,
        })
    }

    /// The storage, with what the environment says about it.
    pub(crate) fn storage(
        &self,
        url: &str,
        deadline: Duration,
    ) -> Result<Arc<dyn ObjectStore>, BucketError> {
        if self.scheme != Scheme::Memory {
            choose_tls();
        }
        let timeout = format!("{}ms", deadline.as_millis());
        let built = match self.scheme {
            Scheme::Memory => return Ok(Arc::new(InMemory::new())),
            Scheme::S3 => AmazonS3Builder::from_env()
                .with_bucket_name(self.bucket)
                .with_conditional_put(S3ConditionalPut::ETagMatch)
                .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_retry(retries(deadline))
                .build()
                .map(shared),
            Scheme::Gs => GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(self.bucket)
                .with_config(GoogleConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_retry(retries(deadline))
                .build()
                .map(shared),
            Scheme::Az => MicrosoftAzureBuilder::from_env()
                .with_container_name(self.bucket)
                .with_config(AzureConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_retry(retries(deadline))
                .build()
                .map(shared),
        };
        built.map_err(|error| BucketError::Settings {
            url: url.to_owned(),
            reason: error.to_string(),
        })
    }
}

fn shared(store: impl ObjectStore) -> Arc<dyn ObjectStore> {
    Arc::new(store)
}

fn retries(deadline: Duration) -> RetryConfig {
    RetryConfig {
        max_retries: RETRIES,
        retry_timeout: deadline,
        ..RetryConfig::default()
    }
}

/// Takes `ring` for TLS, unless the program has chosen something else.
fn choose_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_storage_a_bucket_and_a_prefix() {
        let address = Address::parse("s3://loops/team-a/v1").unwrap();
        assert_eq!((address.scheme, address.bucket), (Scheme::S3, "loops"));
        assert_eq!(address.prefix.as_ref(), "team-a/v1");
        for url in [
            "gs://b",
            "az://b/",
            "memory:///",
            "memory:///p/",
            "memory://",
        ] {
            assert!(Address::parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_what_to_write() {
        let wrong = [
            "",
            "loops",
            "/srv/loops",
            "s3:/loops",
            "s3://",
            "s3:///prefix",
            "http://host/bucket",
            "s3://user@loops",
            "s3://loops?x=1",
            "s3://loops/../x",
            "s3://loops/a//b",
            "s3://loops/a b",
            "memory://bucket/x",
        ];
        for url in wrong {
            let error = Address::parse(url).unwrap_err();
            assert_eq!(error.code(), "bucket_address", "{url}");
            assert!(error.to_string().contains("s3://bucket/prefix"));
        }
    }

    #[test]
    fn a_folder_is_refused_with_the_remedy() {
        let error = Address::parse("file:///srv/loops").unwrap_err();
        assert_eq!(error.code(), "bucket_folder");
        assert!(error.to_string().contains("the file store"));
    }
}

//! Encryption: a certificate that a person gives, or one that is made for this home.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aye_runtime::error::Error;
use aye_runtime::private_file;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};
use rcgen::{CertificateParams, CertifiedKey, DistinguishedName, DnType, KeyPair, date_time_ymd};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};

const CERTIFICATE: &str = "serve.crt";
const KEY: &str = "serve.key";
/// How long a certificate of ours lasts; browsers refuse those that last much longer.
const LASTS: i32 = 397;
/// One that ends sooner than this is replaced at the next start.
const LEFT: i32 = 30;

/// Where the certificate of the server comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// From two files.
    Files {
        /// The certificate and those that it depends on, as PEM.
        chain: PathBuf,
        /// Its key, as PEM.
        key: PathBuf,
    },
    /// Made for this home and signed by itself.
    SelfSigned,
}

impl Certificate {
    /// The file that clients verify a certificate of ours with.
    pub(super) fn made(&self, home: &Path) -> Option<PathBuf> {
        matches!(self, Self::SelfSigned).then(|| home.join(CERTIFICATE))
    }

    /// What encrypts connections. A certificate of ours is for these names.
    pub(super) fn acceptor(
        &self,
        home: &Path,
        names: &[String],
        now: Timestamp,
    ) -> Result<TlsAcceptor, Error> {
        let (chain, key) = match self {
            Self::Files { chain, key } => (chain.clone(), key.clone()),
            Self::SelfSigned => made_for(home, names, now)?,
        };
        let unusable = |path: &Path, why: &dyn std::fmt::Display| Error::Refused {
            message: format!("`{}` cannot be used: {why}", path.display()),
            hint: Some("give a certificate and its key as PEM files".to_owned()),
        };
        let certificates = CertificateDer::pem_file_iter(&chain)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unusable(&chain, &error))?;
        if certificates.is_empty() {
            return Err(unusable(&chain, &"there is no certificate in it"));
        }
        let secret = PrivateKeyDer::from_pem_file(&key).map_err(|error| unusable(&key, &error))?;
        let provider = Arc::new(crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(certificates, secret))
            .map_err(|error| unusable(&key, &error))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// The certificate of this home and its key. It stays the same as long as it is for the
/// same names: a browser that accepted it once does not ask again.
fn made_for(home: &Path, names: &[String], now: Timestamp) -> Result<(PathBuf, PathBuf), Error> {
    let (chain, key) = (home.join(CERTIFICATE), home.join(KEY));
    let today = now.to_zoned(jiff::tz::TimeZone::UTC).date();
    let known = fs::read_to_string(&chain).unwrap_or_default();
    let counts = first_line(&known).is_some_and(|(of, until)| {
        of == names.join(" ") && today.saturating_add(LEFT.days()) < until
    });
    if counts && key.exists() {
        return Ok((chain, key));
    }
    let until = today.saturating_add(LASTS.days());
    let CertifiedKey { cert, signing_key } = make(names, today.saturating_sub(1.day()), until)
        .map_err(|error| Error::Refused {
            message: format!("a certificate for {} cannot be made: {error}", names.join(", ")),
            hint: Some("`--host` takes names and addresses".to_owned()),
        })?;
    let text = format!("aye serve: {} until {until}\n{}", names.join(" "), cert.pem());
    let secret = signing_key.serialize_pem();
    for (path, text) in [(&key, &secret), (&chain, &text)] {
        private_file::write(path, text.as_bytes()).map_err(Error::file("write", path))?;
    }
    Ok((chain, key))
}

fn make(names: &[String], from: Date, until: Date) -> Result<CertifiedKey<KeyPair>, rcgen::Error> {
    let moment = |date: Date| {
        let part = |number: i8| u8::try_from(number).unwrap_or(1);
        date_time_ymd(date.year().into(), part(date.month()), part(date.day()))
    };
    let signing_key = KeyPair::generate()?;
    let mut about = CertificateParams::new(names)?;
    about.distinguished_name = DistinguishedName::new();
    about.distinguished_name.push(DnType::CommonName, "aye serve");
    (about.not_before, about.not_after) = (moment(from), moment(until));
    let cert = about.self_signed(&signing_key)?;
    Ok(CertifiedKey { cert, signing_key })
}

/// What the line before a certificate of ours says: the names it is for, and its last day.
fn first_line(text: &str) -> Option<(&str, Date)> {
    let (names, until) =
        text.lines().next()?.strip_prefix("aye serve: ")?.rsplit_once(" until ")?;
    Some((names, until.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_stays_until_it_ends_or_is_for_other_names() {
        let home = tempfile::tempdir().expect("a directory");
        let now: Timestamp = "2026-11-17T09:00:00Z".parse().expect("a moment");
        let names = ["192.0.2.7".to_owned(), "build.example".to_owned()];
        let made = |names: &[String], now| {
            Certificate::SelfSigned.acceptor(home.path(), names, now).map(|_| ()).expect("made");
            fs::read_to_string(home.path().join(CERTIFICATE)).expect("a certificate")
        };
        let first = made(&names, now);
        assert_eq!(made(&names, now + jiff::SignedDuration::from_hours(24 * 300)), first);
        let later = made(&names, now + jiff::SignedDuration::from_hours(24 * 390));
        assert_ne!(later, first, "it would have ended a week later");
        assert_ne!(made(&names[..1], now), later, "it is for other names");
        use std::os::unix::fs::PermissionsExt as _;
        let key = fs::metadata(home.path().join(KEY)).expect("a key");
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_no_certificate_is_refused_by_its_name() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("empty.pem");
        fs::write(&file, "").expect("written");
        let given = Certificate::Files { chain: file.clone(), key: file };
        let refused = given.acceptor(home.path(), &[], Timestamp::UNIX_EPOCH).err();
        let refused = refused.expect("refused").to_string();
        assert!(refused.contains("empty.pem"), "{refused}");
    }
}

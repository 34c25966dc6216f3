//! A daemon in a process of its own: its runtime, its address, its certificate, and the signals
//! that end it.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::daemon::{Daemon, Ended};
use super::listen::Listener;
use crate::device::Work;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

/// A certificate chain and its key, PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The chain, the server's own certificate first.
    pub chain: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Why a daemon did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {place}: {source}")]
    Listen {
        /// The address.
        place: String,
        /// What the system says.
        source: io::Error,
    },
    /// No threads, no signals.
    #[error("cannot start the daemon's runtime: {0}")]
    Runtime(io::Error),
    /// A certificate or key that cannot be used.
    #[error("cannot use {path} as {what}: {reason}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Certificate chain or private key.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The interface cannot describe itself.
    #[error("the description of the interface cannot be read: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// Serves until SIGTERM or SIGINT; a second one skips the wait for open jobs. `said` hears the
/// address once it is bound.
///
/// # Errors
/// [`ServeError`]: the daemon did not start. What goes wrong later is an answer to a client.
pub fn run<W: Work>(
    daemon: &Daemon<W>,
    place: &Place,
    certificate: Option<&Certificate>,
    said: impl FnOnce(&str),
) -> Result<Ended, ServeError> {
    let tls = certificate.map(acceptor).transpose()?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("serve")
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    runtime.block_on(async {
        let listener = listen(place).await?;
        let (end, told) = mpsc::channel(2);
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            let signals = signal(kind).map_err(ServeError::Runtime)?;
            tokio::spawn(forward(signals, end.clone()));
        }
        said(&listener.address());
        Ok(daemon.run(listener, tls, told).await?)
    })
}

async fn forward(mut signals: Signal, end: mpsc::Sender<()>) {
    while signals.recv().await.is_some() {
        if end.send(()).await.is_err() {
            return;
        }
    }
}

async fn listen(place: &Place) -> Result<Listener, ServeError> {
    let bound = match place {
        Place::Tcp(address) => Listener::tcp(*address).await,
        Place::Unix(path) => Listener::unix(path.clone()).await,
    };
    bound.map_err(|source| ServeError::Listen {
        place: match place {
            Place::Tcp(address) => address.to_string(),
            Place::Unix(path) => path.display().to_string(),
        },
        source,
    })
}

fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, ServeError> {
    let wrong = |path: &Path, what, reason: &dyn ToString| ServeError::Certificate {
        path: path.to_owned(),
        what,
        reason: reason.to_string(),
    };
    let chain_wrong =
        |reason: &dyn ToString| wrong(&certificate.chain, "a certificate chain", reason);
    let key_wrong = |reason: &dyn ToString| wrong(&certificate.key, "a private key", reason);
    let chain = CertificateDer::pem_file_iter(&certificate.chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| chain_wrong(&error))?;
    if chain.is_empty() {
        return Err(chain_wrong(&"it holds no certificate in PEM form"));
    }
    let key = PrivateKeyDer::from_pem_file(&certificate.key).map_err(|error| key_wrong(&error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| chain_wrong(&error))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| key_wrong(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_that_are_no_certificate_are_named_with_what_is_wrong() {
        let folder = tempfile::tempdir().expect("a folder");
        let [empty, none] = ["empty.pem", "none.pem"].map(|name| folder.path().join(name));
        fs::write(&empty, "text\n").expect("written");
        let case = |chain: &Path, key: &Path| {
            let certificate = Certificate {
                chain: chain.to_owned(),
                key: key.to_owned(),
            };
            acceptor(&certificate).err().expect("refused").to_string()
        };
        let error = case(&empty, &none);
        assert!(
            error.contains("empty.pem as a certificate chain"),
            "{error}"
        );
        let error = case(&none, &empty);
        assert!(error.contains("none.pem as a certificate chain"), "{error}");
    }
}

//! Connections: accept on a loopback port or a unix socket, with TLS if asked for, hold each to its
//! limits, and close them without cutting what is in flight.
//!
//! HTTP/1 (pages, metrics) and HTTP/2 (gRPC) share the listener; what is neither is closed by the
//! protocol's own error. A client that connects and says nothing is let go after
//! [`Limits::first_byte`]. What a request means is the router's business.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::opening::{Bytes, Opening};

/// The most that connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections open at once; more wait in the system's backlog.
    pub connections: usize,
    /// Until the first byte, and until the end of a request's head.
    pub first_byte: Duration,
    /// Silence after which an HTTP/2 peer is asked whether it is there, and may take as long again
    /// to answer.
    pub silence: Duration,
    /// How long open requests may take after the end was asked for.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            first_byte: Duration::from_secs(10),
            silence: Duration::from_secs(20),
            drain: Duration::from_secs(30),
        }
    }
}

/// Where the daemon listens.
#[derive(Debug)]
pub enum Listener {
    /// A TCP port.
    Tcp(TcpListener),
    /// A socket in the file system; the file goes when the listener does.
    Unix(UnixListener, SocketFile),
}

/// Removes the socket's file when dropped.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The file may be gone, or the folder; neither matters to a daemon that ends.
        drop(std::fs::remove_file(&self.0));
    }
}

impl Listener {
    /// Binds a TCP port.
    ///
    /// # Errors
    /// What the system says: mostly that the port is taken.
    pub async fn tcp(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::Tcp(TcpListener::bind(address).await?))
    }

    /// Binds a unix socket. A file that a dead daemon left is replaced; a living one is not.
    ///
    /// # Errors
    /// That somebody listens there, that the file is no socket, or what the system says.
    pub async fn unix(path: PathBuf) -> io::Result<Self> {
        if path.exists() {
            if UnixStream::connect(&path).await.is_ok() {
                return Err(io::Error::new(
                    io::ErrorKind::AddrInUse,
                    format!("a daemon listens on {} already", path.display()),
                ));
            }
            remove_socket(&path)?;
        }
        let listener = UnixListener::bind(&path)?;
        Ok(Self::Unix(listener, SocketFile(path)))
    }

    /// Where it listens, for people.
    pub fn address(&self) -> String {
        match self {
            Self::Tcp(listener) => listener
                .local_addr()
                .map_or_else(|error| error.to_string(), |address| address.to_string()),
            Self::Unix(_, file) => format!("unix:{}", file.0.display()),
        }
    }

    async fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _peer) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Self::Unix(listener, _) => Ok(Stream::Unix(listener.accept().await?.0)),
        }
    }
}

fn remove_socket(path: &PathBuf) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt as _;
    if std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return std::fs::remove_file(path);
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!(
            "{} exists and is no socket; it is left alone",
            path.display()
        ),
    ))
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    async fn opened(self, tls: Option<TlsAcceptor>) -> io::Result<Box<dyn Bytes>> {
        let plain: Box<dyn Bytes> = match self {
            Self::Tcp(stream) => Box::new(stream),
            Self::Unix(stream) => Box::new(stream),
        };
        match tls {
            None => Ok(plain),
            Some(acceptor) => Ok(Box::new(acceptor.accept(plain).await?)),
        }
    }
}

/// What serves every connection alike.
#[derive(Clone)]
struct Connection {
    app: Router,
    tls: Option<TlsAcceptor>,
    limits: Limits,
}

impl Connection {
    async fn serve(self, stream: Stream, watcher: Watcher, _permit: OwnedSemaphorePermit) {
        let limits = self.limits;
        let Ok(Ok(bytes)) = timeout(limits.first_byte, stream.opened(self.tls)).await else {
            return;
        };
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.first_byte);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(limits.silence)
            .keep_alive_timeout(limits.silence);
        let service = TowerToHyperService::new(self.app);
        let connection = builder.serve_connection(
            TokioIo::new(Opening::new(bytes, limits.first_byte)),
            service,
        );
        // A peer that breaks off or speaks no HTTP is its own affair; jobs it has made go on.
        drop(watcher.watch(connection.into_owned()).await);
    }
}

/// Accepts until `ended`, then lets open requests finish for at most [`Limits::drain`].
/// Gives back whether all of them did.
pub async fn serve(
    listener: Listener,
    app: Router,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    ended: impl Future<Output = ()>,
) -> bool {
    let permits = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let each = Connection { app, tls, limits };
    tokio::pin!(ended);
    loop {
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = &mut ended => break,
            next = next => next,
        };
        match (permit, accepted) {
            (Ok(permit), Ok(stream)) => {
                tokio::spawn(each.clone().serve(stream, graceful.watcher(), permit));
            }
            // Out of descriptors, or the peer was gone before it was taken: others may do better.
            (Ok(_), Err(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
            (Err(_closed), _) => break,
        }
    }
    drop(listener);
    timeout(limits.drain, graceful.shutdown()).await.is_ok()
}

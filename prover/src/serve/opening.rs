//! A connection's opening: until it is known which protocol the peer speaks, it must speak.
//!
//! HTTP/2 opens with a fixed preface, and telling it from HTTP/1 waits for the preface as long as
//! the bytes so far agree with it: for ever, if the peer says nothing. Here that wait has an end.
//! What comes after the opening has limits of its own in the protocols.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// RFC 9113, section 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Both directions of a connection.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// A connection that fails if its opening takes too long.
pub(super) struct Opening {
    bytes: Box<dyn Bytes>,
    /// What has to follow of the preface; empty once the protocol is known.
    expected: &'static [u8],
    deadline: Pin<Box<Sleep>>,
}

impl Opening {
    /// Allows `patience` for the opening.
    pub(super) fn new(bytes: Box<dyn Bytes>, patience: Duration) -> Self {
        Self {
            bytes,
            expected: PREFACE,
            deadline: Box::pin(sleep(patience)),
        }
    }

    fn saw(&mut self, bytes: &[u8]) {
        let agree = self.expected.iter().zip(bytes).all(|(a, b)| a == b);
        self.expected = match self.expected.get(bytes.len()..) {
            Some(rest) if agree => rest,
            _ => &[],
        };
    }
}

impl AsyncRead for Opening {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match Pin::new(&mut self.bytes).poll_read(cx, buf) {
            Poll::Ready(read) => {
                let (_, new) = buf.filled().split_at(before);
                self.saw(new);
                Poll::Ready(read)
            }
            Poll::Pending if self.expected.is_empty() => Poll::Pending,
            Poll::Pending => {
                ready!(self.deadline.as_mut().poll(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncWrite for Opening {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.bytes).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.bytes).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.bytes).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    /// Reads all that a peer sends who then waits without a word.
    async fn read(sent: &[u8]) -> io::Result<usize> {
        let (mut peer, ours) = duplex(1024);
        peer.write_all(sent).await.expect("room for all");
        let mut opening = Opening::new(Box::new(ours), Duration::from_millis(40));
        let mut buffer = [0; 7];
        let mut total = 0;
        loop {
            let wait = tokio::time::timeout(Duration::from_millis(200), opening.read(&mut buffer));
            match wait.await {
                Ok(read) => total += read?,
                Err(_still_waiting) => return Ok(total),
            }
        }
    }

    #[tokio::test]
    async fn any_part_of_a_preface_runs_out_of_time_and_nothing_else_does() {
        for part in 0..PREFACE.len() {
            let error = read(&PREFACE[..part])
                .await
                .expect_err("the preface is not whole");
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{part} bytes");
        }
        for whole in [PREFACE, b"GET / HTTP/1.1\r\n\r\n", b"PRINT", b"\x16"] {
            assert_eq!(read(whole).await.ok(), Some(whole.len()));
        }
    }
}

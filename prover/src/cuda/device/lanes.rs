//! Copies to the device beside the computation: each lane is a stream of its own, so that a thread
//! can bring the next data while another computes.

use cudarc::driver::{CudaEvent, result, sys};

use super::memory::check_fits;
use super::{Buffer, Device, Plain, bind, call};
use crate::ProverError;

/// Number of lanes: 0 for the witness of a partition to come, 1 for points that stream under the
/// lock.
pub const COPY_LANES: usize = 2;

/// A copy that was put on a lane.
#[derive(Debug)]
#[must_use = "the data must stay until the copy is waited for"]
pub struct Upload {
    done: CudaEvent,
    bytes: usize,
}

impl Upload {
    /// Blocks this thread until the copy is done.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`], an error of earlier work on the device included.
    pub fn wait(self) -> Result<(), ProverError> {
        let what = || format!("waiting for a copy of {} bytes", self.bytes);
        call(what, bind(self.done.context()))?;
        // SAFETY: the event is alive as long as `self`.
        call(what, unsafe {
            result::event::synchronize(self.done.cu_event())
        })
    }

    /// How many bytes are copied.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Device {
    /// Puts a copy of `data` to the start of `buffer` on lane `lane` and returns at once if the
    /// memory is pinned ([`register`](Self::register)); from other memory the driver copies through
    /// its own buffers, and this thread may wait.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if it does not fit or there is no such lane,
    /// [`ProverError::DeviceCall`].
    ///
    /// # Safety
    /// `data` stays, unchanged, until [`Upload::wait`] returned, also when the upload is dropped.
    /// Until then nothing reads the buffer but work after [`follow`](Self::follow), and nothing
    /// that was given to another stream before still uses it: see [`hold`](Self::hold).
    pub unsafe fn write_ahead<T: Plain>(
        &self,
        lane: usize,
        buffer: &Buffer,
        data: &[T],
    ) -> Result<Upload, ProverError> {
        let bytes = size_of_val(data);
        check_fits("an upload", buffer.bytes(), bytes)?;
        let what = || format!("copying {bytes} bytes to the device on lane {lane}");
        let stream = self.lane(lane)?;
        self.bound(what)?;
        // SAFETY: the buffer has at least as many bytes; the rest is the caller's promise.
        call(what, unsafe {
            result::memcpy_htod_async(buffer.ptr(), data, stream)
        })?;
        let flags = Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let done = call(what, self.context.new_event(flags))?;
        // SAFETY: event and stream are alive and of this context.
        call(what, unsafe {
            result::event::record(done.cu_event(), stream)
        })?;
        Ok(Upload { done, bytes })
    }

    /// Makes what the computing stream is given from now on wait for the copy.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn follow(&self, upload: &Upload) -> Result<(), ProverError> {
        self.order(self.stream.cu_stream(), &upload.done)
    }

    /// Makes what lane `lane` is given from now on wait for the mark: a buffer that the work before
    /// it reads can then be written again.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if there is no such lane, [`ProverError::DeviceCall`].
    pub fn hold(&self, lane: usize, mark: &CudaEvent) -> Result<(), ProverError> {
        self.order(self.lane(lane)?, mark)
    }

    fn order(&self, stream: sys::CUstream, event: &CudaEvent) -> Result<(), ProverError> {
        let what = || "ordering two streams".to_owned();
        self.bound(what)?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: stream and event are alive and of this context.
        call(what, unsafe {
            result::stream::wait_event(stream, event.cu_event(), flags)
        })
    }

    fn lane(&self, lane: usize) -> Result<sys::CUstream, ProverError> {
        let stream = self.lanes.get(lane).map(|stream| stream.cu_stream());
        stream.ok_or(ProverError::DeviceLength {
            what: "the copy lanes",
            expected: COPY_LANES,
            found: lane + 1,
        })
    }
}

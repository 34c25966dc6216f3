//! The trace language of a proving engine: typed events, grammar, reader, writer, span pairing, schedules.

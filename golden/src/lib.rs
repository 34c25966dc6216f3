//! Golden timing snapshots, the statistics behind them, and the merge gate.

//! Intervals, idle gaps with their causes, phases, diagnosis, plots and reports.

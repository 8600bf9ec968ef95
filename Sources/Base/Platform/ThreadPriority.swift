internal import CLinux

/// Scheduling classes of threads, for the case that more threads are runnable than there are cores.
///
/// Event loops serve calls within microseconds; threads that verify and write wait for the disk. Event loops therefore
/// take precedence. Linux runs the thread with the earliest virtual deadline first
/// (https://docs.kernel.org/scheduler/sched-eevdf.html). Short slices for the event loops are not sufficient: a
/// background thread that waited long can have an earlier deadline than an event loop that just woke up, and then runs
/// to the next timer tick, up to 4 ms. Long slices give background threads later deadlines. The lowest niceness weight
/// shortens the wait of an event loop that was preempted.
///
/// A thread keeps its first class. No privileges are required. Kernels before 6.12 only use the niceness.
package enum ThreadPriority {
  /// Makes the current thread interactive, for event loops.
  package static func setInteractive() { entitled_take_turns(shortSlice, 0) }

  /// Makes the current thread yield to interactive ones but not to others: for event loops that receive bursts and
  /// answer health probes.
  package static func setYielding() { entitled_take_turns(longSlice, 0) }

  /// Makes the current thread a background thread, for long work. Only for dedicated threads (``BackgroundThreads``).
  package static func setBackground() { entitled_take_turns(longSlice, lowestNiceness) }

  /// The minimum slice of the kernel, in nanoseconds.
  private static let shortSlice: UInt64 = 100_000
  /// The maximum slice of the kernel, in nanoseconds.
  private static let longSlice: UInt64 = 100_000_000
  /// The lowest weight: 1/68 of the CPU share of an event loop while both are runnable.
  private static let lowestNiceness: Int32 = 19
}

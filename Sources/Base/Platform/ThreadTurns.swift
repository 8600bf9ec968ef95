internal import CLinux

/// How the threads of the service share a core when there is more to do than it can.
///
/// Who asks a question waits for microseconds, who hands in a document waits for the disk: so the event loops that
/// answer questions go before the threads that verify and write. Linux lets those go first whose turn would end
/// first (https://docs.kernel.org/scheduler/sched-eevdf.html). Short turns for the loops are not enough for that: a
/// working thread that waited long for another one is due earlier than a loop that has just woken up, and goes on
/// until the next tick of the clock, up to 4 ms. With long turns, it is due later. And a loop that was interrupted
/// has to wait until the others have had their share since, which is soon where theirs is small.
///
/// What is asked here is what every user may ask of the kernel. Kernels before 6.12 know the niceness only.
package enum ThreadTurns {
  /// For the thread of an event loop: it is called soon after it has something to do.
  package static func takeShort() { entitled_take_turns(shortest, 0) }

  /// For a thread that does work which takes long: event loops go before it. Costs nothing from the second time on.
  package static func takeLong() { entitled_take_turns(longest, behind) }

  /// In nanoseconds, as the kernel has them: it takes none that are shorter or longer.
  private static let shortest: UInt64 = 100_000
  private static let longest: UInt64 = 100_000_000
  /// The least that there is: a seventieth of the share of a loop, while both have something to do.
  private static let behind: Int32 = 19
}

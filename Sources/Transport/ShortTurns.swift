internal import CLinux
internal import NIOCore
package import NIOPosix

extension MultiThreadedEventLoopGroup {
  /// Has the event loops come to their turn soon after they have something to do, even where verifying and writing
  /// take the rest of the core.
  ///
  /// Linux lets whoever wakes up go first if the turns that it asks for are shorter than those of who has the core
  /// (https://docs.kernel.org/scheduler/sched-eevdf.html), which are some 3 ms by themselves. Over a longer time all
  /// threads get as much as before. A kernel that does not know of this (before 6.12) goes on as it did.
  package func takeShortTurns() {
    for loop in makeIterator() {
      loop.execute { _ = entitled_take_turns_of(Self.turn) }
    }
  }

  /// In nanoseconds; the shortest that the kernel takes.
  private static let turn: UInt64 = 100_000
}

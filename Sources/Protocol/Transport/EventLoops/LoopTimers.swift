internal import NIOCore
internal import Platform

/// The timeouts of the calls and connections of one event loop.
///
/// NIO searches all of its scheduled tasks to cancel one. With the timeouts of 100,000 open requests, a peer that leaves
/// with its thousand would occupy the loop for a tenth of a second. Here a cancellation takes constant time, and NIO has one
/// task for the earliest timeout. Confined to its loop.
final class LoopTimers {
  private let loop: any EventLoop
  private var queue = TimerQueue()
  private var wakeUp: Scheduled<Void>?
  private var wakesAt = NIODeadline.distantFuture

  init(_ loop: any EventLoop) { self.loop = loop }

  /// Calls `work` after `time`, unless the timer is cancelled before.
  func schedule(in time: TimeAmount, _ work: @escaping () -> Void) -> LoopTimer {
    let deadline = NIODeadline.now() + time
    let number = queue.add(at: deadline, work)
    wake(at: deadline)
    return LoopTimer(number: number, timers: self)
  }

  fileprivate func cancel(_ number: UInt64) { queue.cancel(number) }

  private func wake(at deadline: NIODeadline) {
    guard deadline < wakesAt else { return }
    wakeUp?.cancel()
    wakesAt = deadline
    let bound = NIOLoopBound(self, eventLoop: loop)
    wakeUp = loop.scheduleTask(deadline: deadline) { bound.value.runDue() }
  }

  private func runDue() {
    wakeUp = nil
    wakesAt = .distantFuture
    let now = NIODeadline.now()
    while let work = queue.takeDue(at: now) { work() }
    if let next = queue.earliest { wake(at: next) }
  }
}

/// A timeout of ``LoopTimers``, used on its loop.
struct LoopTimer {
  fileprivate let number: UInt64
  fileprivate let timers: LoopTimers

  /// Prevents the work. Does nothing after it has run.
  func cancel() { timers.cancel(number) }
}

/// Work in order of its deadlines; with the same deadline, in order of its addition.
///
/// Cancelled work is freed at once. Its entry leaves the heap at its deadline, or when most of the heap is
/// cancelled.
struct TimerQueue {
  private struct Entry: Comparable {
    let deadline: NIODeadline
    let number: UInt64

    static func < (left: Entry, right: Entry) -> Bool {
      (left.deadline, left.number) < (right.deadline, right.number)
    }
  }

  private var heap = BinaryHeap<Entry>()
  private var work: [UInt64: () -> Void] = [:]
  private var lastNumber: UInt64 = 0

  /// The number of entries, cancelled ones included.
  var entries: Int { heap.count }

  /// The earliest deadline, possibly of cancelled work.
  var earliest: NIODeadline? { heap.first?.deadline }

  /// Adds work; returns the number that cancels it.
  mutating func add(at deadline: NIODeadline, _ work: @escaping () -> Void) -> UInt64 {
    lastNumber += 1
    self.work[lastNumber] = work
    heap.insert(Entry(deadline: deadline, number: lastNumber))
    return lastNumber
  }

  /// Frees work that was not taken.
  mutating func cancel(_ number: UInt64) {
    guard work.removeValue(forKey: number) != nil else { return }
    guard heap.count > Self.minCompacted, heap.count > 2 * work.count else { return }
    let waiting = work
    heap.removeAll { waiting[$0.number] == nil }
  }

  /// Takes the first work whose deadline has come; `nil` if there is none.
  mutating func takeDue(at now: NIODeadline) -> (() -> Void)? {
    while let first = heap.first, first.deadline <= now {
      heap.removeFirst()
      if let due = work.removeValue(forKey: first.number) { return due }
    }
    return nil
  }

  /// A smaller heap is not worth the effort.
  private static let minCompacted = 64
}

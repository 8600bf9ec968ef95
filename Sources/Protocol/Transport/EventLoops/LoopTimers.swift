internal import NIOCore

/// The timeouts of the calls and connections of one event loop.
///
/// NIO searches all of its scheduled tasks to cancel one. With the timeouts of 100,000 open requests, a peer that leaves
/// with its thousand would occupy the loop for a tenth of a second. Here a cancellation is fast, and NIO has one
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
    let key = queue.add(at: deadline, work)
    wake(at: deadline)
    return LoopTimer(key: key, timers: self)
  }

  fileprivate func cancel(_ key: TimerQueue.Key) { queue.cancel(key) }

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
  fileprivate let key: TimerQueue.Key
  fileprivate let timers: LoopTimers

  /// Prevents the work. Does nothing after it has run.
  func cancel() { timers.cancel(key) }
}

/// Work in order of its deadlines; with the same deadline, in order of its addition.
///
/// A binary heap of small entries, and a list of the work that knows their places: cancelled work leaves both at once,
/// in O(log n). A heap that keeps cancelled entries has to be searched for them now and then, which takes milliseconds
/// when a peer with many requests leaves.
struct TimerQueue {
  /// Refers to work that was added.
  struct Key {
    /// Counts all work, so that a key of work that has left the queue matches no other.
    fileprivate let number: UInt64
    fileprivate let slot: Int
  }

  private struct Entry {
    let deadline: NIODeadline
    let key: Key

    func isBefore(_ other: Entry) -> Bool {
      (deadline, key.number) < (other.deadline, other.key.number)
    }
  }

  private struct Slot {
    /// 0: the slot is free.
    var number: UInt64 = 0
    /// In the heap.
    var place = 0
    var work: () -> Void = {}
  }

  /// No entry is before its parent, which is at half of its place.
  private var heap: [Entry] = []
  private var slots: [Slot] = []
  private var freeSlots: [Int] = []
  private var lastNumber: UInt64 = 0

  /// The number of entries.
  var entries: Int { heap.count }

  /// The earliest deadline.
  var earliest: NIODeadline? { heap.first?.deadline }

  /// Adds work; returns the key that cancels it.
  mutating func add(at deadline: NIODeadline, _ work: @escaping () -> Void) -> Key {
    lastNumber += 1
    let slot = freeSlots.popLast() ?? slots.count
    if slot == slots.count { slots.append(Slot()) }
    slots[slot] = Slot(number: lastNumber, work: work)
    let key = Key(number: lastNumber, slot: slot)
    let entry = Entry(deadline: deadline, key: key)
    heap.append(entry)
    rise(entry, from: heap.count - 1)
    return key
  }

  /// Removes work that was not taken.
  mutating func cancel(_ key: Key) {
    if slots[key.slot].number == key.number { _ = remove(at: slots[key.slot].place) }
  }

  /// Takes the first work whose deadline has come; `nil` if there is none.
  mutating func takeDue(at now: NIODeadline) -> (() -> Void)? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    return remove(at: 0)
  }

  private mutating func remove(at place: Int) -> () -> Void {
    let slot = heap[place].key.slot
    let work = slots[slot].work
    slots[slot] = Slot()
    freeSlots.append(slot)
    let last = heap.removeLast()
    if place < heap.count {
      if place > 0, last.isBefore(heap[(place - 1) / 2]) {
        rise(last, from: place)
      } else {
        sink(last, from: place)
      }
    }
    return work
  }

  /// Moves the entry of a place up to its place.
  private mutating func rise(_ entry: Entry, from start: Int) {
    var place = start
    while place > 0, entry.isBefore(heap[(place - 1) / 2]) {
      put(heap[(place - 1) / 2], at: place)
      place = (place - 1) / 2
    }
    put(entry, at: place)
  }

  /// Moves the entry of a place down to its place.
  private mutating func sink(_ entry: Entry, from start: Int) {
    var place = start
    while let child = earlierChild(of: place), heap[child].isBefore(entry) {
      put(heap[child], at: place)
      place = child
    }
    put(entry, at: place)
  }

  private mutating func put(_ entry: Entry, at place: Int) {
    heap[place] = entry
    slots[entry.key.slot].place = place
  }

  private func earlierChild(of place: Int) -> Int? {
    let left = 2 * place + 1
    guard left < heap.count else { return nil }
    return left + 1 < heap.count && heap[left + 1].isBefore(heap[left]) ? left + 1 : left
  }
}

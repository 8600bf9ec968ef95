internal import AppStore
internal import Platform

/// The notifications that wait for an attempt, by their indices, in the order of their times.
struct Outbox: Sendable {
  private struct Entry: Hashable, Comparable, Sendable {
    let at: Instant
    let index: Int

    static func < (left: Entry, right: Entry) -> Bool { (left.at, left.index) < (right.at, right.index) }
  }

  private var times: [Int: Instant] = [:]
  /// An entry is stale if its time is not that of the notification. The first one is never stale.
  private var heap = BinaryHeap<Entry>()

  /// The number of notifications.
  var count: Int { times.count }

  /// The time of the first attempt; `nil` if none is pending.
  var nextAttempt: Instant? { heap.first?.at }

  /// The time of the next attempt of a notification; `nil` for one that does not wait. Setting it takes O(log n).
  subscript(index: Int) -> Instant? {
    get { times[index] }
    set {
      guard newValue != times[index] else { return }
      times[index] = newValue
      if let newValue { heap.insert(Entry(at: newValue, index: index)) }
      dropStale()
    }
  }

  /// Whether a notification is due.
  func isDue(at now: Instant) -> Bool { heap.first.map { $0.at <= now } ?? false }

  /// Takes the earliest notification that is due; O(log n). Those of one time are in the order of their indices. It still
  /// waits, so the caller puts it back.
  mutating func take(dueAt now: Instant) -> Int? {
    guard let first = heap.first, first.at <= now else { return nil }
    // A time that was changed and changed back has two entries.
    while heap.first == first { heap.removeFirst() }
    dropStale()
    return first.index
  }

  /// Puts a notification back that was taken, at its present time.
  mutating func putBack(_ index: Int) {
    if let at = times[index] { heap.insert(Entry(at: at, index: index)) }
  }

  private mutating func dropStale() {
    while let first = heap.first, times[first.index] != first.at { heap.removeFirst() }
  }
}

extension Outbox: Equatable {
  static func == (left: Outbox, right: Outbox) -> Bool { left.times == right.times }
}

internal import AppStore
internal import Platform

/// The subscriptions that time will change, in order of time.
///
/// Entries are not removed early. An entry is stale if its time differs from the subscription's due time.
struct DueQueue: Sendable {
  /// A subscription with a time at which it may change.
  struct Entry: Hashable, Comparable, Sendable {
    let at: Instant
    /// Preserves insertion order among entries with the same time.
    let sequence: Int
    /// The original transaction id.
    let line: Int64

    static func < (left: Entry, right: Entry) -> Bool {
      (left.at, left.sequence) < (right.at, right.sequence)
    }
  }

  private var heap = BinaryHeap<Entry>()
  private var sequence = 0

  /// The earliest entry.
  var first: Entry? { heap.first }

  /// Schedules a subscription; O(log n).
  mutating func enter(_ line: Int64, at instant: Instant) {
    heap.insert(Entry(at: instant, sequence: sequence, line: line))
    sequence += 1
  }

  /// Removes the earliest entry, if there is one; O(log n).
  mutating func removeFirst() { heap.removeFirst() }
}

/// The external purchase tokens whose notifications are due, in order of time.
///
/// Entries are not removed early. An entry is stale if its time differs from the token's due time. There are few
/// tokens, so a sorted list is enough.
struct TokenQueue: Sendable {
  /// A token with a time at which a notification about it may be due.
  struct Entry: Hashable, Sendable {
    let at: Instant
    let token: String
  }

  /// The latest entry first.
  private var entries: [Entry] = []

  /// The earliest entry.
  var first: Entry? { entries.last }

  /// Schedules a token; O(n).
  mutating func enter(_ token: String, at instant: Instant) {
    let index = entries.firstIndex { $0.at <= instant } ?? entries.endIndex
    entries.insert(Entry(at: instant, token: token), at: index)
  }

  /// Removes the earliest entry, if there is one.
  mutating func removeFirst() { _ = entries.popLast() }
}

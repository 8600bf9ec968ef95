internal import AppStore

/// The external purchase tokens whose notifications are due, in order of time.
///
/// Entries are not removed early. An entry is stale if its time differs from the token's due time. There are few
/// tokens, so a sorted list is enough.
struct TokenQueue: Sendable {
  struct Entry: Hashable, Sendable {
    let at: Instant
    let token: String
  }

  /// The latest entry first.
  private var entries: [Entry] = []

  /// The earliest entry.
  var first: Entry? { entries.last }

  mutating func enter(_ token: String, at instant: Instant) {
    let index = entries.firstIndex { $0.at <= instant } ?? entries.endIndex
    entries.insert(Entry(at: instant, token: token), at: index)
  }

  mutating func removeFirst() { _ = entries.popLast() }
}

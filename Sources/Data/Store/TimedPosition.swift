package import AppStore

/// A place in a list that is ordered by a time, and then by an id.
package struct TimedPosition: Hashable, Sendable, LosslessStringConvertible {
  /// The time of the row.
  package let time: Instant
  /// The id of the row.
  package let id: String

  /// Creates the position of a row.
  package init(_ time: Instant, _ id: String) {
    self.time = time
    self.id = id
  }

  /// Reads ``description``; `nil` for another text.
  package init?(_ description: String) {
    let parts = description.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let time = Int64(parts[0]) else { return nil }
    self.init(Instant(millisecondsSince1970: time), String(parts[1]))
  }

  /// The position in a page token.
  package var description: String { "\(time.millisecondsSince1970) \(id)" }
}

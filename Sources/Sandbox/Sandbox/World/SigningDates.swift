internal import AppStore

/// The dates at which the documents about purchases are signed.
///
/// Apple's documents about one purchase have different dates if something changed between them, and their dates say
/// which of them counts. A clock that stands still would give one date to all changes, so each further notification
/// about a purchase is signed a millisecond later.
struct SigningDates: Hashable, Sendable {
  /// The last dates, by original transaction id; those that have passed are removed.
  private var last: [Int64: Instant] = [:]

  /// The date of the next notification about a purchase.
  mutating func next(of purchase: Int64, at now: Instant) -> Instant {
    if let date = last[purchase], date >= now {
      last[purchase] = date.advanced(byMilliseconds: 1)
    } else {
      last = last.filter { $0.value >= now }
      last[purchase] = now
    }
    return last[purchase] ?? now
  }

  /// The date of a document about a purchase that states the present.
  func current(of purchase: Int64, at now: Instant) -> Instant { max(last[purchase] ?? now, now) }
}

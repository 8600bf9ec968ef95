/// A moment in time, to the millisecond: the precision of every date that Apple sends.
package struct Instant: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds; negative before.
  package var millisecondsSince1970: Int64

  /// The moment that many milliseconds after 1970-01-01T00:00:00Z.
  package init(millisecondsSince1970: Int64) {
    self.millisecondsSince1970 = millisecondsSince1970
  }

  /// The moment `milliseconds` later, or earlier if negative. Stops at the ends of `Int64`.
  package func advanced(byMilliseconds milliseconds: Int64) -> Instant {
    let (sum, overflow) = millisecondsSince1970.addingReportingOverflow(milliseconds)
    guard overflow else { return Instant(millisecondsSince1970: sum) }
    return Instant(millisecondsSince1970: milliseconds > 0 ? .max : .min)
  }

  /// The milliseconds from `earlier` to this moment. Stops at the ends of `Int64`.
  package func milliseconds(since earlier: Instant) -> Int64 {
    let (difference, overflow) = millisecondsSince1970.subtractingReportingOverflow(
      earlier.millisecondsSince1970)
    guard overflow else { return difference }
    return earlier.millisecondsSince1970 < 0 ? .max : .min
  }

  package static func < (left: Instant, right: Instant) -> Bool {
    left.millisecondsSince1970 < right.millisecondsSince1970
  }

  // What follows from < anyway, but by way of the protocol, which costs evaluation a third of its time.
  package static func <= (left: Instant, right: Instant) -> Bool {
    left.millisecondsSince1970 <= right.millisecondsSince1970
  }

  package static func > (left: Instant, right: Instant) -> Bool {
    left.millisecondsSince1970 > right.millisecondsSince1970
  }

  package static func >= (left: Instant, right: Instant) -> Bool {
    left.millisecondsSince1970 >= right.millisecondsSince1970
  }
}

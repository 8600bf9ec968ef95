internal import AppStore
internal import Wire

/// The point in time that a customer's page shows, by two clocks: when something was true, and when it was recorded.
struct PointInTime: Sendable {
  /// The time at which the facts must have been true; `nil`: now.
  let asOf: Instant?
  /// Whether only what was recorded until then counts, as with `known_at` of a request.
  let isKnownThen: Bool

  /// Reads `at`, in seconds since 1970, and `known=then` from the address. A malformed time is now.
  init(_ visit: Visit) {
    asOf = visit.value("at").flatMap(Int64.init).flatMap { seconds in
      seconds.magnitude < 100_000_000_000 ? Instant(millisecondsSince1970: seconds * 1_000) : nil
    }
    isKnownThen = asOf != nil && visit.value("known") == "then"
  }

  init(asOf: Instant?, isKnownThen: Bool) {
    self.asOf = asOf
    self.isKnownThen = asOf != nil && isKnownThen
  }

  /// Returns this point in time if it is at least a minute before `now`, the time of the answers; otherwise now,
  /// because the last minute of the slider stands for it.
  func orNow(_ now: Instant?) -> PointInTime {
    guard let asOf, let now, asOf.milliseconds(since: now) <= -60_000 else {
      return PointInTime(asOf: nil, isKnownThen: false)
    }
    return self
  }

  /// For `as_of` of requests.
  var timestamp: GoogleProtobuf.Timestamp? { asOf.map { GoogleProtobuf.Timestamp($0) } }
  /// For `known_at` of requests.
  var knownAt: GoogleProtobuf.Timestamp? { isKnownThen ? timestamp : nil }

  /// Whether something that happened at `time` belongs to the page.
  func includes(_ time: GoogleProtobuf.Timestamp?) -> Bool {
    guard let asOf, let instant = time?.instant else { return true }
    return instant <= asOf
  }

  /// Whether an event belongs to the page.
  func includes(_ event: EntitlementEvent) -> Bool {
    includes(isKnownThen ? event.recordedAt : event.effectiveAt)
  }
}

internal import AppStore
internal import Pages
internal import Wire

// The last period of a purchase.
extension HistoryLane {
  /// Whether a refund ended the last period. Earlier periods may have been refunded as well, and a refund in part leaves
  /// the period as it is.
  var isEndedByRefund: Bool {
    let latest = segments.last
    let last = marks.last { Self.beginnings.contains($0.type) }?.transactionId ?? latest?.transactionId
    return marks.contains { mark in
      guard mark.type == "REFUNDED", mark.transactionId == last else { return false }
      guard let end = latest?.until?.instant, latest?.transactionId == last else { return true }
      return mark.time?.instant.map { end <= $0 } ?? false
    }
  }

  private static let beginnings = ["PURCHASED", "RENEWED", "UPGRADED"]

  /// The start of the period in which a segment is. Renewal that is turned off, for example, begins another segment of the
  /// same period; a grace period or a billing retry is a separate period.
  func periodStart(of segment: HistorySegment) -> GoogleProtobuf.Timestamp? {
    segments.reversed().reduce(segment.since) { start, earlier in
      let continues =
        earlier.until == start && earlier.transactionId == segment.transactionId
        && earlier.trouble == segment.trouble
      return continues ? earlier.since : start
    }
  }
}

extension HistorySegment {
  /// The grace period or the billing retry, while the App Store waits for a payment; `nil` otherwise.
  fileprivate var trouble: Tone? {
    let tone = Tone(reason: reason, entitled: accessLevel != .none)
    return tone == .grace || tone == .retry ? tone : nil
  }
}

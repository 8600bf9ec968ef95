import AppStore
import Testing
import Wire

@testable import Console

/// The state and the period of a purchase in the table of a customer's purchases.
@Suite struct PurchasePeriodTests {
  private func day(_ day: Int64) -> GoogleProtobuf.Timestamp {
    GoogleProtobuf.Timestamp(Instant(millisecondsSince1970: 1_800_000_000_000).advanced(byDays: day))
  }

  private func segment(
    _ days: Range<Int64>, _ transaction: String, _ reason: String = "SUBSCRIPTION_ACTIVE"
  ) -> HistorySegment {
    .with {
      $0.since = day(days.lowerBound)
      $0.until = day(days.upperBound)
      $0.transactionId = transaction
      $0.reason = reason
      $0.accessLevel = reason == "BILLING_RETRY" ? .none : .full
    }
  }

  private func lane(
    _ segments: [HistorySegment], _ marks: [(day: Int64, type: String, transaction: String)] = []
  ) -> HistoryLane {
    .with {
      $0.segments = segments
      $0.marks = marks.map { mark in
        .with {
          $0.time = day(mark.day)
          $0.type = mark.type
          $0.transactionId = mark.transaction
        }
      }
    }
  }

  @Test("Renewal that is turned off begins no period; a renewal, a grace period and a billing retry do")
  func start() {
    let lane = lane([
      segment(0..<30, "1"), segment(30..<40, "2"), segment(40..<60, "2", "SUBSCRIPTION_NOT_RENEWING"),
      segment(60..<66, "2", "IN_GRACE_PERIOD"), segment(66..<70, "2", "BILLING_RETRY"), segment(80..<90, "2"),
    ])
    #expect(lane.segments.map(lane.periodStart) == [0, 30, 30, 60, 66, 80].map(day))
  }

  @Test(
    "The refund of the last period is its end; that of an earlier one, and one in part, are not",
    arguments: [
      ([(0, "PURCHASED", "1"), (30, "RENEWED", "2"), (31, "REFUNDED", "1")], false),
      ([(0, "PURCHASED", "1"), (30, "RENEWED", "2"), (60, "REFUNDED", "2")], true),
      ([(0, "PURCHASED", "1"), (30, "RENEWED", "2"), (45, "REFUNDED", "2")], false),
      ([(0, "PURCHASED", "1"), (30, "RENEWED", "2"), (75, "REFUNDED", "2")], true),
      ([(61, "PURCHASED", "3"), (61, "REFUNDED", "3")], true), ([(60, "REFUNDED", "2")], true), ([], false),
    ] as [([(Int64, String, String)], Bool)])
  func refund(marks: [(Int64, String, String)], expected: Bool) {
    let lane = lane([segment(0..<30, "1"), segment(30..<60, "2")], marks.map { ($0.0, $0.1, $0.2) })
    #expect(lane.isEndedByRefund == expected)
  }
}

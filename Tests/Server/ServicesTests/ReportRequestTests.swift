import AppStore
import RPC
import Reports
import Testing
import Wire

@testable import Services

/// The valid requests for reports.
@Suite struct ReportRequestTests {
  private func query(_ change: (inout Wire.ReportQuery) -> Void) -> Wire.ReportQuery {
    .with {
      $0.report = "revenue"
      $0.startTime = GoogleProtobuf.Timestamp(ReportDay(number: 20_000).start)
      $0.endTime = GoogleProtobuf.Timestamp(ReportDay(number: 20_010).start)
      change(&$0)
    }
  }

  private func reason(_ body: () throws -> Void) -> String? {
    do { try body() } catch let error as Status { return error.reason } catch { return "\(error)" }
    return nil
  }

  @Test("A filter has at most 1,000 values")
  func filters() {
    let (most, more) = (["a"] + Array(repeating: "b", count: 999), Array(repeating: "b", count: 1_001))
    #expect(reason { _ = try Reports.ReportQuery(query { $0.productIds = most }) } == nil)
    let fields: [WritableKeyPath<Wire.ReportQuery, [String]>] = [
      \.productIds, \.subscriptionGroups, \.storefronts,
    ]
    for field in fields {
      #expect(reason { _ = try Reports.ReportQuery(query { $0[keyPath: field] = more }) } == "INVALID_FIELD")
    }
  }

  @Test("An error of a range of days names the field that is wrong")
  func days() {
    let (first, end) = (ReportDay(number: 20_000).start, ReportDay(number: 20_010).start)
    let noon = first.advanced(byMilliseconds: 43_200_000)
    func field(_ start: Instant?, _ end: Instant?) -> String? {
      thrownStatus {
        let times = [start, end].map { $0.map { GoogleProtobuf.Timestamp($0) } }
        _ = try Reports.ReportQuery.days(times[0], times[1], prefix: "query.")
      }?.invalidField
    }
    #expect(field(first, end) == nil)
    #expect(field(nil, end) == "query.start_time" && field(first, nil) == "query.end_time")
    #expect(field(noon, end) == "query.start_time" && field(first, noon) == "query.end_time")
    #expect(field(end, first) == "query.end_time" && field(first, first) == "query.end_time")
  }

  @Test("A request has at most 50,000 rates")
  func rates() {
    let rate = ReportRate.with {
      ($0.currency, $0.millionths) = ("EUR", 1_085_000)
      $0.startTime = GoogleProtobuf.Timestamp(ReportDay(number: 20_000).start)
    }
    func table(_ count: Int) throws {
      let request = query { ($0.convertTo, $0.rates) = ("USD", Array(repeating: rate, count: count)) }
      _ = try RateTable(request, or: [], knownAt: nil)
    }
    #expect(reason { try table(50_000) } == nil)
    #expect(reason { try table(50_001) } == "INVALID_FIELD")
  }
}

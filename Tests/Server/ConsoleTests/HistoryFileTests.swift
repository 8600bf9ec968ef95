import HTTP
import RPC
import Testing
import Wire

@testable import Console
@testable import Services

/// The history of a customer as CSV.
@Suite struct HistoryFileTests {
  @Test(
    "The file has what the picture shows: the last 13 months, or the whole history",
    arguments: [("", "recent"), ("?range=all", "whole"), ("?at=1700000000&range=all", "whole")])
  func range(query: String, expected: String) async throws {
    let history = Method.asyncUnary(Calls.getCustomerHistory.path) {
      (request: GetCustomerHistoryRequest, _) async throws(Status) -> GetCustomerHistoryResponse in
      // The month in which the App Store opened.
      let isWhole = String(decoding: request.json(), as: UTF8.self).contains("2008-07-01")
      return .with {
        $0.lanes = [
          .with {
            ($0.kind, $0.name) = (.purchase, isWhole ? "whole" : "recent")
            $0.marks = [HistoryMark()]
          }
        ]
      }
    }
    let response = try await SignedInConsole([history])
      .post("/a/ocean/sandbox/customers/ada/history.csv\(query)", "note=audit")
    let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\r\n")
    #expect(response.status == 200 && lines.count == 2)
    #expect(lines.last?.hasPrefix("purchase,\(expected),") == true)
  }
}

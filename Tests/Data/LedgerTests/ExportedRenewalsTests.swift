import AppStore
import JSON
import Ledger
import TestSupport
import Testing

@Suite("Exported renewal infos") struct ExportedRenewalsTests {
  @Test("Every content is exported once, with each signature and the time of its first arrival")
  func all() async throws {
    try await LedgerFixture.run { fixture in
      func date(_ day: Int64) -> JSONValue { .number(JSONNumber(at(day).millisecondsSince1970)) }
      func info(_ status: Int64, signed: Int64) throws -> String {
        try fixture.sign([
          "originalTransactionId": "L1", "productId": "monthly", "autoRenewProductId": "monthly",
          "autoRenewStatus": .number(JSONNumber(status)), "environment": "Sandbox",
          "signedDate": date(signed),
        ])
      }
      let period = try fixture.period(40...70)
      for (day, status, signed) in [(50, 1, 50), (52, 0, 51), (53, 1, 52), (54, 1, 50)]
        as [(Int64, Int64, Int64)]
      {
        fixture.clock.set(at(day))
        _ = try await fixture.submit(period, renewal: info(status, signed: signed))
      }
      let lines = try await fixture.store.snapshot { reader throws in
        var lines: [JSONObject] = []
        try StoreExport.run(reader, at: at(60)) { line, _ in lines.append(line) }
        return lines
      }
      let infos = lines.filter { $0["kind"] == "renewalInfo" }
      #expect(infos.map { $0["autoRenewStatus"] } == [1, 0])
      func signatures(_ line: JSONObject) -> [[JSONValue?]] {
        (line["signatures"]?.arrayValue ?? []).compactMap(\.objectValue).map {
          [$0["signedDate"], $0["knownAt"]]
        }
      }
      #expect(
        infos.map(signatures) == [
          [
            [date(50), .string(at(50).description)], [date(52), .string(at(53).description)],
          ], [[date(51), .string(at(52).description)]],
        ])
      #expect(lines.filter { $0["kind"] == "renewal" }.map { $0["signedDate"] } == [date(52)])
    }
  }
}

import AppStore
import Store
import Testing

@testable import Services

@Suite struct AuditTrailTests {
  @Test("Entries share a write while they are few and about few customers")
  func batches() {
    #expect(AuditTrail.count(inBatchOf: []) == 0)
    #expect(AuditTrail.count(inBatchOf: entries(600, about: 1)) == 500)
    #expect(AuditTrail.count(inBatchOf: entries(600, about: 1_000)) == 10)
    // The one that exceeds the limit is the last one.
    #expect(AuditTrail.count(inBatchOf: entries(3, about: 9_999)) == 2)
    #expect(AuditTrail.count(inBatchOf: entries(3, about: 20_000)) == 1)
  }

  private func entries(_ count: Int, about customers: Int) -> [Store.AuditEntry] {
    let entry = Store.AuditEntry(
      at: Instant(millisecondsSince1970: 0), caller: "", actor: "", method: "/x/y", appID: "ocean",
      customerIDs: Array(repeating: "ada", count: customers), subject: "", note: "", outcome: "OK",
      requestID: "", address: "")
    return Array(repeating: entry, count: count)
  }
}

import Store
import Testing

@testable import Services

@Suite("The entries of the inbox that run")
struct RunningEntriesTests {
  @Test("Entries that may wait for Apple are left out while many of them run; others are not")
  func waitingForApple() {
    let refresh = "/entitled.v1.AppStoreService/RefreshPurchase"
    var running = RunningEntries()
    let limit = Int64(RunningEntries.maxWaitingForApple)
    running.insert((1...limit - 1).map { entry($0, .call, refresh) })
    running.insert((1...100).map { entry(1_000 + $0, .call, "/entitled.v1.EntitlementService/Grant") })
    let some = running.exclusion(with: [key(7_777)])
    #expect(some.keys.count == Int(limit) - 1 + 100 + 1 && some.kinds.isEmpty && some.methods.isEmpty)
    running.insert([entry(limit, .request, "/verifyReceipt")])
    let many = running.exclusion(with: [])
    #expect(many.kinds == [.request] && many.methods.contains(refresh))
    #expect(!many.methods.contains("/entitled.v1.EntitlementService/Grant"))
    // Another entry that has the id of a lost one.
    running.remove(InboxKey(id: 1, token: "other"))
    #expect(running.exclusion(with: []) == many)
    running.remove(key(1))
    #expect(running.exclusion(with: []).methods.isEmpty && running.count == Int(limit) - 1 + 100)
  }

  private func entry(_ id: Int64, _ kind: InboxKind, _ method: String) -> InboxEntry {
    InboxEntry(key(id), kind: kind, appID: "", method: method, caller: "", context: [], body: [])
  }

  private func key(_ id: Int64) -> InboxKey { InboxKey(id: id, token: "\(id)") }
}

import Store
import Testing

@testable import Services

@Suite("The entries of the inbox that run")
struct RunningEntriesTests {
  @Test("Entries that may wait for Apple are left out while many of them run; others are not")
  func waitingForApple() {
    let refresh = "/entitled.v1.AppStoreService/RefreshPurchase"
    var running = RunningEntries(checksOnline: false)
    let limit = Int64(RunningEntries.maxWaitingForHosts)
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

  @Test(
    "Submissions and accepted notifications may wait for OCSP responders only where an app has online checks",
    arguments: [false, true])
  func waitingForResponders(checksOnline: Bool) {
    let service = "/entitled.v1.ReceiptService/"
    var running = RunningEntries(checksOnline: checksOnline)
    let limit = Int64(RunningEntries.maxWaitingForHosts)
    running.insert((2...limit).map { entry($0, .call, service + "SubmitTransaction") })
    running.insert([entry(1, .notification, "/notifications/ocean")])
    let many = running.exclusion(with: [])
    #expect(many.kinds == (checksOnline ? [.request, .notification] : []))
    for method in ["SubmitTransaction", "SubmitTransactions", "SubmitReceipt"] {
      #expect(many.methods.contains(service + method) == checksOnline)
    }
  }

  @Test("A notification that a call hands over may wait for Apple, which confirms version 1")
  func waitingForConfirmation() {
    let ingest = "/entitled.v1.NotificationService/IngestNotification"
    var running = RunningEntries(checksOnline: false)
    running.insert((1...Int64(RunningEntries.maxWaitingForHosts)).map { entry($0, .call, ingest) })
    #expect(running.exclusion(with: []).methods.contains(ingest))
  }

  private func entry(_ id: Int64, _ kind: InboxKind, _ method: String) -> InboxEntry {
    InboxEntry(key(id), kind: kind, appID: "", method: method, caller: "", context: [], body: [])
  }

  private func key(_ id: Int64) -> InboxKey { InboxKey(id: id, token: "\(id)") }
}

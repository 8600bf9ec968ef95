import AppStore
import Ledger
import Store
import Synchronization
import Testing

@testable import Services

@Suite struct RecordBufferTests {
  private let replication = FakeReplication()
  private let store = Written()

  private func buffer(_ leadership: Leadership = Leadership(nil)) -> RecordBuffer<Int> {
    RecordBuffer(
      "numbers", kind: .audit, leadership: leadership, rows: { _ in 1 }, encode: { $0.map { UInt8($0) } },
      append: { [store] numbers throws(LedgerError) in try store.append(numbers) },
      onLoss: { [store] in store.lose($0) })
  }

  @Test("Records are written in their order, in pages of 500")
  func pages() async throws {
    let buffer = buffer()
    for number in 0..<501 { buffer.record(number) }
    #expect(store.pages == [])
    try await buffer.flush()
    #expect(store.pages == [Array(0..<500), [500]])
    try await buffer.flush()
    #expect(store.pages.count == 2)
  }

  @Test("Audit entries share a write while they are few and about few customers")
  func batches() {
    #expect(count([]) == 0)
    #expect(count(entries(600, about: 1)) == 500)
    #expect(count(entries(600, about: 1_000)) == 10)
    // The one that exceeds the limit is the last one.
    #expect(count(entries(3, about: 9_999)) == 2)
    #expect(count(entries(3, about: 20_000)) == 1)
  }

  @Test("A NUL in a text of an audit entry, which PostgreSQL does not store, becomes U+FFFD")
  func nul() {
    let entry = Store.AuditEntry(
      at: Instant(millisecondsSince1970: 0), caller: "", actor: "a\0", method: "/x/y", appID: "\0",
      customerIDs: ["ada", "a\0b"], subject: "\0s", note: "n\0\0", outcome: "OK", requestID: "", address: "")
    #expect(entry.customerIDs == ["ada", "a\u{FFFD}b"])
    #expect([entry.actor, entry.appID, entry.subject] == ["a\u{FFFD}", "\u{FFFD}", "\u{FFFD}s"])
    #expect(entry.note == "n\u{FFFD}\u{FFFD}")
  }

  private func count(_ entries: [Store.AuditEntry]) -> Int {
    RecordBuffer.count(inBatchOf: entries, rows: \.customerIDs.count)
  }

  private func entries(_ count: Int, about customers: Int) -> [Store.AuditEntry] {
    let entry = Store.AuditEntry(
      at: Instant(millisecondsSince1970: 0), caller: "", actor: "", method: "/x/y", appID: "ocean",
      customerIDs: Array(repeating: "ada", count: customers), subject: "", note: "", outcome: "OK",
      requestID: "", address: "")
    return Array(repeating: entry, count: count)
  }

  @Test("Records wait while the store cannot be written, before later ones")
  func failure() async throws {
    let buffer = buffer()
    buffer.record(1)
    store.isDown = true
    await #expect(throws: LedgerError.store(.unavailable("down"))) { try await buffer.flush() }
    buffer.record(2)
    store.isDown = false
    try await buffer.flush()
    #expect(store.pages == [[1, 2]])
  }

  @Test("A record over the limit is lost and reported")
  func limit() async throws {
    let buffer = buffer()
    for number in 0...RecordBuffer<Int>.maxWaiting { buffer.record(number) }
    #expect(store.lost == [RecordBuffer<Int>.maxWaiting])
    try await buffer.flush()
    #expect(store.pages.joined().elementsEqual(0..<RecordBuffer<Int>.maxWaiting))
  }

  @Test(
    "A replica hands its records to the leader, also if it is the leader",
    arguments: [ReplicaRole.follower, .leader(epoch: 1)])
  func replica(role: ReplicaRole) async throws {
    replication.set(role)
    let buffer = buffer(Leadership(replication))
    for number in [7, 8] { buffer.record(number) }
    try await buffer.flush()
    #expect(store.pages == [])
    #expect(replication.fake.entries.map(\.kind) == [.audit])
    #expect(replication.fake.entries.map(\.body) == [[7, 8]])
  }
}

/// The numbers that were written and lost.
private final class Written: Sendable {
  private struct State {
    var pages: [[Int]] = []
    var lost: [Int] = []
    var isDown = false
  }

  private let state = Mutex(State())

  var pages: [[Int]] { state.withLock { $0.pages } }
  var lost: [Int] { state.withLock { $0.lost } }
  var isDown: Bool {
    get { state.withLock { $0.isDown } }
    set { state.withLock { $0.isDown = newValue } }
  }

  func append(_ numbers: [Int]) throws(LedgerError) {
    guard !isDown else { throw .store(.unavailable("down")) }
    state.withLock { $0.pages.append(numbers) }
  }

  func lose(_ number: Int) { state.withLock { $0.lost.append(number) } }
}

import RPC
import Store
import Testing

@testable import Services

/// What callers are sent to the server's log for is in it.
@Suite struct CauseTests {
  @Test(
    "What the store suffers from is told to the operator and not to callers",
    arguments: [
      StoreError.failed("disk I/O error (SQLite 10)"), .corrupt("page 7"), .inUse(path: "/data"),
      .cannotOpen(path: "/data", reason: "no right"),
    ])
  func store(error: StoreError) {
    let status = Status(error)
    #expect(status.code == .unavailable)
    #expect(!status.message.contains(error.description))
    #expect(status.problem == "the store cannot be used; see the server's log: \(error)")
  }

  @Test("A failure without an internal cause has none in its problem")
  func plain() {
    #expect(Status(StoreError.diskFull).cause.isEmpty)
    #expect(Status(.notFound, "there is no such thing").problem == "there is no such thing")
  }
}

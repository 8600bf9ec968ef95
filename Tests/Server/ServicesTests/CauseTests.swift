import RPC
import Store
import Testing

@testable import Services

/// The server's log contains the causes that error messages hide from callers.
@Suite struct CauseTests {
  @Test(
    "A store error reaches the operator's log but not the caller",
    arguments: [
      StoreError.failed("disk I/O error (SQLite 10)"), .corrupt("page 7"), .inUse(path: "/data"),
      .cannotOpen(path: "/data", reason: "no right"),
    ])
  func store(error: StoreError) {
    let status = Status(error)
    #expect(status.code == .unavailable)
    #expect(!status.message.contains(error.description))
    #expect(status.internalMessage == "the store cannot be used; see the server's log: \(error)")
  }

  @Test("A failure without an internal cause has its message as the problem")
  func plain() {
    #expect(Status(StoreError.diskFull).cause.isEmpty)
    #expect(Status(.notFound, "there is no such thing").internalMessage == "there is no such thing")
  }

  @Test(
    "After an effect, a refused write means an unknown outcome, and no longer that nothing was accepted",
    arguments: [StoreError.unavailable("away"), .anotherWriter, .diskFull])
  func possibleEffect(error: StoreError) {
    let status = Status(error)
    #expect(status.isWithoutEffect)
    #expect(status.afterPossibleEffect.reason == "OUTCOME_UNKNOWN")
    #expect(!status.afterPossibleEffect.isWithoutEffect)
    #expect(status.afterPossibleEffect.internalMessage.contains(error.description))
  }

  @Test(
    "After an effect, other failures of the store mean an unknown outcome, too: a caller must not just try again",
    arguments: [StoreError.failed("broken"), .overloaded(waiting: 1), .closed])
  func otherFailures(error: StoreError) {
    let status = Status(error)
    #expect(!status.isWithoutEffect)
    #expect(status.afterPossibleEffect.reason == "OUTCOME_UNKNOWN")
    #expect(status.afterPossibleEffect.code == .unavailable)
  }

  @Test(
    "An unknown outcome stays as it is, and so do the end of a call and errors that are not the store's",
    arguments: [
      Status(StoreError.outcomeUnknown("lost")), Status(StoreError.cancelled), Status(.notFound, "none"),
    ])
  func unchanged(status: Status) {
    #expect(status.afterPossibleEffect == status)
  }
}

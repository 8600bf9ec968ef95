import AppStore
import JSON
import SandboxStore
import Testing

@testable import Sandbox

@Suite struct ResetTests {
  @Test("A reset of a stored world survives a restart, and its tables are empty")
  func reset() async throws {
    let folder = try SandboxFolder()
    do {
      let store = try folder.open()
      _ = try await store.buy("monthly", "ann")
      try await store.reset()
      _ = try await store.buy("unlock", "ben")
    }
    let store = try folder.open(now: SandboxFolder.start.advanced(byMilliseconds: 60_000))
    #expect(await store.world.accounts.keys.sorted() == ["ben"])
    #expect(try folder.tables()["purchase"]?.count == 1)
  }

  @Test("A restore of a stored world survives a restart, with the clock of the snapshot")
  func restore() async throws {
    let folder = try SandboxFolder()
    do {
      let store = try folder.open()
      _ = try await store.buy("monthly", "ann")
      _ = try await store.post("clock", ["speed": 0])
      let snapshot = try await store.snapshot()
      _ = try await store.post("clock/advance", ["by": "40d"])
      _ = try await store.buy("unlock", "ben")
      try await store.restore(snapshot)
    }
    let store = try folder.open()
    #expect(await store.world.accounts.keys.sorted() == ["ann"])
    #expect(store.clock.now() == SandboxFolder.start)
    _ = try await store.post("clock/advance", ["by": "40d"])
    #expect(await store.world.transactions.count == 2)
  }
}

package import PostgreSQL

/// Bounds the tests that have a store in PostgreSQL at the same time, because the server's sessions are bounded.
package actor PostgresSlots {
  package static let shared = PostgresSlots()

  /// Whether the current task has a slot, and needs no other: tests with two stores that each held one would wait for each other.
  @TaskLocal private static var isHeld = false

  private var free = 12
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Runs `body` as soon as there is room.
  package nonisolated func run(_ body: () async throws -> Void) async throws {
    guard !Self.isHeld else { return try await body() }
    await take()
    do {
      try await Self.$isHeld.withValue(true) { try await body() }
      await give()
    } catch {
      await give()
      throw error
    }
  }

  /// Runs `body` with an empty database of the shared server, as soon as there is room.
  package nonisolated func withDatabase(
    isPooled: Bool = false, _ body: (PostgresSettings) async throws -> Void
  ) async throws {
    try await run {
      let server = try PostgresServer.shared()
      let name = try server.makeDatabase()
      defer { try? server.removeDatabase(name) }
      try await body(isPooled ? server.pooledSettings(name) : server.settings(name))
    }
  }

  private func take() async {
    guard free == 0 else {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func give() {
    guard waiting.isEmpty else { return waiting.removeFirst().resume() }
    free += 1
  }
}

package import Store

/// A store over another one, for tests that change one of its operations: all others are passed on. It has no replicas.
package protocol StoreWrapper: EntitlementStore {
  var store: any EntitlementStore { get }
}

extension StoreWrapper {
  package var changes: CustomerVersions { store.changes }
  package var feed: StoreFeed { store.feed }

  package func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await store.read(priority, deadline: deadline, body)
  }

  package func makeCheckReader() throws(StoreError) -> sending any CheckReader {
    try store.makeCheckReader()
  }

  package func write<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value { try await store.write(body) }

  package func dryRun<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value { try await store.dryRun(body) }

  package func purgeRemnants() async -> Bool { await store.purgeRemnants() }
  package func commits() -> AsyncStream<Void> { store.commits() }
  package func health() async throws(StoreError) { try await store.health() }
  package func close() async { await store.close() }
}

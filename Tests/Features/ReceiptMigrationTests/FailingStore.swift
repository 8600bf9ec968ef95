import Store
import Synchronization
import TestSupport

/// A store whose next reads and writes fail.
final class FailingStore: StoreWrapper {
  let store: any EntitlementStore
  private let failures = Mutex<[StoreError]>([])

  init(_ store: any EntitlementStore) { self.store = store }

  /// The errors that no operation has thrown yet.
  var remaining: Int { failures.withLock { $0.count } }

  /// Makes the next operations fail, one for each error.
  func fail(with errors: [StoreError]) { failures.withLock { $0 += errors } }

  private func failIfDue() throws(StoreError) {
    let failure = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let failure { throw failure }
  }

  func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    if priority == .background { try failIfDue() }
    return try await store.read(priority, deadline: deadline, body)
  }

  func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    try failIfDue()
    return try await store.write(body)
  }
}

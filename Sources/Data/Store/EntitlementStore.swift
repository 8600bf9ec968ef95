/// Remembers what arrived and what was made of it.
///
/// The protocol says what is promised, never how; the promises are a test suite that every
/// implementation has to pass. What must be true together is written together, by one ``write(_:)``.
package protocol EntitlementStore: Sendable {
  /// A reader for one event loop or one task: it must not be used by two at a time.
  func makeReader() throws(StoreError) -> sending any StoreReader

  /// Runs `body` as one unit: all of what it writes is remembered, or, if it throws, nothing.
  ///
  /// Returns only when that is durable: a power loss right after cannot undo it. Bodies run one after the
  /// other, each seeing what those before it wrote; many may share the cost of becoming durable. A body
  /// may be run again if the store has to start over, so it must have no other effect.
  ///
  /// - Throws: what `body` throws; ``StoreError/overloaded(waiting:)`` without running it when too many
  ///   wait; ``StoreError/diskFull`` and others when it could not be made durable.
  func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome

  /// When customers last changed. Raised before ``write(_:)`` returns.
  var changes: CustomerVersions { get }

  /// Runs `body` as ``write(_:)`` would and then undoes all that it wrote: what would happen if.
  func dryRun<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome

  /// Tells each time that something was committed; what comes while the listener is busy is told once. Who
  /// follows the store reads what is new and waits here for more.
  func commits() -> AsyncStream<Void>

  /// Returns if writing works. After a write that failed it tries again, so that a store that was asked
  /// for nothing but its health recovers too.
  func health() async throws(StoreError)

  /// Waits for the writes that were taken, then lets go of the store. Everything later throws
  /// ``StoreError/closed``.
  func close() async
}

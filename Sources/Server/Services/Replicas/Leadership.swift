internal import Platform
package import Store
internal import Synchronization

/// Whether this process executes what writes, or hands it to the leader.
///
/// A replica that became the leader first prepares, so that no call uses the store before it is ready.
package final class Leadership: Sendable {
  /// `nil` for a process that has the store for itself.
  let replication: (any Replication)?
  private let prepared = Mutex<PreparedTerm?>(nil)

  /// `replication` is that of the store; `nil`: this process has the store for itself.
  package init(_ replication: (any Replication)?) { self.replication = replication }

  /// The epoch of this replica; `nil` for a follower.
  package var epoch: Int64? {
    if case .leader(let epoch)? = replication?.role { epoch } else { nil }
  }

  /// Whether calls that write run here.
  package var executesWrites: Bool {
    guard let replication else { return true }
    guard let term = replication.term else { return false }
    return prepared.withLock { $0?.term == term }
  }

  /// Runs `lead` while this replica is the leader, each time it becomes it; `prepare` runs first, and again after an
  /// error. Returns when the task is cancelled, after `lead` has returned.
  package func run(
    prepare: @escaping @Sendable () async throws -> Void, lead: @escaping @Sendable () async -> Void
  ) async {
    guard let replication else { return }
    let roles = replication.roles()
    var term: Task<Void, Never>?
    for await role in roles {
      await end(term)
      term = role.isLeader ? Task { await self.begin(prepare, lead) } : nil
    }
    await end(term)
  }

  /// Prepares until that succeeds, and leads until the term ends. A failed preparation is repeated after 200 ms.
  private func begin(
    _ prepare: @Sendable () async throws -> Void, _ lead: @Sendable () async -> Void
  ) async {
    guard let term = replication?.term else { return }
    var prepared: PreparedTerm?
    while prepared == nil {
      prepared = try? await PreparedTerm(term, by: prepare)
      if prepared == nil, (try? await Task.sleep(for: .milliseconds(200))) == nil { return }
    }
    guard !Task.isCancelled, replication?.term == term else { return }
    self.prepared.withLock { $0 = prepared }
    await lead()
  }

  /// Ends a term: calls are forwarded from now on, and the workers of the leader have returned when this does.
  private func end(_ term: Task<Void, Never>?) async {
    prepared.withLock { $0 = nil }
    term?.cancel()
    await term?.value
    // The term may have become prepared just before it was cancelled.
    prepared.withLock { $0 = nil }
  }
}

/// A term for which the store was prepared: it exists only after that. A later term has its own, so that a replica which
/// loses the lease and takes it again at once executes no call before it has prepared again.
private struct PreparedTerm {
  let term: LeaderTerm

  /// Prepares the store in `term`.
  init(_ term: LeaderTerm, by prepare: @Sendable () async throws -> Void) async throws {
    try await prepare()
    self.term = term
  }
}

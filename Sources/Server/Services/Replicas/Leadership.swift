internal import Logging
internal import Platform
package import Store
internal import Synchronization

/// Whether this process executes what writes, or hands it to the leader.
///
/// A replica that became the leader first prepares, so that no call uses the store before it is ready. One that cannot
/// lets another replica lead.
package final class Leadership: Sendable {
  /// The times after which a leader that has not prepared lets another replica lead.
  struct Limits {
    /// For a preparation that fails.
    var failing = Duration.seconds(5)
    /// For one that has not ended, such as one that waits for storage. That of a large restored store takes minutes, and
    /// the next leader continues it.
    var unfinished = Duration.seconds(300)
    /// The time for which it leaves the lease to others then, which look for it twice a second.
    var rest = Duration.seconds(10)
  }

  /// The pause after a preparation that failed; twice as long after each further one, up to ``maxPause``.
  private static let firstPause = Duration.milliseconds(200)
  private static let maxPause = Duration.seconds(1)
  /// The pause between two looks whether the preparation has ended.
  private static let lookInterval = Duration.milliseconds(500)

  /// `nil` for a process that has the store for itself.
  let replication: (any Replication)?
  private let limits: Limits
  private let logger = Logger(label: "entitled.leader")
  private let prepared = Mutex<PreparedTerm?>(nil)

  /// `replication` is that of the store; `nil`: this process has the store for itself.
  package convenience init(_ replication: (any Replication)?) { self.init(replication, Limits()) }

  init(_ replication: (any Replication)?, _ limits: Limits) {
    self.replication = replication
    self.limits = limits
  }

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
    let limit = Task { await self.limitPreparation() }
    defer { limit.cancel() }
    let roles = replication.roles()
    var term: Task<Void, Never>?
    for await role in roles {
      await end(term)
      term = role.isLeader ? Task { await self.begin(prepare, lead) } : nil
    }
    await end(term)
  }

  /// Prepares until that succeeds, and leads until the term ends. Steps down if it fails for too long.
  private func begin(
    _ prepare: @Sendable () async throws -> Void, _ lead: @Sendable () async -> Void
  ) async {
    guard let term = replication?.term else { return }
    let start = ContinuousClock.now
    var pause = Self.firstPause
    var prepared: PreparedTerm?
    while prepared == nil {
      prepared = try? await PreparedTerm(term, by: prepare)
      guard prepared == nil else { break }
      if .now - start >= limits.failing { return await stepDown(from: term) }
      guard (try? await Task.sleep(for: pause)) != nil else { return }
      pause = min(pause * 2, Self.maxPause)
    }
    guard !Task.isCancelled, replication?.term == term else { return }
    self.prepared.withLock { $0 = prepared }
    await lead()
  }

  /// Steps down from each term in which the preparation does not end. Apart from the preparation, which may never return.
  private func limitPreparation() async {
    var unprepared: (term: LeaderTerm, since: ContinuousClock.Instant)?
    repeat {
      guard let term = replication?.term, !executesWrites else {
        unprepared = nil
        continue
      }
      if unprepared?.term != term { unprepared = (term, .now) }
      if let unprepared, .now - unprepared.since >= limits.unfinished { await stepDown(from: term) }
    } while (try? await Task.sleep(for: Self.lookInterval)) != nil
  }

  /// Lets another replica lead, if this one still leads in `term`.
  private func stepDown(from term: LeaderTerm) async {
    guard let replication, replication.term == term else { return }
    logger.error("gave up the lease: the preparation of the leader does not succeed")
    await replication.stepDown(for: limits.rest)
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

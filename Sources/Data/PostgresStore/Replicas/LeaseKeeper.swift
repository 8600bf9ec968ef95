internal import Platform
internal import PostgreSQL
internal import SQLStore
internal import Store
internal import Synchronization

/// Takes the lease of the leader when it is free, and renews it each second.
///
/// A replica that cannot renew it before it runs out, by its own clock, continues as a follower.
final class LeaseKeeper: ReplicaWorker, Sendable {
  /// The pause of a leader between two renewals of its lease.
  private static let renewalInterval = Duration.seconds(1)
  /// The pause of a follower between two looks at the lease.
  private static let observationInterval = Duration.milliseconds(500)
  /// The pause of a process that ends, which looks whether another replica has taken the lease.
  private static let releasedInterval = Duration.milliseconds(100)
  /// The pause of a leader between two looks at its clock.
  private static let expiryInterval = Duration.milliseconds(100)
  /// The longest round trip of a renewal: while each takes so long, the next one still ends before the lease does.
  private static let timeout = Duration.seconds(2)

  private struct State {
    /// When the lease runs out at the earliest, by the clock of this machine.
    var validUntil = ContinuousClock.now
    /// Whether this process ends, and leaves the lease to others.
    var isReleased = false
    /// Until when it leaves the lease to others.
    var restsUntil = ContinuousClock.now
  }

  private let lease: Lease
  private let thread: SessionThread
  private let replica: ReplicaState
  private let writer: PostgresWriter
  private let queue: WriteQueue
  private let state = Mutex(State())

  init(
    _ settings: PostgresSettings, _ replica: ReplicaState, _ lease: Lease, _ writer: PostgresWriter,
    _ queue: WriteQueue
  ) {
    self.lease = lease
    thread = SessionThread("lease", LazySession(settings, timeout: Self.timeout))
    self.replica = replica
    self.writer = writer
    self.queue = queue
  }

  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        repeat { await self.beat() } while (try? await Task.sleep(for: self.pause)) != nil
      }
      // Apart from the beats, because a round trip may wait for longer than the lease lasts.
      group.addTask {
        repeat { await self.followIfExpired() } while (try? await Task.sleep(for: Self.expiryInterval)) != nil
      }
    }
  }

  private var pause: Duration {
    if state.withLock({ $0.isReleased }) { return Self.releasedInterval }
    return replica.role.isLeader ? Self.renewalInterval : Self.observationInterval
  }

  /// Renews the lease of a leader; takes a free one as a follower.
  func beat() async {
    do throws(StoreError) {
      if case .leader(let epoch) = replica.role, !state.withLock({ $0.isReleased }) {
        try await renew(epoch)
      } else {
        try await observe()
      }
    } catch {
      // The database is away, so no leader is known.
      if !replica.role.isLeader { replica.observe(nil) }
    }
  }

  /// Stores the fingerprint if there is none, and compares it with the stored one.
  func isInstallation(_ fingerprint: [UInt8]) async throws(StoreError) -> Bool {
    try await thread.run { session throws(StoreError) in
      let connection = try session.connection()
      _ = try connection.query(
        PostgresRequest(
          "INSERT INTO installation_key VALUES (1, $1) ON CONFLICT (number) DO NOTHING", [.bytea(fingerprint)]
        ))
      let rows = try connection.query(PostgresRequest("SELECT fingerprint FROM installation_key"))
      return rows.count == 1 && rows.bytes(0, 0) == fingerprint
    }
  }

  /// Gives the lease up, and takes it no more. One that is being taken is given up when that has succeeded.
  func release() async {
    state.withLock { $0.isReleased = true }
    guard replica.role.isLeader else { return }
    try? await giveUp()
  }

  /// Gives the lease up, follows, and takes the lease after `pause` at the earliest.
  func stepDown(for pause: Duration) async {
    guard replica.role.isLeader else { return }
    state.withLock { $0.restsUntil = .now + pause }
    replica.set(.follower)
    try? await giveUp()
    await follow()
  }

  private func giveUp() async throws(StoreError) {
    let lease = lease
    try await thread.run { session throws(StoreError) in try lease.release(on: session.connection()) }
  }

  private func renew(_ epoch: Int64) async throws(StoreError) {
    let (start, name, lease) = (ContinuousClock.now, replica.name, lease)
    let isRenewed = try await thread.run { session throws(StoreError) in
      try lease.renew(name, epoch: epoch, on: session.connection())
    }
    guard isRenewed else {
      // A leader that gave the lease up meanwhile leads until another replica does.
      if !state.withLock({ $0.isReleased }) { await follow() }
      return
    }
    state.withLock { $0.validUntil = start + lease.duration }
  }

  /// Looks who has the lease: a leader that lost it follows, and a follower takes it if it is free.
  private func observe() async throws(StoreError) {
    let lease = lease
    let seen = try await thread.run { session throws(StoreError) in
      try lease.observe(on: session.connection())
    }
    let leavesLease = state.withLock { $0.isReleased || $0.restsUntil > .now }
    if replica.role.isLeader {
      // It has given the lease up, and leads until another replica does.
      if let leader = seen.leader, !seen.isOwn {
        await follow()
        replica.observe(leader)
      }
      return
    }
    replica.observe(seen.isOwn ? nil : seen.leader)
    guard !leavesLease, seen.leader == nil || seen.isOwn else { return }
    try await take()
  }

  /// Takes the lease: ends the session of the former writer, then leads from a commit on that only one replica can
  /// make.
  private func take() async throws(StoreError) {
    let (start, lease, writer) = (ContinuousClock.now, lease, writer)
    try await thread.run { session throws(StoreError) in
      try lease.endFormerWriter(on: session.connection())
    }
    // Before the role, which the check of the expiry reads.
    state.withLock { $0.validUntil = start + lease.duration }
    let result: Result<Bool, StoreError> = await queue.perform {
      do throws(StoreError) { return .success(try writer.lead(with: lease)) } catch { return .failure(error) }
    }
    guard try result.get(), case .leader(let epoch) = replica.role else { return }
    if state.withLock({ $0.isReleased }) { return try await giveUp() }
    try await renew(epoch)
  }

  private func followIfExpired() async {
    guard replica.role.isLeader, !state.withLock({ $0.isReleased }),
      ContinuousClock.now >= state.withLock({ $0.validUntil })
    else { return }
    await follow()
  }

  /// Stops writing. The role changes first, so that a write that waits for the database is interrupted.
  private func follow() async {
    replica.set(.follower)
    let writer = writer
    await queue.perform { writer.follow() }
  }
}

package import AppStore
internal import Synchronization

/// The part of its store's history that this process has.
///
/// In a store that one process has for itself, it has everything. Where other processes write, a follower reads their
/// commits, raises ``CustomerVersions`` for their customers, and then advances the feed: a position that was reached is in
/// every answer from memory and in every later snapshot.
package final class StoreFeed: Sendable {
  /// Whether the process has a position.
  package enum Reach: Hashable, Sendable {
    /// The feed has the position.
    case reached
    /// Another process has it, or its term is not known yet.
    case pending
    /// The history does not contain it, such as one that was reached after the backup from which the store was restored.
    case unknown
  }

  /// The known history of the store, and the calls that wait for a position of it.
  private struct State {
    /// In the order of the history.
    var terms: [StoreTerm]
    /// The number of times that reading the terms began.
    var termReads: UInt64 = 0
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0
  }

  /// A call that waits until the store has a position.
  private struct Waiter {
    let position: StorePosition
    /// Only terms that were read after this number of reads had begun decide that the position is unknown.
    let termReads: UInt64
    let continuation: CheckedContinuation<Reach, Never>
  }

  /// Whether other processes may write to the store.
  package let isShared: Bool
  /// The limits of answers from memory while the database is away.
  package let policy: StalenessPolicy
  private let state: Mutex<State>
  private let currentTerm: Atomic<UInt64>
  private let applied: Atomic<Int64>
  /// The machine's time of the last answer of the database, in milliseconds since 1970.
  private let lastContact = Atomic<Int64>(0)
  private let away = Atomic(false)
  /// Whether a host did not answer at the last attempt while ``away``.
  private let silent = Atomic(false)
  private let losses = Atomic<Int>(0)

  /// Creates the feed of a store that this process has for itself; the last of `terms` is its own.
  package init(terms: [StoreTerm]) {
    isShared = false
    policy = StalenessPolicy()
    state = Mutex(State(terms: terms))
    currentTerm = Atomic(terms.last?.name ?? 0)
    applied = Atomic(.max)
  }

  /// Creates the feed of a store to which other processes may write; `position` is the number of commits so far, and
  /// `now` the machine's time.
  package init(terms: [StoreTerm], position: Int64, policy: StalenessPolicy, now: Instant) {
    isShared = true
    self.policy = policy
    state = Mutex(State(terms: terms))
    currentTerm = Atomic(terms.last?.name ?? 0)
    applied = Atomic(position)
    lastContact.store(now.millisecondsSince1970, ordering: .relaxed)
  }

  /// The name of the term of the latest commits.
  package var term: UInt64 { currentTerm.load(ordering: .acquiring) }

  /// The number of commits that this process has; the greatest number in a store that it has for itself.
  package var position: Int64 { applied.load(ordering: .acquiring) }

  /// Whether the process has `position`.
  package func reach(_ position: StorePosition) -> Reach {
    // Most tokens are of the current term, which needs no lock.
    if position.term == term || position.term == 0 { return reachWithinTerm(position) }
    return state.withLock { reach(position, $0.terms) }
  }

  private func reachWithinTerm(_ position: StorePosition) -> Reach {
    position.mark <= self.position ? .reached : .pending
  }

  private func reach(_ position: StorePosition, _ terms: [StoreTerm]) -> Reach {
    guard position.term != 0 else { return reachWithinTerm(position) }
    guard let index = terms.lastIndex(where: { $0.name == position.term }) else {
      return isShared ? .pending : .unknown
    }
    if index + 1 < terms.count, !terms[index + 1].start.includes(position) { return .unknown }
    return reachWithinTerm(position)
  }
}

// Waiting for a position.
extension StoreFeed {
  /// Waits at most `duration` until the process has `position`; ``Reach/pending`` if it has not by then.
  package func waitFor(_ position: StorePosition, atMost duration: Duration) async -> Reach {
    let reached = reach(position)
    guard reached == .pending, duration > .zero else { return reached }
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let deadline = ContinuousClock.now + duration
    let timer = Task {
      try? await Task.sleep(until: deadline)
      giveUp(id)
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in add(id, position, deadline, continuation) }
    } onCancel: {
      giveUp(id)
    }
  }

  /// Waits at most `duration` until the process has this number of commits. Returns whether it has.
  package func waitFor(commits: Int64, atMost duration: Duration) async -> Bool {
    await waitFor(StorePosition(appHash: 0, sequence: 0, mark: commits), atMost: duration) == .reached
  }

  /// Adds a waiter, unless the answer is known, its deadline is over or its task is cancelled; it is
  /// resumed then.
  private func add(
    _ id: UInt64, _ position: StorePosition, _ deadline: ContinuousClock.Instant,
    _ continuation: CheckedContinuation<Reach, Never>
  ) {
    let known: Reach? = state.withLock { state in
      let known = reach(position, state.terms)
      // The timer and a cancellation take the lock after this, and find the waiter.
      guard known == .pending, !Task.isCancelled, deadline > .now else { return known }
      state.waiters[id] = Waiter(
        position: position, termReads: state.termReads, continuation: continuation)
      return nil
    }
    if let known { continuation.resume(returning: known) }
  }

  private func giveUp(_ id: UInt64) {
    state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: .pending)
  }

  /// Whether a position of a term that the process does not know is waited for.
  package var needsTerms: Bool {
    state.withLock { state in
      state.waiters.values.contains { waiter in
        waiter.termReads == state.termReads && !waiter.position.hasTerm(in: state.terms)
      }
    }
  }

  /// Returns the ticket for ``replaceTerms(_:_:)``; to be called before terms are read.
  package func termReadBegan() -> UInt64 {
    state.withLock { state in
      state.termReads += 1
      return state.termReads
    }
  }

  /// Replaces the terms with those that were read after ``termReadBegan()`` returned `ticket`.
  ///
  /// - Returns: whether the history has the commits of this process. It does not if the database was replaced by an
  ///   older state, such as that of a standby that lacked the last ones; others may have taken their positions since.
  ///   Commits of this process itself in a term that it began just now count as missing, too.
  package func replaceTerms(_ terms: [StoreTerm], _ ticket: UInt64) -> Bool {
    let own = StorePosition(term: term, appHash: 0, sequence: 0, mark: position)
    let (unknown, isContained) = state.withLock { state in
      let isContained = own.hasTerm(in: terms) && reach(own, terms) != .unknown
      state.terms = terms
      currentTerm.store(terms.last?.name ?? 0, ordering: .releasing)
      let ids = state.waiters.filter { id, waiter in
        waiter.termReads < ticket
          && (reach(waiter.position, terms) == .unknown || !waiter.position.hasTerm(in: terms))
      }.keys
      return (ids.compactMap { state.waiters.removeValue(forKey: $0) }, isContained)
    }
    for waiter in unknown { waiter.continuation.resume(returning: .unknown) }
    return isContained
  }

  /// Publishes that this process has all commits up to `position`. Must follow the raising of their
  /// ``CustomerVersions``.
  package func advance(to position: Int64) {
    var known = self.position
    while known < position {
      let (isExchanged, current) = applied.compareExchange(
        expected: known, desired: position, ordering: .acquiringAndReleasing)
      if isExchanged { break }
      known = current
    }
    resumeWaiters()
  }

  /// Publishes a commit of this process, unless commits of others before it were not applied yet: then the follower
  /// reads all of them.
  package func committed(_ position: Int64) {
    guard applied.load(ordering: .acquiring) == position - 1 else { return }
    advance(to: position)
  }

  /// Sets the position back, after the history of the database was replaced by an older one.
  package func reset(to position: Int64) {
    applied.store(position, ordering: .releasing)
  }

  private func resumeWaiters() {
    let reached = state.withLock { state -> [Waiter] in
      guard !state.waiters.isEmpty else { return [] }
      let ids = state.waiters.filter { reach($0.value.position, state.terms) == .reached }.keys
      return ids.compactMap { state.waiters.removeValue(forKey: $0) }
    }
    for waiter in reached { waiter.continuation.resume(returning: .reached) }
  }
}

// Contact with the database.
extension StoreFeed {
  /// Whether the database does not answer. Reads and writes then fail at once.
  package var isAway: Bool { away.load(ordering: .relaxed) }

  /// Whether all hosts of the database answer that they take nothing now. Otherwise this process may be the one that is
  /// cut off, while the database works for others.
  package var isRefused: Bool { isAway && !silent.load(ordering: .relaxed) }

  /// The machine's time of the last answer of the database; without meaning if the store is not shared.
  package var contact: Instant { Instant(millisecondsSince1970: lastContact.load(ordering: .relaxed)) }

  /// Records an answer of the database.
  package func answered(at now: Instant) {
    lastContact.store(now.millisecondsSince1970, ordering: .relaxed)
    away.store(false, ordering: .relaxed)
  }

  /// Records that the database does not work; `isSilent` if one of its hosts, or the only one, did not answer.
  ///
  /// - Returns: whether it worked before.
  package func lost(isSilent: Bool = true) -> Bool {
    silent.store(isSilent, ordering: .relaxed)
    guard !away.exchange(true, ordering: .relaxed) else { return false }
    losses.wrappingAdd(1, ordering: .relaxed)
    return true
  }

  /// The number of times that the database stopped answering; sessions of before are not used any more.
  package var lossCount: Int { losses.load(ordering: .relaxed) }

  /// Returns the staleness of answers from memory at `now`, the machine's time.
  package func staleness(at now: Instant) -> Staleness {
    guard isShared else { return .fresh }
    let silence = now.milliseconds(since: contact)
    guard silence > policy.maxStalenessMilliseconds else { return .fresh }
    return silence > policy.serveStaleForMilliseconds ? .expired : .stale(since: contact)
  }
}

extension StorePosition {
  /// Whether its term is one of `terms`, or the current one.
  fileprivate func hasTerm(in terms: [StoreTerm]) -> Bool {
    term == 0 || terms.contains { $0.name == term }
  }
}

internal import Synchronization

/// The bytes that the peers of all connections, also of several listeners, make the server hold.
package struct PeerBytes: Sendable {
  /// Responses that they have not read.
  package let unreadResponses: HeldBytes
  /// Requests that they have not ended.
  package let incompleteRequests: HeldBytes

  /// Creates accounts without any bytes.
  package init(_ limits: TransportLimits) {
    unreadResponses = HeldBytes(limit: limits.unreadResponseBytes)
    incompleteRequests = HeldBytes(limit: limits.incompleteRequestBytes)
  }
}

/// Bounds the bytes of one kind that the peers of all connections make the server hold.
///
/// Connections report their bytes. When all together exceed the limit, those with the most are reset, because a peer
/// that reads, or that sends the rest of its requests, cannot have many.
package final class HeldBytes: Sendable {
  private let limit: Int
  private let total = Atomic<Int>(0)
  private let resets = Atomic<Int>(0)
  /// The open accounts. They hold what resets their connections, because a connection holds its accounts.
  private let accounts = Mutex<[ObjectIdentifier: (account: Account, reset: @Sendable () -> Void)]>([:])

  /// - Parameter limit: in bytes.
  package init(limit: Int) { self.limit = limit }

  /// The bytes of all connections.
  package var bytes: Int { total.load(ordering: .relaxed) }

  /// The number of connections reset so far.
  package var resetConnections: Int { resets.load(ordering: .relaxed) }

  /// Opens the account of a connection. `reset` ends the connection; it may be called on any thread, at most once.
  func open(reset: @escaping @Sendable () -> Void) -> Account {
    let account = Account(self)
    accounts.withLock { $0[ObjectIdentifier(account)] = (account, reset) }
    return account
  }

  private func add(_ bytes: Int) {
    let now = total.add(bytes, ordering: .relaxed).newValue
    if bytes > 0, now > limit { resetWorst() }
  }

  /// Resets the connections with the most bytes.
  private func resetWorst() {
    for reset in takeWorst() {
      resets.add(1, ordering: .relaxed)
      reset()
    }
  }

  /// Settles the accounts with the most bytes, until the others have a sixteenth less than the limit: the search looks at
  /// all connections, so a peer must make the server hold as much again before the next one.
  private func takeWorst() -> [@Sendable () -> Void] {
    accounts.withLock { accounts in
      var taken: [@Sendable () -> Void] = []
      // Another thread may have been faster.
      guard self.bytes > limit else { return taken }
      // Connections report on other threads meanwhile.
      let worstFirst = accounts.values.map { (bytes: $0.account.bytes, entry: $0) }
        .sorted { $0.bytes > $1.bytes }
      for (bytes, entry) in worstFirst {
        guard bytes > 0, self.bytes > limit - limit / 16 else { break }
        accounts[ObjectIdentifier(entry.account)] = nil
        entry.account.settle()
        taken.append(entry.reset)
      }
      return taken
    }
  }

  private func close(_ account: Account) {
    accounts.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(account)) }
    account.settle()
  }

  /// The bytes of one connection, which reports them on its event loop.
  final class Account: Sendable {
    private let owner: HeldBytes
    /// Negative once the account is settled.
    private let reported = Atomic<Int>(0)

    fileprivate init(_ owner: HeldBytes) { self.owner = owner }

    fileprivate var bytes: Int { reported.load(ordering: .relaxed) }

    /// Reports the current bytes; does nothing once the account is closed or its connection reset.
    func report(_ bytes: Int) {
      let before = self.bytes
      guard before >= 0, bytes != before else { return }
      guard reported.compareExchange(expected: before, desired: bytes, ordering: .relaxed).exchanged else {
        return
      }
      owner.add(bytes - before)
    }

    /// Releases the bytes of a connection that is closed.
    func close() { owner.close(self) }

    fileprivate func settle() {
      let before = reported.exchange(-1, ordering: .relaxed)
      if before > 0 { owner.add(-before) }
    }
  }
}

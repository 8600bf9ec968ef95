internal import Synchronization

/// Bounds the bytes of responses that the peers of all connections have not read.
///
/// Connections report their unread bytes. When all together exceed the limit, those with the most are reset, because
/// a peer that reads cannot have many.
package final class UnreadResponses: Sendable {
  private let limit: Int
  private let total = Atomic<Int>(0)
  private let resets = Atomic<Int>(0)
  private let accounts = Mutex<[ObjectIdentifier: Account]>([:])

  /// - Parameter limit: in bytes.
  package init(limit: Int) { self.limit = limit }

  /// The unread bytes of all connections.
  package var bytes: Int { total.load(ordering: .relaxed) }

  /// The number of connections reset so far.
  package var resetConnections: Int { resets.load(ordering: .relaxed) }

  /// Opens the account of a connection. `reset` ends the connection; it may be called on any thread, at most once.
  func open(reset: @escaping @Sendable () -> Void) -> Account {
    let account = Account(self, reset)
    accounts.withLock { $0[ObjectIdentifier(account)] = account }
    return account
  }

  private func add(_ bytes: Int) {
    let now = total.add(bytes, ordering: .relaxed).newValue
    if bytes > 0, now > limit { resetWorst() }
  }

  /// Resets the connections with the most unread bytes until the others are within the limit.
  private func resetWorst() {
    while self.bytes > limit {
      let worst: Account? = accounts.withLock { accounts in
        guard let worst = accounts.values.max(by: { $0.bytes < $1.bytes }), worst.bytes > 0 else {
          return nil
        }
        accounts[ObjectIdentifier(worst)] = nil
        return worst
      }
      guard let worst else { return }
      resets.add(1, ordering: .relaxed)
      worst.settle()
      worst.reset()
    }
  }

  private func close(_ account: Account) {
    accounts.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(account)) }
    account.settle()
  }

  /// The unread bytes of one connection, which reports them on its event loop.
  final class Account: Sendable {
    private let owner: UnreadResponses
    fileprivate let reset: @Sendable () -> Void
    /// Negative once the account is settled.
    private let reported = Atomic<Int>(0)

    fileprivate init(_ owner: UnreadResponses, _ reset: @escaping @Sendable () -> Void) {
      self.owner = owner
      self.reset = reset
    }

    fileprivate var bytes: Int { reported.load(ordering: .relaxed) }

    /// Reports the current unread bytes; does nothing once the account is closed or its connection reset.
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

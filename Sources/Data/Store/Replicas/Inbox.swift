/// The kind of an inbox entry, which decides how the leader executes it.
package enum InboxKind: String, CaseIterable, Sendable {
  /// A unary call of the contract, or one message of a stream.
  case call
  /// An HTTP request to the edge.
  case request
  /// A notification of Apple's whose sender was answered already.
  case notification
  /// Audit entries of calls that another replica executed.
  case audit
  /// Requests for retention messages that another replica answered.
  case retention
  /// An event of RevenueCat's whose sender was answered already.
  case importedEvent
}

/// Identifies an entry of the inbox.
///
/// The id alone does not: after a failover to a standby that lacked the last entries, the store gives their ids to new
/// ones.
package struct InboxKey: Hashable, Sendable {
  /// The number under which the store finds the entry, in no order; 0 before it is appended.
  package let id: Int64
  /// Random, so that no two entries of any store have the same, and no caller can guess it.
  package let token: String

  package init(id: Int64, token: String) {
    self.id = id
    self.token = token
  }

  /// Creates the key of an entry that is not appended yet.
  package init() {
    let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
    self.init(id: 0, token: random.joined(separator: "-"))
  }
}

/// A call or request that a replica hands to the leader.
package struct InboxEntry: Hashable, Sendable {
  /// An entry whose token is stored is not appended again.
  package let key: InboxKey
  /// How the leader executes it.
  package let kind: InboxKind
  /// The app that it is about; empty if it names none.
  package let appID: String
  /// `/package.Service/Method`, or the path of an HTTP request.
  package let method: String
  /// The operator's name of the caller; empty if callers are not authenticated.
  package let caller: String
  /// The context besides the body, encoded by the layer that executes the entry.
  package let context: [UInt8]
  /// The serialized request of a call, or the body of an HTTP request, as it arrived.
  package let body: [UInt8]

  package init(
    _ key: InboxKey = InboxKey(), kind: InboxKind, appID: String, method: String, caller: String,
    context: [UInt8], body: [UInt8]
  ) {
    self.key = key
    self.kind = kind
    self.appID = appID
    self.method = method
    self.caller = caller
    self.context = context
    self.body = body
  }
}

/// The entries that the leader does not take now.
package struct InboxExclusion: Hashable, Sendable {
  /// Those that it executes already, or that wait for another leader.
  package let keys: Set<InboxKey>
  /// Those of these kinds.
  package let kinds: Set<InboxKind>
  /// Those of these methods.
  package let methods: Set<String>

  package init(keys: Set<InboxKey> = [], kinds: Set<InboxKind> = [], methods: Set<String> = []) {
    self.keys = keys
    self.kinds = kinds
    self.methods = methods
  }
}

/// The entries that replicas hand to the leader, and their outcomes.
///
/// An entry is executed at least once, by one leader after the other until an outcome is stored; the first outcome
/// stays, without the context and the body. The executing layer makes sure that an entry counts once, and that an outcome
/// can be read with the context alone. The key of an entry that the store lost in a failover fits no other one.
package protocol Inbox: Sendable {
  /// Appends an entry. It is as durable as a write on return.
  ///
  /// - Returns: its key in this store.
  /// - Throws: ``StoreError/unavailable(_:)`` if it could not be appended within a second,
  ///   ``StoreError/outcomeUnknown(_:)`` if it may be appended anyway, and ``StoreError/overloaded(waiting:)``.
  func append(_ entry: InboxEntry) async throws(StoreError) -> InboxKey

  /// Waits until the outcome of an entry is stored and this replica has applied the commits up to it.
  ///
  /// - Throws: ``StoreError/deadlineExceeded`` or ``StoreError/cancelled``; the entry may be executed anyway.
  func outcome(of key: InboxKey, until deadline: ContinuousClock.Instant) async throws(StoreError) -> [UInt8]

  /// Returns at most `limit` entries without outcome that are not in `excluded`, by id. Waits a fraction of a second for
  /// the first one. Only the leader calls it, from one task.
  func take(_ limit: Int, except excluded: InboxExclusion) async throws(StoreError) -> [InboxEntry]

  /// Stores the outcome of an entry, together with others. Only the leader can.
  ///
  /// - Throws: ``StoreError/anotherWriter`` if another replica took over; that one executes the entry again.
  func finish(_ key: InboxKey, _ outcome: [UInt8]) async throws(StoreError)

  /// Stores the outcome of an entry in the transaction of its effects, so that both are committed or neither. Also that of
  /// an entry which the store has lost in a failover: the leader may be the only one that still has what it says.
  ///
  /// - Returns: `false` if it has an outcome, and so its effects, already: an earlier commit whose result was lost. Also if
  ///   the lost entry was appended again, which is executed then.
  func finish(
    _ key: InboxKey, _ outcome: [UInt8], in transaction: any StoreTransaction
  ) throws(StoreError) -> Bool

  /// Removes an entry for whose outcome no one waits, and whose repetition changes nothing, in the transaction of its
  /// effects. Entries of one batch share a statement.
  func remove(_ key: InboxKey, in transaction: any StoreTransaction) throws(StoreError)

  /// Deletes outcomes that are an hour old. Only the leader calls it.
  func deleteOldOutcomes() async throws(StoreError)

  /// The number of entries without outcome, and the age of the oldest in milliseconds.
  func backlog() async throws(StoreError) -> (count: Int64, oldest: Int64)
}

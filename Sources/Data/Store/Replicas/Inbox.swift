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

/// A call or request that a replica hands to the leader.
package struct InboxEntry: Hashable, Sendable {
  /// Identifies the entry in this store, in no order; 0 before it is appended.
  package var id: Int64 = 0
  /// Identifies the entry everywhere, also after a copy of the store. An entry with a stored token is not appended again.
  /// `nil` before it is appended: a random one.
  package var token: String?
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
    kind: InboxKind, appID: String, method: String, caller: String, context: [UInt8], body: [UInt8]
  ) {
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
  package let ids: Set<Int64>
  /// Those of these kinds.
  package let kinds: Set<InboxKind>
  /// Those of these methods.
  package let methods: Set<String>

  package init(ids: Set<Int64> = [], kinds: Set<InboxKind> = [], methods: Set<String> = []) {
    self.ids = ids
    self.kinds = kinds
    self.methods = methods
  }
}

/// The entries that replicas hand to the leader, and their outcomes.
///
/// An entry is executed at least once, by one leader after the other until an outcome is stored; the first outcome
/// stays, without the context and the body. The executing layer makes sure that an entry counts once, and that an outcome
/// can be read with the context alone.
package protocol Inbox: Sendable {
  /// Appends an entry. It is as durable as a write on return.
  ///
  /// - Returns: its id.
  /// - Throws: ``StoreError/unavailable(_:)`` if it could not be appended within a second,
  ///   ``StoreError/outcomeUnknown(_:)`` if it may be appended anyway, and ``StoreError/overloaded(waiting:)``.
  func append(_ entry: InboxEntry) async throws(StoreError) -> Int64

  /// Waits until the outcome of an entry is stored and this replica has applied the commits up to it.
  ///
  /// - Throws: ``StoreError/deadlineExceeded`` or ``StoreError/cancelled``; the entry may be executed anyway.
  func outcome(of id: Int64, until deadline: ContinuousClock.Instant) async throws(StoreError) -> [UInt8]

  /// Returns at most `limit` entries without outcome that are not in `excluded`, by id. Waits a fraction of a second for
  /// the first one. Only the leader calls it, from one task.
  func take(_ limit: Int, except excluded: InboxExclusion) async throws(StoreError) -> [InboxEntry]

  /// Stores the outcome of an entry, together with others. Only the leader can.
  func finish(_ id: Int64, _ outcome: [UInt8]) async throws(StoreError)

  /// Stores the outcome of an entry in the transaction of its effects, so that both are committed or neither.
  ///
  /// - Returns: `false` if it has an outcome, and so its effects, already: an earlier commit whose result was lost.
  func finish(
    _ id: Int64, _ outcome: [UInt8], in transaction: any StoreTransaction
  ) throws(StoreError) -> Bool

  /// Removes an entry for whose outcome no one waits, and whose repetition changes nothing, in the transaction of its
  /// effects. Entries of one batch share a statement.
  func remove(_ id: Int64, in transaction: any StoreTransaction) throws(StoreError)

  /// Deletes outcomes that are an hour old. Only the leader calls it.
  func deleteOldOutcomes() async throws(StoreError)

  /// The number of entries without outcome, and the age of the oldest in milliseconds.
  func backlog() async throws(StoreError) -> (count: Int64, oldest: Int64)
}

internal import AppStore
internal import Entitlements
package import Store

/// A customer that was erased, and the pseudonym that replaces the id in the store.
package struct ErasedCustomer: Hashable, Sendable {
  /// `nil` if the customer was erased before.
  let record: ErasureRecord?
  /// The id that was erased.
  package let customerID: String
  /// The id that replaces it everywhere.
  package let pseudonym: String
}

// The erasure of customers, in the store and in restored copies of it.
extension EvidenceLedger {
  /// Erases a customer with all customers merged into it: ids, tokens, notes and links. Apple's facts stay, and the
  /// purchases enter the claim queue. Pseudonyms replace the ids and tokens in evidence and events. Cannot be undone.
  /// A second erasure of the same customer changes nothing.
  ///
  /// On return the erasure is durable, also in the list outside the store, and the store's log contains no remnants
  /// unless a long read prevents that.
  ///
  /// Rejected evidence, and data that is not in the store, are erased first: they are found by the customer's tokens, to
  /// which only the store leads. After an error or a crash, the store still has the customer, and another call finds all.
  ///
  /// `eraseElsewhere` erases the customer in data that is not in the store. It is called with the result that the erasure
  /// will have, which names the tokens, and again if the customer got others meanwhile; not for a dry run.
  ///
  /// - Throws: ``LedgerError/unknownCustomer`` if nothing is or was stored about the customer; the error of
  ///   `eraseElsewhere`, after which the store still has the customer.
  package func erase(
    _ customerID: String, _ scope: CommandScope,
    eraseElsewhere: (CommandResult) async throws(LedgerError) -> Void = { _ async throws(LedgerError) in }
  ) async throws(LedgerError) -> CommandResult {
    try await erase(customerID, scope, isRestoring: false, eraseElsewhere)
  }

  /// `isRestoring`: whether the app may be one that is not configured any more.
  private func erase(
    _ customerID: String, _ scope: CommandScope, isRestoring: Bool,
    _ eraseElsewhere: (CommandResult) async throws(LedgerError) -> Void
  ) async throws(LedgerError) -> CommandResult {
    if !isRestoring { try check(customerID, "customer_id") }
    var preview = scope
    preview.isDryRun = true
    var purged: Set<String> = []
    while true {
      let list = erasures
      let found = try await run(preview, requiresApp: !isRestoring) { handler throws(LedgerError) in
        try handler.erase(customerID, list)
      }
      guard !scope.isDryRun else { return found }
      try await purgeRejected(of: scope.appID, naming: found.erasedNames)
      try await eraseElsewhere(found)
      purged.formUnion(found.erasedNames)
      guard
        let erased = try await eraseInStore(customerID, scope, isRestoring: isRestoring, purged: purged)
      else { continue }
      // After a crash the next start completes the list.
      try await saveList()
      await store.purgeRemnants()
      return erased
    }
  }

  /// Erases the customer in the store if the ids and tokens that it names are all in `purged`.
  ///
  /// - Returns: `nil` if not; nothing is written then.
  private func eraseInStore(
    _ customerID: String, _ scope: CommandScope, isRestoring: Bool, purged: Set<String>
  ) async throws(LedgerError) -> CommandResult? {
    let list = erasures
    do throws(LedgerError) {
      return try await run(scope, requiresApp: !isRestoring) { handler throws(LedgerError) in
        let result = try handler.erase(customerID, list)
        guard result.erasedNames.isSubset(of: purged) else { throw .store(Self.hasOtherNames) }
        return result
      }
    } catch .store(Self.hasOtherNames) {
      return nil
    }
  }

  /// Rolls an erasure back.
  private static let hasOtherNames = StoreError.conflict("the customer got another id or token")

  /// Erases the customers of the list that the store has again, because it is an older copy, and adds erasures to the
  /// list that a crash kept from it. Must be called before the first answer.
  ///
  /// `eraseElsewhere` erases customers in copies of other data that are restored with the store: those that the store has
  /// again, with their tokens, and those that only the list knows, by a hash. It is not called for a store that has all
  /// erasures, and called before the store is changed: after an error of it, the next call begins again.
  ///
  /// - Returns: the customers that were erased.
  /// - Throws: the error of `eraseElsewhere`; ``LedgerError/store(_:)``.
  package func applyErasures(
    eraseElsewhere: (
      _ restored: [CustomerKey], _ tokens: Set<String>, _ isErased: @escaping @Sendable (CustomerKey) -> Bool
    ) async throws(LedgerError) -> Void = { (_, _, _) async throws(LedgerError) in }
  ) async throws(LedgerError) -> [CustomerKey] {
    // Another replica may have led since the list was read, and the database may have lost its last commits.
    do { try erasures.reload() } catch { throw .store(.failed(error.description)) }
    try await saveList()
    let list = erasures
    let listed = list.all
    let (hashes, found) = try await write { store throws(StoreError) -> (Set<String>, [CustomerKey]) in
      let applied = Set(try store.erasures().map(\.id))
      let hashes = Set(listed.filter { !applied.contains($0.id) }.map(\.customerHash))
      guard !hashes.isEmpty else { return ([], []) }
      var found: Set<CustomerKey> = []
      try store.forEachNamedCustomer { if hashes.contains(list.hash(of: $0)) { found.insert($0) } }
      return (hashes, found.sorted { $0.customerID < $1.customerID })
    }
    guard !hashes.isEmpty else { return [] }
    var tokens: Set<String> = []
    for customer in found {
      tokens.formUnion(try await eraseAgain(customer, isDryRun: true)?.erasedTokens ?? [])
    }
    try await eraseElsewhere(found, tokens) { hashes.contains(list.hash(of: $0)) }
    for customer in found { _ = try await eraseAgain(customer, isDryRun: false) }
    try await write { store throws(StoreError) in
      for record in listed { try store.record(record, as: "") }
    }
    await store.purgeRemnants()
    return found
  }

  /// Erases a customer of the list.
  ///
  /// - Returns: `nil` if the customer was erased together with its merge target.
  private func eraseAgain(
    _ customer: CustomerKey, isDryRun: Bool
  ) async throws(LedgerError) -> CommandResult? {
    let scope = CommandScope(
      appID: customer.appID, environment: customer.environment, actor: "erasure list", isDryRun: isDryRun)
    do throws(LedgerError) {
      return try await erase(customer.customerID, scope, isRestoring: true) { _ async throws(LedgerError) in }
    } catch .unknownCustomer {
      return nil
    }
  }

  /// Erases a customer that only data outside the store names, with `eraseElsewhere`. Before the first erasure it
  /// calls `beforeFirst`, which adds the customer to the list: a restored copy of the data would name the customer again.
  ///
  /// - Throws: the error of `eraseElsewhere`; ``LedgerError/store(_:)``.
  package func eraseUnknown(
    _ customer: CustomerKey,
    eraseElsewhere: (_ beforeFirst: () async throws(LedgerError) -> Void) async throws(LedgerError) -> Void
  ) async throws(LedgerError) {
    let list = erasures
    var isFound = false
    try await eraseElsewhere { () async throws(LedgerError) in
      try await write { store throws(StoreError) in try store.record(list.erasure(of: customer), as: "") }
      try await saveList()
      isFound = true
    }
    // The data may be in the store's database.
    if isFound { await store.purgeRemnants() }
  }

  /// Appends the erasures of the store to the list.
  private func saveList() async throws(LedgerError) {
    let records = try await write { store throws(StoreError) in try store.erasures() }
    do { try erasures.append(records) } catch { throw .store(.failed(error.description)) }
  }

  /// Purges rejected evidence that names an erased customer inside: it is indexed under no customer.
  private func purgeRejected(of appID: String, naming names: Set<String>) async throws(LedgerError) {
    let found = try await read { snapshot throws(StoreError) in
      try snapshot.rejectedEvidence(of: appID) { DocumentRedaction.body($0, contains: names) }
    }
    guard !found.isEmpty else { return }
    try await write { store throws(StoreError) in
      for id in found {
        guard let content = try store.evidence(id)?.evidence.content else { continue }
        try store.replace(id, with: content.withoutBody)
      }
    }
  }
}

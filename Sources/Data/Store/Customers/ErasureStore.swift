package import AppStore
package import Entitlements

/// A completed erasure, without the id of the customer.
package struct ErasureRecord: Hashable, Sendable {
  /// Random, so that a second erasure of the same customer is another one.
  package let id: String
  /// The keyed hash of the customer. The store has no key.
  package let customerHash: String

  /// Creates a record from its parts.
  package init(id: String, customerHash: String) {
    self.id = id
    self.customerHash = customerHash
  }
}

/// Erases a customer's identifiers.
package protocol ErasureStore {
  /// Returns the customers that were merged into this one.
  func mergedCustomers(into customer: CustomerKey) throws(StoreError) -> [String]

  /// Returns all evidence that names the customer, including rejected evidence.
  func evidence(naming customer: CustomerKey) throws(StoreError) -> [StoredEvidence]

  /// Returns all evidence about a line, including notifications of version 1.
  func evidence(about line: LineKey) throws(StoreError) -> [StoredEvidence]

  /// Replaces the content of evidence that names the person: the one exception to the rule that evidence
  /// never changes.
  func replace(_ evidence: EvidenceID, with content: EvidenceContent) throws(StoreError)

  /// Deletes a grant permanently.
  func delete(grant line: LineKey) throws(StoreError)

  /// Replaces the stored grant of a line by one with the same origin.
  func replace(grant line: LineKey, with fact: GrantFact) throws(StoreError)

  /// Returns the `appAccountToken`s, in lower case, that are bound to the customer.
  func tokens(of customer: CustomerKey) throws(StoreError) -> Set<String>

  /// Returns all lines that the customer owned at any time, and the purchases of others that were made with the
  /// customer's `appAccountToken`.
  func linesConcerning(_ customer: CustomerKey) throws(StoreError) -> [LineKey]

  /// Replaces the `appAccountToken`s, in lower case, in the facts of a line.
  ///
  /// - Returns: the number of changed facts.
  func replaceTokens(of line: LineKey, by replacements: [String: String]) throws(StoreError) -> Int64

  /// Replaces the ids that the operator gave to deliveries of a line's purchases, and the request id of a seat:
  /// they may contain the id of the customer.
  ///
  /// - Returns: the number of changed rows.
  func eraseRequestIDs(of line: LineKey) throws(StoreError) -> Int64

  /// Replaces the actors, by what `name` returns, of the customer's events, of the events of others that evidence about
  /// the customer caused, of the audit entries about the customer, and of the migration jobs of the app. Must be called
  /// before ``erase(_:as:)``.
  ///
  /// - Returns: the number of changed rows.
  func renameActors(
    ofCommandsAbout customer: CustomerKey, to name: (String) -> String
  ) throws(StoreError) -> Int64

  /// Replaces the customer id by `pseudonym` in every table but as an actor, and deletes rows that only identify the person.
  /// The customer must have no lines, and ``StoreTransaction/putFacts(_:answers:of:)`` must have stored that.
  ///
  /// - Returns: the number of changed and deleted rows.
  func erase(_ customer: CustomerKey, as pseudonym: String) throws(StoreError) -> Int64

  /// Stores that an erasure was completed; `pseudonym` replaces the customer's id.
  func record(_ erasure: ErasureRecord, as pseudonym: String) throws(StoreError)

  /// Returns all completed erasures.
  func erasures() throws(StoreError) -> [ErasureRecord]

  /// Returns the pseudonym of the latest erasure of a customer; `nil` if there was none.
  func pseudonym(ofCustomerHash hash: String) throws(StoreError) -> String?

  /// Stores the sealed id that `pseudonym` replaces. Its events have it when they are read, until it is deleted.
  func putErasedName(_ sealed: [UInt8], of pseudonym: String, at instant: Instant) throws(StoreError)

  /// Deletes the sealed ids that were stored before or after `times`.
  ///
  /// - Returns: the number of deleted ids.
  func deleteErasedNames(outside times: ClosedRange<Instant>) throws(StoreError) -> Int64

  /// Calls `body` for every customer that any row names, at least once. Evidence without an environment names the
  /// customer in each.
  func forEachNamedCustomer(_ body: (CustomerKey) -> Void) throws(StoreError)
}

/// Finds what an erasure has to purge.
package protocol ErasureReader {
  /// Returns the ids of an app's rejected evidence whose body `isMatch` accepts. Reads all rejected evidence of the app.
  func rejectedEvidence(
    of appID: String, where isMatch: ([UInt8]) -> Bool
  ) throws(StoreError) -> [EvidenceID]

  /// Returns the pseudonym of the latest erasure of a customer; `nil` if there was none.
  func pseudonym(ofCustomerHash hash: String) throws(StoreError) -> String?

  /// Returns the customers that were merged into this one.
  func mergedCustomers(into customer: CustomerKey) throws(StoreError) -> [String]
}

package import AppStore
internal import Bytes

/// One call that looked at or changed a customer.
package struct AuditEntry: Hashable, Sendable {
  /// Identifies the entry; 0 before it is stored. Later entries have higher numbers.
  package var number: Int64
  /// When the call ended, by the system's clock.
  package let at: Instant
  /// The operator's name of the caller; empty if callers are not authenticated.
  package let caller: String
  /// The person or system for which the caller acted, as the request states it.
  package var actor: String
  /// `/package.Service/Method`.
  package let method: String
  /// The app that the request names; empty if it names none.
  package let appID: String
  /// The customers that the request names and those that the response shows.
  package var customerIDs: [String]
  /// The object that the request names instead of a customer, such as `evidence 12`; otherwise empty.
  package var subject: String
  /// The reason that the request states; otherwise empty.
  package var note: String
  /// The name of gRPC's status code, such as `OK`.
  package let outcome: String
  /// The id of the call in the logs, which the calls of one page of the console share.
  package let requestID: String
  /// The IP address of the peer; empty if it is not known.
  package let address: String
  /// The `as_of` of the request: the time of the state that it asks for; `nil`: the present.
  package let asOf: Instant?
  /// The `known_at` of the request: only what was recorded until then counts; `nil`: the present.
  package let knownAt: Instant?

  /// Creates an entry. A NUL in a text becomes U+FFFD: an entry has the request as it arrived, also one that is refused for
  /// a NUL.
  package init(
    number: Int64 = 0, at: Instant, caller: String, actor: String, method: String, appID: String,
    customerIDs: [String], subject: String, note: String, outcome: String, requestID: String,
    address: String, asOf: Instant? = nil, knownAt: Instant? = nil
  ) {
    self.number = number
    self.at = at
    self.caller = caller.replacingNUL()
    self.actor = actor.replacingNUL()
    self.method = method.replacingNUL()
    self.appID = appID.replacingNUL()
    self.customerIDs = customerIDs.map { $0.replacingNUL() }
    self.subject = subject.replacingNUL()
    self.note = note.replacingNUL()
    self.outcome = outcome.replacingNUL()
    self.requestID = requestID.replacingNUL()
    self.address = address.replacingNUL()
    self.asOf = asOf
    self.knownAt = knownAt
  }
}

/// Selects audit entries; a `nil` member matches all.
package struct AuditFilter: Hashable, Sendable {
  /// The operator's name for the app.
  package var appID: String?
  /// Only calls that name this customer, or whose response shows it.
  package var customerID: String?
  /// The caller, or the person or system for which it acted.
  package var actor: String?
  /// The name of the method, with or without its service.
  package var method: String?
  /// The name of a method whose calls are left out, without its service.
  package var exceptMethod: String?
  /// Inclusive.
  package var from: Instant?
  /// Exclusive.
  package var to: Instant?
  /// Only entries with a lower number.
  package var before: Int64?
  /// The maximum number of entries; at least 1.
  package var limit: Int

  package init(limit: Int) { self.limit = limit }
}

/// Stores audit entries.
package protocol AuditStore {
  /// Appends an entry under the next number; ``AuditEntry/number`` is not read.
  func append(_ entry: AuditEntry) throws(StoreError)

  /// Deletes at most `limit` entries from before `instant`, oldest first.
  ///
  /// - Returns: the number of deleted entries.
  func purgeAuditEntries(before instant: Instant, limit: Int) throws(StoreError) -> Int
}

/// Reads audit entries.
package protocol AuditReader {
  /// Returns the entries that match, latest first.
  func auditEntries(_ filter: AuditFilter) throws(StoreError) -> [AuditEntry]
}

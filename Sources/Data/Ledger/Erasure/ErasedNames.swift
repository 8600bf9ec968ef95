internal import AppStore
internal import Platform
internal import SignedData
package import Store

/// Seals the ids of erased customers, which the store keeps for a day.
///
/// Receivers of `CUSTOMER_ERASED` need the id to erase the customer, too, at each replica and after a takeover. A copy of
/// the store without the installation's key does not tell it. A receiver that does not get the event in time learns the id
/// from another call of `EraseCustomer`.
struct ErasedNames: Sendable {
  /// A day in milliseconds, for receivers that are not reachable at once.
  static let lifetime = Instant.millisecondsPerDay

  private let key: [UInt8]

  init(_ key: InstallationKey) { self.key = key.derived(for: "erased names") }

  /// Returns an id as it is stored. The time is sealed with it, so that a copy in memory expires too.
  func seal(_ customerID: String, at instant: Instant) -> [UInt8] {
    AES256GCM.seal(Array("\(instant.millisecondsSince1970) \(customerID)".utf8), key: key)
  }

  /// Returns the id that was sealed less than a day before `now`; `nil` if that was earlier, or with another key.
  func open(_ sealed: [UInt8], at now: Instant) -> String? {
    guard let content = AES256GCM.open(sealed[...], key: key) else { return nil }
    let parts = String(decoding: content, as: UTF8.self).split(separator: " ", maxSplits: 1)
    guard let sealedAt = parts.first.flatMap({ Int64($0) }), parts.count == 2,
      now < Instant(millisecondsSince1970: sealedAt).advanced(byMilliseconds: Self.lifetime)
    else { return nil }
    return String(parts[1])
  }
}

extension EvidenceLedger {
  /// The id of the erased customer of a `CUSTOMER_ERASED` event; `nil` for other events, and a day after the erasure.
  package func erasedCustomerID(of event: StoredEvent) -> String? {
    event.sealedName.flatMap { erasures.names.open($0, at: clocks.now(in: nil)) }
  }
}

/// Deletes the ids of erased customers after a day.
package struct ErasedNameWorker: Worker {
  package let name = "erased_names"
  /// An hour in milliseconds.
  private static let interval: Int64 = 3_600_000

  private let store: any EntitlementStore
  private let clocks: ServiceClocks

  package init(store: any EntitlementStore, clocks: ServiceClocks) {
    self.store = store
    self.clocks = clocks
  }

  /// Deletes them at once and then each hour until the task is cancelled.
  ///
  /// - Throws: the first ``StoreError``; the supervisor starts it again.
  package func run() async throws {
    repeat {
      try await deleteExpired()
    } while (try? await Task.sleep(for: .milliseconds(Self.interval))) != nil
  }

  /// Deletes the expired ids, also from what the store leaves behind.
  package func deleteExpired() async throws(StoreError) {
    let now = clocks.now(in: nil)
    let oldest = now.advanced(byMilliseconds: 1 - ErasedNames.lifetime)
    // Later ones are of a clock that was wrong, unless that of another replica is a little ahead.
    let times = oldest...now.advanced(byMilliseconds: Self.interval)
    let count = try await store.write { store throws(StoreError) in
      try store.deleteErasedNames(outside: times)
    }
    if count > 0 { await store.purgeRemnants() }
  }
}

extension String {
  /// An actor with another name for a customer who acts: for the id alone, or after the caller as in `CALLER/ID`, the form
  /// of evidence.
  func replacingActor(_ customerID: String, with name: String) -> String {
    let callerSize = utf8.count - customerID.utf8.count
    guard callerSize >= 0, !customerID.isEmpty,
      utf8.dropFirst(callerSize).elementsEqual(customerID.utf8)
    else { return self }
    let caller = utf8.prefix(callerSize)
    guard caller.isEmpty || caller.last == UInt8(ascii: "/") else { return self }
    return String(decoding: caller, as: UTF8.self) + name
  }

  /// An actor with the name at the same position of `names`, if one of the customers acts.
  package func replacingActors(_ customerIDs: [String], with names: [String]) -> String {
    zip(customerIDs, names).reduce(self) { $0.replacingActor($1.0, with: $1.1) }
  }
}

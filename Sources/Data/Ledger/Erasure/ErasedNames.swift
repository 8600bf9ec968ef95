internal import Entitlements
package import Store
internal import Synchronization

/// The ids of customers who were erased a short time ago, in memory only.
///
/// Receivers of `CUSTOMER_ERASED` need the id to erase the customer, too, and the store does not have it any more. A
/// receiver that does not get the event in time learns the id from another call of `EraseCustomer`.
package final class ErasedNames: Sendable {
  /// A day, for receivers that are not reachable at once.
  private static let lifetime = Duration.seconds(86_400)
  /// The number of ids at which all are forgotten, so that they need little memory.
  private static let capacity = 10_000

  /// An erased id, and how long it is replaced in new records.
  private struct Name {
    let customerID: String
    let until: ContinuousClock.Instant
  }

  private let names = Mutex<[String: Name]>([:])

  package init() {}

  /// Stores the ids of `customers` for a day.
  func insert(_ customers: [ErasedCustomer]) {
    let now = ContinuousClock.now
    names.withLock { names in
      names = names.filter { $0.value.until > now }
      if names.count >= Self.capacity { names = [:] }
      for customer in customers {
        names[customer.pseudonym] = Name(customerID: customer.customerID, until: now + Self.lifetime)
      }
    }
  }

  /// The id of the erased customer of a `CUSTOMER_ERASED` event; `nil` for other events, and after a day or a restart.
  package func customerID(of event: StoredEvent) -> String? {
    guard event.event.change.kind == .customerErased else { return nil }
    let pseudonym = event.event.customer.customerID
    return names.withLock { names in
      names[pseudonym].flatMap { $0.until > .now ? $0.customerID : nil }
    }
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

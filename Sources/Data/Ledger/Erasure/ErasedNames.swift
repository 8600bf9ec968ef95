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

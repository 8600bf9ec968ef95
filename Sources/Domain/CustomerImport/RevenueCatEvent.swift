package import AppStore
internal import Bytes
internal import JSON

/// An event of RevenueCat's webhooks ("Event Types and Fields").
package struct RevenueCatEvent: Hashable, Sendable {
  /// RevenueCat's id of the event; a repeated delivery has the same.
  package let id: String
  /// Such as `RENEWAL`; a type that this version does not know is kept as it is.
  package let type: String
  /// When it happened, by RevenueCat.
  package let occurredAt: Instant
  /// `app_user_id`, `original_app_user_id` and the aliases, each once; of a transfer, the customers who receive it.
  package let customerIDs: [String]
  /// The customers who lose the purchases of a transfer.
  package let formerCustomerIDs: [String]
  /// RevenueCat's names of the entitlements that the purchase grants.
  package let entitlements: [String]
  /// The end of the paid time; `nil`: it does not end, or the event does not say it.
  package let expiresAt: Instant?
  /// The end of the grace period; `nil` without one, or if the event does not say it.
  package let gracePeriodExpiresAt: Instant?
  /// In small letters, such as `app_store`; empty if the event has none.
  package let store: String
  /// The store's id of the purchase; Apple's original transaction id for the App Store.
  package let originalTransactionID: String
  /// The store's id of the latest transaction of the purchase; empty if the event has none.
  package let transactionID: String
  /// Whether the event is of a test environment of the store.
  package let isSandbox: Bool
  /// `cancel_reason` or `expiration_reason`; empty if the event has none.
  package let reason: String

  /// Parses the body of a webhook.
  ///
  /// - Throws: ``ImportError/malformed(_:)`` without an event with an id, a type and a time, or if the id, the type, the
  ///   name of an entitlement, the store or the purchase has a NUL, or is too long for an index of PostgreSQL.
  package init(_ body: [UInt8]) throws(ImportError) {
    let document: JSONValue
    do throws(JSONError) { document = try JSONValue(parsing: body) } catch {
      throw .malformed(error.description)
    }
    guard let event = document.objectValue?["event"]?.objectValue, let id = event["id"]?.stringValue,
      let type = event["type"]?.stringValue, let time = event["event_timestamp_ms"]?.int64Value
    else { throw .malformed("no event with id, type and event_timestamp_ms") }
    (self.id, self.type, occurredAt) = (id, type, Instant(millisecondsSince1970: time))
    let ids = [event["app_user_id"]?.stringValue, event["original_app_user_id"]?.stringValue]
    customerIDs = Self.unique(
      ids.compactMap { $0 } + Self.texts(event["aliases"]) + Self.texts(event["transferred_to"]))
    formerCustomerIDs = Self.unique(Self.texts(event["transferred_from"]))
    let single = event["entitlement_id"]?.stringValue
    entitlements = Self.unique(Self.texts(event["entitlement_ids"]) + [single].compactMap { $0 })
    expiresAt = Self.time(event["expiration_at_ms"])
    gracePeriodExpiresAt = Self.time(event["grace_period_expiration_at_ms"])
    store = event["store"]?.stringValue?.lowercased() ?? ""
    originalTransactionID = event["original_transaction_id"]?.stringValue ?? ""
    transactionID = event["transaction_id"]?.stringValue ?? ""
    isSandbox = event["environment"]?.stringValue == "SANDBOX"
    reason = event["cancel_reason"]?.stringValue ?? event["expiration_reason"]?.stringValue ?? ""
    let names = [
      ("id", id), ("type", type), ("store", store), ("original_transaction_id", originalTransactionID),
    ]
    for (name, text) in names + entitlements.map({ ("the name of an entitlement", $0) })
    where !Self.isStorable(text) {
      throw .malformed("\(name) has more than \(Self.maxBytes) bytes, or a NUL")
    }
  }

  /// The maximum length of a name or id in bytes, as everywhere in the contract.
  private static let maxBytes = 256

  fileprivate static func isStorable(_ text: String) -> Bool {
    text.utf8.count <= maxBytes && !text.utf8.contains(0)
  }

  private static func texts(_ value: JSONValue?) -> [String] {
    (value?.arrayValue ?? []).compactMap(\.stringValue)
  }

  private static func unique(_ texts: [String]) -> [String] {
    texts.filter { !$0.isEmpty }.distinctIDs
  }

  private static func time(_ value: JSONValue?) -> Instant? {
    value?.int64Value.map(Instant.init(millisecondsSince1970:))
  }
}

extension RevenueCatEvent {
  /// The event's statement about the access of its customers.
  package enum Access: Hashable, Sendable {
    /// Access until then; `nil`: without an end.
    case until(Instant?)
    /// Access ended then.
    case ended(Instant)
  }

  /// The types after which access lasts until ``expiresAt``, also of a cancelled or paused subscription. A `PRODUCT_CHANGE`
  /// announces a change and has the old product, so it states nothing: another event follows when the change takes effect.
  private static let confirming: Set<String> = [
    "INITIAL_PURCHASE", "RENEWAL", "UNCANCELLATION", "NON_RENEWING_PURCHASE", "SUBSCRIPTION_EXTENDED",
    "TEMPORARY_ENTITLEMENT_GRANT", "REFUND_REVERSED", "SUBSCRIPTION_PAUSED", "CANCELLATION",
  ]

  /// The access to ``entitlements``; `nil` for events that state none, such as `TEST`, `TRANSFER`, `PRODUCT_CHANGE`, unknown
  /// types, and a `CANCELLATION` because of a failed payment.
  package var access: Access? {
    guard !entitlements.isEmpty else { return nil }
    switch type {
    case "EXPIRATION": return .ended(min(expiresAt ?? occurredAt, occurredAt))
    // A refund ends access at once (RevenueCat, "Cancellation and expiration reasons").
    case "CANCELLATION" where reason == "CUSTOMER_SUPPORT":
      return .ended(min(expiresAt ?? occurredAt, occurredAt))
    // RevenueCat sends it with or after `BILLING_ISSUE`, which has the end of the grace period; `EXPIRATION` follows.
    case "CANCELLATION" where reason == "BILLING_ERROR": return gracePeriodExpiresAt.map { .until($0) }
    case "BILLING_ISSUE": return .until(gracePeriodExpiresAt ?? expiresAt)
    case _ where Self.confirming.contains(type): return .until(expiresAt)
    default: return nil
    }
  }
}

extension RevenueCatEvent {
  /// The customer of the event: the first id that is not anonymous, otherwise the first; `nil` if no id can be that of a
  /// customer here.
  package var customerID: String? { AccessStatements.id(of: customerIDs.filter(Self.isStorable)) }

  /// All ids of the event that can be ids of customers here, each once.
  package var allCustomerIDs: [String] {
    Self.unique(customerIDs + formerCustomerIDs).filter(Self.isStorable)
  }

  /// The purchase in its store, such as `app_store 2000000000000001`; `nil` if the event names none.
  package var purchase: String? {
    originalTransactionID.isEmpty ? nil : "\(store) \(originalTransactionID)"
  }
}

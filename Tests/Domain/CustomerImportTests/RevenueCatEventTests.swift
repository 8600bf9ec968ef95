import AppStore
import CustomerImport
import Testing

/// Longer than any name or id.
private let long = String(repeating: "x", count: 257)

/// Events of RevenueCat's webhooks.
@Suite struct RevenueCatEventTests {
  static func event(_ type: String, _ more: String = "") throws -> RevenueCatEvent {
    try RevenueCatEvent(
      Array(
        """
        {"api_version": "1.0", "event": {"id": "e1", "type": "\(type)", "event_timestamp_ms": 1000, \(more)
          "app_user_id": "ann", "original_app_user_id": "$RCAnonymousID:1", "aliases": ["ann", "b"],
          "entitlement_id": null, "entitlement_ids": ["pro"], "expiration_at_ms": 5000, "environment": "PRODUCTION",
          "store": "APP_STORE", "product_id": "pro.monthly", "original_transaction_id": "2000"}}
        """.utf8))
  }

  @Test("The members of an event are read")
  func members() throws {
    let event = try Self.event("RENEWAL")
    #expect(event.customerIDs == ["ann", "$RCAnonymousID:1", "b"] && event.entitlements == ["pro"])
    #expect(event.store == "app_store" && event.originalTransactionID == "2000" && !event.isSandbox)
    #expect(event.expiresAt == Instant(millisecondsSince1970: 5000))
  }

  @Test(
    "Each type states access as RevenueCat describes it",
    arguments: [
      ("INITIAL_PURCHASE", "", RevenueCatEvent.Access.until(Instant(millisecondsSince1970: 5000))),
      ("CANCELLATION", #""cancel_reason": "UNSUBSCRIBE","#, .until(Instant(millisecondsSince1970: 5000))),
      (
        "CANCELLATION", #""cancel_reason": "CUSTOMER_SUPPORT","#, .ended(Instant(millisecondsSince1970: 1000))
      ),
      ("CANCELLATION", #""cancel_reason": "BILLING_ERROR","#, nil),
      ("EXPIRATION", "", .ended(Instant(millisecondsSince1970: 1000))),
      (
        "BILLING_ISSUE", #""grace_period_expiration_at_ms": 9000,"#,
        .until(Instant(millisecondsSince1970: 9000))
      ),
      ("PRODUCT_CHANGE", "", nil), ("TRANSFER", "", nil), ("TEST", "", nil), ("BRAND_NEW", "", nil),
    ])
  func access(_ type: String, _ more: String, _ access: RevenueCatEvent.Access?) throws {
    #expect(try Self.event(type, more).access == access)
  }

  @Test("An id that no customer can have is left out")
  func customers() throws {
    let event = try Self.event("TRANSFER", #""transferred_to": ["", "\#(long)", "ann"],"#)
    #expect(event.allCustomerIDs == ["ann", "$RCAnonymousID:1", "b"])
  }

  @Test("An event is that of its first named customer, and of one purchase")
  func customerAndPurchase() throws {
    func event(_ aliases: String) throws -> RevenueCatEvent {
      try RevenueCatEvent(
        Array(
          #"{"event": {"id": "e", "type": "TEST", "event_timestamp_ms": 1, "aliases": [\#(aliases)]}}"#.utf8))
    }
    #expect(try Self.event("RENEWAL").purchase == "app_store 2000")
    #expect(try event(#""\#(long)", "a\u0000", "$RCAnonymousID:1", "b", "c""#).customerID == "b")
    #expect(try event(#""$RCAnonymousID:1""#).customerID == "$RCAnonymousID:1")
    #expect(try event(#""\#(long)""#).customerID == nil)
    #expect(try event("").customerID == nil && event("").purchase == nil)
  }

  @Test(
    "A body without an event, or with a name that cannot be stored, is refused",
    arguments: [
      "", "[]", "{}", #"{"event": {"id": "e"}}"#,
      #"{"event": {"id": "e", "type": "TEST", "event_timestamp_ms": 1, "entitlement_id": "a\u0000"}}"#,
      #"{"event": {"id": "e\u0000", "type": "TEST", "event_timestamp_ms": 1}}"#,
      #"{"event": {"id": "\#(long)", "type": "TEST", "event_timestamp_ms": 1}}"#,
      #"{"event": {"id": "e", "type": "\#(long)", "event_timestamp_ms": 1}}"#,
      #"{"event": {"id": "e", "type": "TEST", "event_timestamp_ms": 1, "store": "\#(long)"}}"#,
      #"{"event": {"id": "e", "type": "TEST", "event_timestamp_ms": 1, "original_transaction_id": "1\u0000"}}"#,
      #"{"event": {"id": "e", "type": "TEST", "event_timestamp_ms": 1, "entitlement_ids": ["a", "\#(long)"]}}"#,
    ])
  func malformed(_ body: String) {
    #expect(throws: ImportError.self) { try RevenueCatEvent(Array(body.utf8)) }
  }
}

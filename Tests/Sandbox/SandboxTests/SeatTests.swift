import AppStore
import JSON
import Testing

@testable import Sandbox

/// The seats of Group Purchases and Volume Purchasing.
@Suite struct SeatTests {
  private var demo = DemoWorld()

  @discardableResult
  private mutating func buy(_ seats: Int64, _ product: String = "monthly", account: String = "boss") throws
    -> JSONValue
  {
    let order: JSONObject = [
      "productId": .string(product), "account": .string(account), "seats": JSONValue(seats),
    ]
    return .string(String(try #require(try demo.act(.purchases, order).transactions.first)))
  }

  private mutating func assign(_ names: [String], _ id: JSONValue) throws {
    for name in names { try demo.act(.assignSeat, ["transactionId": id, "account": .string(name)]) }
  }

  /// Returns the decoded payloads of an account's transactions.
  private func payloads(_ account: String = "boss") throws -> [JWSTransactionDecodedPayload] {
    try demo.world.purchases(of: account, in: "demo").map {
      try JWSTransactionDecodedPayload(json: demo.world.payload(of: $0, signed: demo.world.now))
    }
  }

  private func renewal() throws -> JWSRenewalInfoDecodedPayload {
    try JWSRenewalInfoDecodedPayload(json: demo.world.payload(of: demo.line("boss"), signed: demo.world.now))
  }

  // Apple: additionalTransactionReason; the value is from StoreKit, Transaction.AdditionalTransactionReason.
  @Test("Added seats are a parallel transaction until the next renewal")
  mutating func additions() throws {
    let id = try buy(2)
    demo.pass(days: 10)
    try demo.act(.seats, ["transactionId": id, "seats": 5])
    let period = try payloads()
    #expect(period.map(\.quantity) == [2, 3])
    #expect(period.map(\.additionalTransactionReason) == [.seatAddition, .seatAddition])
    #expect(period[0].expiresDate == period[1].expiresDate)
    #expect(period[0].originalTransactionId == period[1].originalTransactionId)
    #expect(period[0].webOrderLineItemId != period[1].webOrderLineItemId)
    #expect(period.allSatisfy { $0.isUpgraded == nil && $0.transactionReason == .purchase })
    #expect(
      demo.notifications("boss") == ["SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF/INCREASE_QUANTITY"])
    #expect(demo.world.notifications.last?.transaction?.quantity == 3)
    #expect(try renewal().renewalQuantity == 5)
    demo.pass(days: 21)
    let renewed = try #require(try payloads().last)
    #expect(renewed.quantity == 5 && renewed.additionalTransactionReason == nil)
    #expect(try payloads().count == 3)
  }

  // StoreKit: Product.PurchaseOption.seats, Product.PurchaseError.seatReductionNotAllowed.
  @Test("A purchase names the new total of seats and cannot reduce it")
  mutating func purchases() throws {
    let first = try buy(2)
    let added = try buy(4)
    #expect(added != first)
    #expect(try payloads().map(\.quantity) == [2, 2])
    #expect(throws: ActionError.self) { try buy(3) }
    // An upgrade keeps the seats.
    try demo.buy("gold", "boss")
    let upgraded = try payloads()
    #expect(upgraded.map(\.quantity) == [2, 2, 4])
    #expect(upgraded.map(\.isUpgraded) == [true, true, nil])
    for seats in [0, -1, 10_001] as [Int64] {
      #expect(throws: ActionError.self) { try buy(seats, account: "other") }
    }
    #expect(throws: ActionError.notASubscription("unlock")) { try buy(2, "unlock", account: "other") }
  }

  // Apple: renewalQuantity.
  @Test("Fewer seats take effect at the renewal; undoing it sells nothing")
  mutating func reductions() throws {
    let id = try buy(4)
    for seats in [2, 3, 4, 3] as [Int64] {
      try demo.act(.seats, ["transactionId": id, "seats": JSONValue(seats)])
    }
    #expect(
      demo.notifications("boss", since: 1) == [
        "DID_CHANGE_RENEWAL_PREF/DECREASE_QUANTITY", "DID_CHANGE_RENEWAL_PREF/INCREASE_QUANTITY",
        "DID_CHANGE_RENEWAL_PREF/INCREASE_QUANTITY", "DID_CHANGE_RENEWAL_PREF/DECREASE_QUANTITY",
      ])
    #expect(try payloads().map(\.quantity) == [4])
    #expect(try renewal().renewalQuantity == 3)
    demo.pass(days: 31)
    #expect(try payloads().map(\.quantity) == [4, 3])
  }

  // WWDC26-391: 50 seats at 19.99, from the 21st at 13.99 and from the 41st at 10.99 cost 789.50, 15.79 on average.
  @Test("Price bands are graduated, and the price of a transaction is the average of its seats")
  mutating func volumePricing() throws {
    try demo.act(.price, ["productId": "monthly", "price": 19990])
    try demo.act(.volumePricing, ["productId": "monthly", "bands": "20:13990,40:10990"])
    let id = try buy(50)
    let bought = try #require(try payloads().first)
    #expect(bought.price == 15790)
    #expect(bought.multiSeatInfo?.priceTiers?.map(\.tierPrice) == [19990, 13990, 10990])
    #expect(bought.multiSeatInfo?.priceTiers?.map(\.tierQuantity) == [20, 20, 10])
    try demo.act(.seats, ["transactionId": id, "seats": 52])
    let added = try #require(try payloads().last)
    #expect(added.price == 10990)
    #expect(added.multiSeatInfo?.priceTiers?.map(\.tierQuantity) == [2])
    let next = try renewal()
    #expect(next.multiSeatInfo?.renewalPriceTiers?.map(\.tierQuantity) == [20, 20, 12])
    // 811.48 for 52 seats.
    #expect(next.renewalPrice == 15605)
    for bands in ["20", "20:1,10:1", "a:1", "1:1,2:1,3:1,4:1,5:1", "0:5"] {
      #expect(throws: ActionError.self) {
        try demo.act(.volumePricing, ["productId": "monthly", "bands": .string(bands)])
      }
    }
  }

  // Apple: revokedSeatQuantity; StoreKit: Transaction.MultiSeatInfo.revokedSeatQuantity.
  @Test("A refund of seats revokes a transaction only when all its seats are refunded")
  mutating func seatRefunds() throws {
    let id = try buy(2)
    try demo.act(.seats, ["transactionId": id, "seats": 5])
    try assign(["ann", "ben"], id)
    let sent = demo.world.notifications.count
    try demo.act(.refundSeats, ["transactionId": id, "seats": 4])
    let period = try payloads()
    #expect(period.map { $0.multiSeatInfo?.revokedSeatQuantity } == [1, 3])
    #expect(period.map { $0.revocationDate != nil } == [false, true])
    #expect(period.map(\.quantity) == [2, 3])
    #expect(demo.notifications("boss", since: sent) == ["REFUND/SEATS", "REFUND/SEATS"])
    #expect(try demo.line("boss").status == .active)
    // One seat is left, for the first member.
    #expect(demo.notifications("ann", since: sent).isEmpty)
    #expect(demo.notifications("ben", since: sent) == ["REVOKE"])
    #expect(throws: ActionError.self) { try demo.act(.refundSeats, ["transactionId": id, "seats": 1]) }
    try demo.act(.reverseRefund, ["transactionId": id])
    #expect(try payloads().map { $0.multiSeatInfo?.revokedSeatQuantity } == [nil, 3])
  }

  @Test("A refund of a transaction includes the seats that were refunded before")
  mutating func refundAfterSeats() throws {
    let id = try buy(3)
    try demo.act(.refundSeats, ["transactionId": id, "seats": 1])
    try demo.act(.refund, ["transactionId": id])
    let refunded = try #require(try payloads().first)
    #expect(refunded.multiSeatInfo?.revokedSeatQuantity == 3 && refunded.revocationDate != nil)
    #expect(try demo.line("boss").status == .revoked)
  }

  // Apple: revokedSeatQuantity, "only when every transaction in the period contains revocation fields".
  @Test("The purchaser has access until all transactions of the period are refunded")
  mutating func refunds() throws {
    let id = try buy(2)
    let added = try demo.act(.seats, ["transactionId": id, "seats": 3]).transactions.first
    try assign(["ann", "ben"], id)
    try demo.act(.refund, ["transactionId": id])
    #expect(try demo.line("boss").status == .active)
    #expect(
      demo.notifications("ann").last == "SUBSCRIBED/INITIAL_BUY" && demo.notifications("ben").last == "REVOKE"
    )
    let addition = JSONValue.string(String(try #require(added)))
    try demo.act(.refund, ["transactionId": addition, "reason": "APP_ISSUE"])
    #expect(try demo.line("boss").status == .revoked)
    #expect(demo.notifications("ann").last == "REVOKE")
    try demo.act(.reverseRefund, ["transactionId": addition])
    #expect(try demo.line("boss").status == .active)
    let latest = demo.world.latestTransaction(of: try demo.line("boss"))
    #expect(latest?.id == added)
  }

  // Apple: invitationManagement; StoreKit: Transaction.multiSeatInfo, purchasedQuantity, RevocationType.
  @Test("A member's transaction is assigned, with the seats of the purchaser's, and is revoked with the seat")
  mutating func members() throws {
    let id = try buy(3)
    try demo.act(.refundSeats, ["transactionId": id, "seats": 1])
    try assign(["ann", "ben"], id)
    let own = try #require(try payloads("ann").first)
    #expect(own.inAppOwnershipType == .assigned && own.quantity == 3 && own.appAccountToken == nil)
    #expect(own.multiSeatInfo?.invitationManagement == .apple)
    #expect(own.multiSeatInfo?.priceTiers?.map(\.tierQuantity) == [3])
    #expect(own.multiSeatInfo?.revokedSeatQuantity == nil)
    #expect(throws: ActionError.self) { try assign(["cem"], id) }
    let sent = demo.world.notifications.count
    try demo.act(.unclaimSeat, ["transactionId": id, "account": "ann"])
    let revoked = try #require(try payloads("ann").first)
    #expect(revoked.revocationType == .assignmentRevoke && revoked.revocationReason == .other)
    #expect(demo.notifications("ann", since: sent) == ["REVOKE"])
    // UNCLAIM_SEATS applies to invitations by the developer only (Apple: unclaimInfo).
    #expect(demo.notifications("boss", since: sent).isEmpty)
    try assign(["ann"], id)
    #expect(demo.notifications("ann", since: sent) == ["REVOKE", "SUBSCRIBED/RESUBSCRIBE"])
  }

  @Test("A member without a seat in the next period keeps the paid one and then expires")
  mutating func fewerSeats() throws {
    demo.world.timing = RenewalTiming()
    let id = try buy(2)
    try assign(["ann", "ben"], id)
    try demo.act(.seats, ["transactionId": id, "seats": 1])
    let end = try demo.line("boss").expiresDate
    // The renewal is charged before the period ends.
    demo.world.advance(to: end.advanced(byMilliseconds: -1))
    #expect(demo.notifications("boss").last == "DID_RENEW")
    #expect(demo.world.subscriptions(of: "ben", in: "demo").first?.status == .active)
    demo.world.advance(to: end)
    #expect(demo.notifications("ann") == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW"])
    #expect(demo.notifications("ben") == ["SUBSCRIBED/INITIAL_BUY", "EXPIRED/VOLUNTARY"])
    #expect(demo.world.subscriptions(of: "ben", in: "demo").first?.isEntitling == false)
    try demo.act(.seats, ["transactionId": id, "seats": 2])
    try assign(["ben"], id)
    #expect(demo.world.subscriptions(of: "ben", in: "demo").first?.isEntitling == true)
  }

  // Apple: invitationManagement, "existing active subscriptions keep the value they have".
  @Test("A change of the invitation management applies to new purchases only")
  mutating func invitations() throws {
    let id = try buy(2)
    try demo.act(.invitations, ["productId": "monthly", "management": "DEVELOPER"])
    try demo.act(.seats, ["transactionId": id, "seats": 3])
    try assign(["ann"], id)
    #expect(try payloads().map { $0.multiSeatInfo?.invitationManagement } == [.apple, .apple])
    _ = try buy(2, account: "other")
    #expect(try payloads("other").first?.multiSeatInfo?.invitationManagement == .developer)
  }

  // Apple: "With Family Sharing on, only the purchaser's own seat is shared" (App Store Connect Help).
  @Test("The purchaser's family shares one seat, and the members' families none")
  mutating func families() throws {
    try demo.act(.shareable, ["productId": "monthly"])
    let pairs: [(JSONValue, JSONValue)] = [("boss", "b"), ("wife", "b"), ("ann", "a"), ("kid", "a")]
    for (name, family) in pairs { try demo.act(.joinFamily, ["account": name, "family": family]) }
    let id = try buy(2)
    try assign(["ann", "ben"], id)
    let shared = try #require(try payloads("wife").first)
    #expect(shared.inAppOwnershipType == .familyShared)
    #expect(shared.quantity == 1 && shared.multiSeatInfo == nil)
    #expect(try payloads("kid").isEmpty)
    // Turning Family Sharing off does not concern the seats.
    try demo.act(.stopSharing, ["transactionId": id])
    #expect(
      demo.notifications("wife").last == "REVOKE"
        && demo.notifications("ann").last == "SUBSCRIBED/INITIAL_BUY")
  }

  @Test("An extension moves the end of all transactions of the period")
  mutating func extensions() throws {
    let id = try buy(2)
    try demo.act(.seats, ["transactionId": id, "seats": 3])
    try demo.act(.extend, ["transactionId": id, "days": 7])
    #expect(Set(try payloads().map(\.expiresDate)) == [try demo.line("boss").expiresDate])
  }

  @Test("Seats cannot be combined with a commitment")
  mutating func commitments() throws {
    try demo.act(.storefront, ["account": "boss", "storefront": "DEU"])
    let order: JSONObject = [
      "productId": "yearly", "account": "boss", "billingPlanType": "MONTHLY", "seats": 2,
    ]
    #expect(throws: World.noSeatsInCommitments) { try demo.act(.purchases, order) }
    let id = JSONValue.string(String(try demo.buy("yearly", "boss", plan: .monthly)))
    #expect(throws: World.noSeatsInCommitments) { try demo.act(.seats, ["transactionId": id, "seats": 2]) }
  }

  @Test("Advanced Commerce revokes a number of seats")
  mutating func advancedCommerce() throws {
    let id = try buy(3)
    try demo.act(.advancedCommerce, ["transactionId": id, "request": "revoke", "seats": 2])
    #expect(try demo.line("boss").status == .active)
    #expect(try payloads().first?.multiSeatInfo?.revokedSeatQuantity == 2)
  }
}

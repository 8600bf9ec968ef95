import AppStore
import JSON
import Testing

@testable import Sandbox

/// The behaviours of seats and Family Sharing that Apple's documentation leaves open.
@Suite struct SharingRulesTests {
  private var demo = DemoWorld()

  /// Buys seats for `boss` and assigns them.
  private mutating func buy(_ seats: Int64, for members: [String] = []) throws -> JSONValue {
    let order: JSONObject = ["productId": "monthly", "account": "boss", "seats": JSONValue(seats)]
    let id = JSONValue.string(String(try #require(try demo.act(.purchases, order).transactions.first)))
    for name in members { try demo.act(.assignSeat, ["transactionId": id, "account": .string(name)]) }
    return id
  }

  private func payloads(_ account: String) throws -> [JWSTransactionDecodedPayload] {
    try demo.world.purchases(of: account, in: "demo").map {
      try JWSTransactionDecodedPayload(json: demo.world.payload(of: $0, signed: demo.world.now))
    }
  }

  // January has 31 days, and 9.3 of them are left of 4990: 1497.
  @Test("Added seats cost the whole period, or with PRORATED the rest of it")
  mutating func addedSeats() throws {
    let id = try buy(2)
    demo.pass(seconds: 1_874_880)
    try demo.act(.seats, ["transactionId": id, "seats": 3])
    try demo.act(.sharingRules, ["addedSeats": "PRORATED"])
    try demo.act(.seats, ["transactionId": id, "seats": 4])
    #expect(try payloads("boss").map(\.price) == [4990, 4990, 1497])
    #expect(try payloads("boss").last?.multiSeatInfo?.priceTiers?.map(\.tierPrice) == [1497])
    // The renewal has the whole price.
    demo.pass(days: 31)
    #expect(try payloads("boss").last?.price == 4990)
  }

  @Test("With purchaserNeedsSeat one seat fewer can be assigned, and a refund revokes one more member")
  mutating func purchaserNeedsSeat() throws {
    try demo.act(.sharingRules, ["purchaserNeedsSeat": true])
    let id = try buy(3, for: ["ann", "ben"])
    #expect(throws: ActionError.self) {
      try demo.act(.assignSeat, ["transactionId": id, "account": "cem"])
    }
    try demo.act(.refundSeats, ["transactionId": id, "seats": 1])
    #expect(demo.notifications("ann").last == "SUBSCRIBED/INITIAL_BUY")
    #expect(demo.notifications("ben").last == "REVOKE")
  }

  @Test("With purchaserNeedsSeat an organization can assign all of its seats")
  mutating func organization() throws {
    try demo.act(.sharingRules, ["purchaserNeedsSeat": true])
    let order: JSONObject = ["productId": "monthly", "account": "boss", "seats": 1, "organization": true]
    let id = try #require(try demo.act(.purchases, order).transactions.first)
    try demo.act(.assignSeat, ["transactionId": .string(String(id)), "account": "ann"])
    #expect(demo.notifications("ann") == ["SUBSCRIBED/INITIAL_BUY"])
  }

  @Test(
    "A seat that is taken back has the revocationType that is set",
    arguments: ["ASSIGNMENT_REVOKE", "ASSIGNMENT_REVOCATION", "FAMILY_REVOKE"])
  mutating func seatRevocation(_ word: String) throws {
    try demo.act(.sharingRules, ["seatRevocation": .string(word)])
    let id = try buy(1, for: ["ann"])
    try demo.act(.unclaimSeat, ["transactionId": id, "account": "ann"])
    #expect(try payloads("ann").first?.revocationType?.rawValue == word)
  }

  @Test("An upgrade gives seat holders new transactions; with ALL the old ones are revoked, too")
  mutating func upgradeOfSeats() throws {
    for rule in ["UNCOVERED", "NONE", "ALL"] as [JSONValue] {
      demo = DemoWorld()
      try demo.act(.sharingRules, ["revokedByUpgrade": rule])
      _ = try buy(2, for: ["ann"])
      demo.pass(days: 3)
      try demo.buy("gold", "boss")
      let upgraded = try payloads("ann")
      #expect(upgraded.map(\.isUpgraded) == [true, nil])
      #expect(upgraded.map { $0.revocationDate != nil } == [rule == "ALL", false])
      #expect(
        demo.notifications("ann", since: 3)
          == (rule == "ALL" ? ["REVOKE"] : []) + ["DID_CHANGE_RENEWAL_PREF/UPGRADE"])
    }
  }

  @Test(
    "An upgrade to a product that is not shareable revokes the members' transactions, or with NONE ends them")
  mutating func upgradeOfSharedProduct() throws {
    for rule in ["UNCOVERED", "NONE", "ALL"] as [JSONValue] {
      demo = DemoWorld()
      try demo.act(.sharingRules, ["revokedByUpgrade": rule])
      try demo.act(.shareable, ["productId": "monthly"])
      for account in ["boss", "wife"] as [JSONValue] {
        try demo.act(.joinFamily, ["account": account, "family": "f"])
      }
      try demo.buy("monthly", "boss")
      demo.pass(days: 3)
      try demo.buy("gold", "boss")
      let shared = try #require(try payloads("wife").first)
      #expect((shared.revocationDate == nil) == (rule == "NONE"))
      #expect(shared.isUpgraded == (rule == "NONE" ? true : nil))
      #expect(demo.notifications("wife").last == (rule == "NONE" ? "EXPIRED/VOLUNTARY" : "REVOKE"))
      #expect(demo.world.subscriptions(of: "wife", in: "demo").first?.isEntitling == false)
    }
  }

  @Test("Absent members keep their value, and unknown values are rejected")
  mutating func members() throws {
    try demo.act(.sharingRules, ["addedSeats": "PRORATED", "purchaserNeedsSeat": true])
    try demo.act(.sharingRules, ["seatRevocation": "FAMILY_REVOKE"])
    let rules = demo.world.sharingRules(of: "demo")
    #expect(rules.addedSeats == .prorated && rules.purchaserNeedsSeat)
    #expect(rules.seatRevocation == .familyRevoke && rules.revokedByUpgrade == .uncoveredMembers)
    for member in ["addedSeats", "seatRevocation", "revokedByUpgrade", "other"] {
      #expect(throws: ActionError.self) { try demo.act(.sharingRules, JSONObject([(member, "MAYBE")])) }
    }
  }
}

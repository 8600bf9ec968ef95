import AppStore
import Entitlements
import FamilySharing
import TestSupport
import Testing

/// Probable family members and their confidence.
@Suite struct ProbableFamilyTests {
  private static func candidate(_ id: String, _ transactions: TransactionFact...) -> FamilyCandidate {
    FamilyCandidate(customerID: id, facts: CustomerFacts(transactions: transactions))
  }

  private static func inGermany(_ fact: TransactionFact, _ account: String) -> TransactionFact {
    fact.with {
      $0.details.storefront = "DEU"
      $0.details.appTransactionID = account
    }
  }

  private let member = CustomerFacts(transactions: [
    Self.inGermany(period(0...30, line: "M", .familyShared), "m"),
    Self.inGermany(period(30...60, line: "M", .familyShared), "m"),
  ])

  @Test("A purchaser with equal dates and storefront is a probable family member")
  func purchaser() {
    let bought = Self.candidate(
      "anna", Self.inGermany(period(0...30, line: "A"), "a"), Self.inGermany(period(30...60, line: "A"), "a"))
    let family = probableFamily(of: member, among: [bought])
    #expect(family.map(\.customerID) == ["anna"])
    #expect(family[0].originalTransactionID == "A")
    #expect(family[0].ownership == .purchased)
    #expect(family[0].confidence > 0.8 && family[0].confidence < 1)
    #expect(
      family[0].grounds == [
        "2 periods of monthly end at the same time.",
        "One customer has it as FAMILY_SHARED, the other as PURCHASED.",
        "The latest one also starts at the same time.", "Both use the storefront DEU.",
      ])
  }

  @Test("Two own purchases with equal dates are not a family")
  func strangers() {
    let own = CustomerFacts(transactions: [period(0...30, line: "A")])
    #expect(probableFamily(of: own, among: [Self.candidate("ben", period(0...30, line: "B"))]).isEmpty)
  }

  @Test("Two customers of one Apple account are not a family")
  func sameAccount() {
    let other = Self.candidate("ben", Self.inGermany(period(0...30, line: "A"), "m"))
    #expect(probableFamily(of: member, among: [other]).isEmpty)
  }

  @Test("Other dates, other products and seats do not match")
  func nothingInCommon() {
    let others = [
      Self.candidate("a", period(1...31, line: "A")), Self.candidate("b", lifetime(on: 0, line: "B")),
      Self.candidate("c", period(0...30, line: "C", .assigned)), Self.candidate("d"),
    ]
    #expect(probableFamily(of: member, among: others).isEmpty)
  }

  @Test("A different storefront lowers the confidence")
  func otherCountry() throws {
    let abroad = Self.candidate("a", period(30...60, line: "A").with { $0.details.storefront = "FRA" })
    let found = try #require(probableFamily(of: member, among: [abroad]).first)
    #expect(found.confidence < 0.5)
    #expect(found.grounds.last == "The storefronts differ: DEU and FRA.")
  }

  @Test("Two possible purchasers halve the confidence; other members do not")
  func rivals() throws {
    let one = probableFamily(of: member, among: [Self.candidate("a", period(30...60, line: "A"))])
    let three = probableFamily(
      of: member,
      among: [
        Self.candidate("a", period(30...60, line: "A")), Self.candidate("b", period(30...60, line: "B")),
        Self.candidate("c", period(30...60, line: "C", .familyShared)),
      ])
    #expect(three.map(\.customerID) == ["c", "a", "b"])
    #expect(try #require(three.last).confidence == #require(one.first).confidence / 2)
  }

  @Test("More than five matches lower the confidence of each")
  func tooMany() throws {
    let crowd = (0..<10).map { Self.candidate("m\($0)", period(30...60, line: "L\($0)", .familyShared)) }
    let few = try #require(probableFamily(of: member, among: Array(crowd.prefix(5))).first)
    let many = try #require(probableFamily(of: member, among: crowd).first)
    #expect(many.confidence == few.confidence / 2)
  }

  @Test("Non-consumables are compared by purchase date")
  func nonConsumable() throws {
    let mine = CustomerFacts(transactions: [lifetime(on: 3, line: "M", .familyShared)])
    let found = try #require(
      probableFamily(of: mine, among: [Self.candidate("a", lifetime(on: 3, line: "A"))]).first)
    #expect(found.grounds.first == "One period of lifetime starts at the same time.")
  }
}

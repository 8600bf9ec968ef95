import AppStore
import Entitlements
import FamilySharing
import TestSupport
import Testing

/// Who has a purchase, what may be said to them, and what Apple is not asked about them.
@Suite struct PurchaseRoleTests {
  static let roles: [(InAppOwnershipType, PurchaseRole)] = [
    (.purchased, .purchaser), (.familyShared, .familyMember), (.assigned, .seat),
    (.unrecognized("LENT"), .unrecognized("LENT")),
  ]

  @Test("Apple's ownership type says what the holder is", arguments: roles)
  func role(ownership: InAppOwnershipType, role: PurchaseRole) {
    #expect(PurchaseRole(of: period(0...30, line: "L", ownership)) == role)
  }

  @Test("Only who pays is told of billing, prices, cancellation and offers to stay", arguments: roles)
  func told(ownership: InAppOwnershipType, role: PurchaseRole) {
    let pays = ownership != .familyShared && ownership != .assigned
    for topic in PurchaseRole.Topic.allCases {
      #expect(role.mayReceive(topic) == (pays || topic == .access))
    }
  }

  @Test("What is advised agrees with what may be said", arguments: roles)
  func advice(ownership: InAppOwnershipType, role: PurchaseRole) {
    let failed = RenewalFact(
      originalTransactionID: "L", productID: "monthly", isInBillingRetry: true, signedDate: at(30))
    let facts = CustomerFacts(transactions: [period(0...30, line: "L", ownership)], renewals: [failed])
    let advice = evaluate(facts, entitlement: "pro", in: app, at: at(31)).advice(in: app)
    #expect(advice.isEmpty == !role.mayReceive(.billing))
  }

  @Test("Calls about those who do not pay are refused with Apple's error before they are made")
  func refused() {
    let shared = period(0...30, line: "L", .familyShared)
    #expect(DisallowedCall(.extendRenewalDate, about: shared)?.appleCode == 4_030_007)
    #expect(DisallowedCall(.sendConsumptionInformation, about: shared)?.appleCode == 4_000_185)
    let seat = period(0...30, line: "L", .assigned)
    #expect(DisallowedCall(.sendConsumptionInformation, about: seat)?.appleCode == 4_000_185)
    #expect(
      DisallowedCall(.extendRenewalDate, about: seat).map(String.init(describing:))
        == "the transaction is an assigned seat, and Apple extends only purchases: "
        + "AssignedSubscriptionExtensionIneligibleError")
    for call in DisallowedCall.Call.allCases {
      #expect(DisallowedCall(call, about: period(0...30, line: "L")) == nil)
    }
  }

  @Test("A revocation names what it takes, and only some seats take no access")
  func revocations() {
    let team = period(0...30, line: "L").with { $0.quantity = 5 }
    #expect(Revocation(of: team) == nil)
    #expect(Revocation(of: team.revoked(on: 9)) == .refund(at: at(9)))
    #expect(Revocation(of: team.with { $0.revokedSeatQuantity = 2 }) == .someSeats(2))
    #expect(Revocation(of: team.with { $0.revokedSeatQuantity = 2 })?.endOfAccess == nil)
    let shared = period(0...30, line: "L", .familyShared).revoked(on: 9)
    #expect(Revocation(of: shared) == .sharingEnded(at: at(9)))
    #expect(Revocation(of: period(0...30, line: "L", .assigned).revoked(on: 9)) == .seatRevoked(at: at(9)))
    #expect(Revocation(of: shared)?.endOfAccess == at(9))
  }

  @Test("What others shared does not use up a member's own introductory offer")
  func eligibility() {
    for ownership in [InAppOwnershipType.familyShared, .assigned] {
      let shared = period(0...30, line: "L", ownership).with { $0.offerType = .introductory }
      #expect(
        OfferEligibility.introductory(CustomerFacts(transactions: [shared]), group: "pro", in: app)
          == .eligible)
      #expect(OfferEligibility.promotional(CustomerFacts(transactions: [shared])) == .neverSubscribed)
    }
  }
}

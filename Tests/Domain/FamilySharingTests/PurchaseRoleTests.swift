import AppStore
import Entitlements
import FamilySharing
import TestSupport
import Testing

/// Purchase roles and disallowed calls.
@Suite struct PurchaseRoleTests {
  static let roles: [(InAppOwnershipType, PurchaseRole)] = [
    (.purchased, .purchaser), (.familyShared, .familyMember), (.assigned, .seat),
    (.unrecognized("LENT"), .unrecognized("LENT")),
  ]

  @Test("The ownership type determines the purchase role", arguments: roles)
  func role(ownership: InAppOwnershipType, role: PurchaseRole) {
    #expect(PurchaseRole(of: period(0...30, line: "L", ownership)) == role)
  }

  @Test("Only the purchaser may receive billing, price, cancellation and retention topics", arguments: roles)
  func payers(ownership: InAppOwnershipType, role: PurchaseRole) {
    #expect(role.isPayer == (ownership != .familyShared && ownership != .assigned))
  }

  @Test("Only a role that pays has advice about billing", arguments: roles)
  func advice(ownership: InAppOwnershipType, role: PurchaseRole) {
    let failed = RenewalFact(
      originalTransactionID: "L", productID: "monthly", isInBillingRetry: true, signedDate: at(30))
    let facts = CustomerFacts(transactions: [period(0...30, line: "L", ownership)], renewals: [failed])
    let advice = evaluate(facts, entitlement: "pro", in: app, at: at(31)).advice(in: app)
    #expect(advice.isEmpty == !role.isPayer)
  }

  @Test("Calls about transactions of family members and seats are rejected with Apple's error")
  func refused() {
    let shared = period(0...30, line: "L", .familyShared)
    #expect(DisallowedCall(.extendRenewalDate, about: shared)?.appleCode.rawValue == 4_030_007)
    #expect(DisallowedCall(.sendConsumptionInformation, about: shared)?.appleCode.rawValue == 4_000_185)
    let seat = period(0...30, line: "L", .assigned)
    #expect(DisallowedCall(.sendConsumptionInformation, about: seat)?.appleCode.rawValue == 4_000_227)
    #expect(
      DisallowedCall(.extendRenewalDate, about: seat).map(String.init(describing:))
        == "the transaction is an assigned seat; Apple extends own purchases only: "
        + "AssignedSubscriptionExtensionIneligibleError (4030028)")
    for call in DisallowedCall.Call.allCases {
      #expect(DisallowedCall(call, about: period(0...30, line: "L")) == nil)
    }
  }

  @Test("A shared purchase does not use the member's introductory offer")
  func eligibility() {
    for ownership in [InAppOwnershipType.familyShared, .assigned] {
      let shared = period(0...30, line: "L", ownership).with { $0.offerType = .introductory }
      #expect(
        OfferEligibility.introductory(
          CustomerFacts(transactions: [shared]), group: "pro", in: app, at: at(5))
          == .eligible)
      #expect(
        OfferEligibility.promotional(CustomerFacts(transactions: [shared]), in: app) == .neverSubscribed)
    }
  }
}

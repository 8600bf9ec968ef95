import AppStore
import Entitlements
import TestSupport
import Testing

/// A renewal that was charged on day 29, and revoked twelve hours before its period starts on day 30.
@Suite struct WithdrawnRenewalTests {
  private static let app = AppDefinition(
    id: "ocean", identity: EntitlementsTests.app.identity, environments: [.sandbox],
    products: Array(EntitlementsTests.app.products.values), renewalPolicy: .standard)

  private static let left = at(29, hours: 12)

  /// The current period of a member of a family, and the next one; those in `revoked` are no longer shared.
  private func member(_ revoked: Set<String>) -> [TransactionFact] {
    [period(0...30, id: "current"), charged].map { fact in
      fact.with {
        $0.ownership = .familyShared
        guard revoked.contains(fact.transactionID) else { return }
        ($0.revocationDate, $0.signedDate) = (Self.left, Self.left)
        $0.revocationType = .familyRevoke
      }
    }
  }

  private var charged: TransactionFact {
    period(30...60, id: "charged").with {
      $0.signedDate = at(29, hours: 2)
      $0.details.transactionReason = .renewal
    }
  }

  private func status(_ transactions: [TransactionFact], on day: Int64, hours: Int64 = 0) -> EntitlementStatus
  {
    let infos = [(Int64(1), Int64(30)), (29, 60)].map { signed, end in
      renewal(signed: signed) {
        $0.autoRenewStatus = .on
        $0.renewalDate = at(end)
      }
    }
    return evaluate(
      CustomerFacts(transactions: transactions, renewals: infos), entitlement: "pro", in: Self.app,
      at: at(day, hours: hours))
  }

  @Test("A member who leaves between charge and start has access to neither period any more")
  func leaves() {
    let facts = member(["current", "charged"])
    #expect(status(facts, on: 29, hours: 11).isEntitled)
    for (day, hours) in [(29, 12), (29, 13), (30, 0), (31, 0), (59, 0), (60, 0), (90, 0)] as [(Int64, Int64)]
    {
      let answer = status(facts, on: day, hours: hours)
      #expect(answer.reason == .familySharingEnded, "day \(day)")
      #expect(answer.until == Self.left && answer.paidUntil == Self.left, "day \(day)")
    }
    let back = facts + [period(40...60, id: "again").with { $0.ownership = .familyShared }]
    #expect(!status(back, on: 39).isEntitled && status(back, on: 40).since == at(40))
  }

  @Test("A separate document ends each period of a member")
  func oneDocument() {
    let charged = member(["charged"])
    #expect(
      status(charged, on: 29, hours: 23).isEntitled && status(charged, on: 29, hours: 23).until == at(30))
    #expect(status(charged, on: 30).reason == .familySharingEnded && status(charged, on: 30).until == at(30))
    let current = member(["current"])
    #expect(status(current, on: 29, hours: 13).reason == .familySharingEnded)
    #expect(status(current, on: 29, hours: 13).checkAgainAt == at(30))
    #expect(status(current, on: 30).isEntitled)
  }

  @Test("No slack follows a period whose renewal was refunded before it started")
  func refunded() {
    let refunded = charged.with { ($0.revocationDate, $0.signedDate) = (Self.left, Self.left) }
    let facts = [period(0...30), refunded]
    #expect(status(facts, on: 29, hours: 23).until == at(30))
    #expect(status(facts, on: 30).reason == .refunded)
    #expect(status(facts, on: 31).until == at(30) && status(facts, on: 31).paidUntil == at(30))
    #expect(status([period(0...30)], on: 30).reason == .awaitingRenewal)
  }

  @Test("A purchase that was revoked at its start or before ends no access", arguments: [40, 39] as [Int64])
  func neverGranted(revoked: Int64) {
    func refunded(_ fact: TransactionFact) -> TransactionFact {
      fact.with { ($0.revocationDate, $0.signedDate) = (at(revoked), at(41)) }
    }
    let lifetime = refunded(purchase("lifetime", .nonConsumable, on: 40))
    let never = status([lifetime], on: 50)
    #expect(never.reason == .refunded && never.until == nil && never.paidUntil == nil)
    #expect(never.productState == .inactive)
    // The last access was that of the period before, of the same subscription or of another one.
    for line in ["L1", "L2"] {
      let before = period(0...30, line: line).with { $0.details.billingPlanType = .monthly }
      for other in [refunded(period(40...70)), lifetime] {
        let lapsed = status([before, other], on: 50)
        #expect(lapsed.reason == .refunded && lapsed.deciding?.transactionID == other.transactionID)
        #expect(lapsed.until == at(30) && lapsed.paidUntil == at(30), "\(other.transactionID) after \(line)")
      }
    }
    let upgraded = period(40...70).with { ($0.isUpgraded, $0.signedDate) = (true, at(45)) }
    #expect(status([period(0...30), upgraded], on: 50).until == at(45), "the time of the upgrade is unknown")
    let otherProduct = status([period(0...40, "plus"), refunded(period(40...70))], on: 50)
    #expect(otherProduct.reason == .refunded && otherProduct.until == nil)
  }
}

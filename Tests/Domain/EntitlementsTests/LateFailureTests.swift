import AppStore
import Entitlements
import TestSupport
import Testing

/// A failed attempt to renew that Apple announces after a later attempt succeeded: hours after `DID_RENEW`, at the end of
/// the old period, with the renewal date of the new one.
@Suite struct LateFailureTests {
  private static let app = AppDefinition(
    id: "ocean", identity: EntitlementsTests.app.identity, environments: [.sandbox],
    products: Array(EntitlementsTests.app.products.values), renewalPolicy: .standard)

  private static let renewed = period(14...44).with { $0.signedDate = at(13, hours: 16) }
  private static let recovery = info(signed: at(13, hours: 16))

  private static func info(
    signed: Instant, _ change: (inout RenewalFact) -> Void = { _ in }
  ) -> RenewalFact {
    renewal(signed: 0) {
      $0.signedDate = signed
      $0.autoRenewStatus = .on
      $0.renewalDate = at(44)
      change(&$0)
    }
  }

  private func failure(
    at signed: Instant, _ change: (inout RenewalFact) -> Void = { _ in }
  ) -> RenewalFact {
    Self.info(signed: signed) {
      $0.isInBillingRetry = true
      change(&$0)
    }
  }

  private func status(
    _ failures: [RenewalFact], _ transactions: [TransactionFact] = [period(0...14), Self.renewed],
    on day: Int64,
    hours: Int64 = 0
  ) -> EntitlementStatus {
    evaluate(
      CustomerFacts(transactions: transactions, renewals: [Self.recovery] + failures), entitlement: "pro",
      in: Self.app, at: at(day, hours: hours))
  }

  @Test(
    "It changes no answer if the periods are from a receipt, which has whole seconds",
    arguments: [14, 44] as [Int64])
  func fromReceipt(renewalDay: Int64) {
    let periods = [period(0...14), Self.renewed].map { $0.with { $0.details.isFromReceipt = true } }
    func exact(_ info: RenewalFact, _ day: Int64) -> RenewalFact {
      var info = info
      info.renewalDate = at(day).advanced(byMilliseconds: 751)
      return info
    }
    let failed = failure(at: at(14).advanced(byMilliseconds: 16_000))
    let facts = CustomerFacts(
      transactions: periods, renewals: [exact(Self.recovery, 44), exact(failed, renewalDay)])
    func reason(_ day: Int64) -> EntitlementReason {
      evaluate(facts, entitlement: "pro", in: Self.app, at: at(day)).reason
    }
    #expect(reason(20) == .subscriptionActive && reason(44) == .awaitingRenewal && reason(60) == .expired)
  }

  @Test("A failure that was recovered before Apple announced it changes no answer", arguments: 0..<3)
  func late(kind: Int) {
    let failed = failure(at: at(14).advanced(byMilliseconds: 16_000)) {
      if kind == 1 { $0.gracePeriodExpiresDate = at(30) }
      if kind == 2 { $0.expirationIntent = .billingError }
    }
    for (day, hours) in [(14, 1), (30, 0), (43, 23), (44, 0), (44, 1), (60, 0)]
      as [(Int64, Int64)]
    {
      #expect(status([failed], on: day, hours: hours) == status([], on: day, hours: hours), "day \(day)")
    }
    #expect(status([failed], on: 20).until == at(44, hours: 1))
    #expect(status([failed], on: 44).reason == .awaitingRenewal)
    #expect(status([failed], on: 60).reason == .expired)
    let facts = CustomerFacts(
      transactions: [period(0...14), Self.renewed], renewals: [Self.recovery, failed])
    #expect(facts.failedRenewals(0).isEmpty)
  }

  @Test("The next renewal of the line has no failure that was recovered, and any other one")
  func currentRenewal() {
    func current(_ failures: RenewalFact..., recovery: [RenewalFact] = [Self.recovery]) -> RenewalFact? {
      let facts = CustomerFacts(
        transactions: [period(0...14), Self.renewed], renewals: recovery + failures)
      return facts.currentRenewals.first
    }
    let late = failure(at: at(14, hours: 1)) { $0.gracePeriodExpiresDate = at(30) }
    var cleared = late
    (cleared.isInBillingRetry, cleared.gracePeriodExpiresDate) = (false, nil)
    #expect(current(late) == cleared, "about the new period")
    let old = failure(at: at(14, hours: 1)) { $0.renewalDate = at(14) }
    #expect(current(old) == Self.recovery, "about the old period")
    #expect(current(old, recovery: [])?.isInBillingRetry == false)
    let failed = failure(at: at(43, hours: 6))
    #expect(current(old, failed) == failed)
  }

  @Test("The same content that is signed in the last day of the period is a failure of its renewal")
  func repeated() {
    let (late, failed) = (failure(at: at(14, hours: 1)), failure(at: at(43, hours: 6)))
    #expect(status([late, failed], on: 43, hours: 5).until == at(44))
    #expect(status([late, failed], on: 44).reason == .billingRetry)
    #expect(status([late, failed], on: 44) == status([failed], on: 44))
  }

  @Test("Until the renewal arrives, the failure is that of the known period")
  func unknownRenewal() {
    let failed = failure(at: at(14, hours: 1))
    #expect(status([failed], [period(0...14)], on: 15).reason == .billingRetry)
  }

  @Test("The explanation names the renewal info as Apple signed it")
  func explanation() {
    let failed = failure(at: at(14, hours: 1))
    let facts = CustomerFacts(
      transactions: [period(0...14), Self.renewed], renewals: [Self.recovery, failed])
    let steps = Explanation(facts, entitlement: "pro", in: Self.app, at: at(20)).steps
    #expect(steps.compactMap(\.fact).contains(.renewal(failed)))
  }
}

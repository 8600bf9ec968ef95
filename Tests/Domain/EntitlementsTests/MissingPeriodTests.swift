import AppStore
import Entitlements
import TestSupport
import Testing

/// The event of a renewal after a gap: a payment failed and was recovered, or the document about a period is missing.
@Suite struct MissingPeriodTests {
  private static let app = AppDefinition(
    id: "ocean", identity: EntitlementsTests.app.identity, environments: [.sandbox],
    products: Array(EntitlementsTests.app.products.values), renewalPolicy: .standard)

  private static let failed = renewal(signed: 30) {
    $0.autoRenewStatus = .on
    $0.isInBillingRetry = true
    $0.renewalDate = at(30)
  }

  /// The events of a renewal that arrives two hours after its start. The service has the period to `end`, and `infos`;
  /// `new` arrive with the renewal.
  private func kinds(
    after end: Int64 = 30, _ days: ClosedRange<Int64>, minutes: Int64 = 0, infos: [RenewalFact] = [],
    new: [RenewalFact] = []
  ) -> [EntitlementChange.Kind] {
    let renewed = period(days).with {
      $0.purchaseDate = $0.purchaseDate.advanced(byMilliseconds: minutes * 60_000)
      $0.details.transactionReason = .renewal
    }
    let before = CustomerFacts(transactions: [period(0...end)], renewals: infos)
    let after = CustomerFacts(transactions: [period(0...end), renewed], renewals: infos + new)
    let now = at(days.lowerBound, hours: 2)
    return EntitlementChange.changes(
      of: "pro", from: evaluate(before, entitlement: "pro", in: Self.app, at: now),
      to: evaluate(after, entitlement: "pro", in: Self.app, at: now), by: .evidence, at: now,
      facts: FactsChange(
        from: before, to: after, by: .evidence, slack: Self.app.renewalPolicy.slack)
    ).map(\.kind)
  }

  @Test("A renewal after a gap of whole periods is RENEWED, because the document about a period is missing")
  func missing() {
    #expect(kinds(60...90) == [.renewed])
    #expect(kinds(61...92) == [.renewed], "a month of 31 days")
    #expect(kinds(90...120) == [.renewed])
    #expect(kinds(after: 7, 14...21) == [.renewed])
    #expect(kinds(after: 7, 28...35) == [.renewed])
  }

  @Test("A renewal after any other gap is RECOVERED, because only a failed payment leaves one")
  func recovered() {
    #expect(kinds(40...70) == [.recovered])
    #expect(kinds(75...105) == [.recovered])
    #expect(kinds(after: 7, 11...18) == [.recovered])
  }

  @Test(
    "A failed payment that Apple reported was recovered, whatever the gap, also if it arrives with the renewal"
  )
  func reported() {
    #expect(kinds(60...90, infos: [Self.failed]) == [.recovered])
    #expect(kinds(60...90, new: [Self.failed]) == [.recovered])
    #expect(kinds(30...60, minutes: 10, new: [Self.failed]) == [.recovered])
  }

  @Test("A renewal in the slack after its period is RENEWED, also if it arrives after the slack")
  func late() {
    #expect(kinds(30...60, minutes: 10) == [.renewed])
    #expect(kinds(30...60, minutes: 59) == [.renewed])
    #expect(kinds(30...60, minutes: 61) == [.recovered])
  }

  @Test("A renewal long after a cancellation that Apple reported is STARTED, as in reports")
  func cancelled() {
    let off = renewal(signed: 20) { ($0.autoRenewStatus, $0.renewalDate) = (.off, at(30)) }
    #expect(kinds(100...130, infos: [off]) == [.started])
    #expect(kinds(100...130) == [.renewed])
  }
}

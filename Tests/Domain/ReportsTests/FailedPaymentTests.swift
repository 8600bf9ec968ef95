import AppStore
import Entitlements
import Reports
import Testing

/// How failed payments end.
@Suite struct FailedPaymentTests {
  @Test(
    "A payment on which Apple gives up is lost, and one that the customer stops is cancelled",
    arguments: [(ExpirationIntent.billingError, [1, 0]), (.customerCancelled, [0, 1])])
  func endOfRetry(intent: ExpirationIntent, ends: [Int64]) throws {
    // Apple turns auto-renew off in both cases.
    let infos = [
      World.info("10-10", "10-10") { $0.isInBillingRetry = true },
      World.info("12-09", "10-10") { ($0.autoRenewStatus, $0.expirationIntent) = (.off, intent) },
    ]
    let facts = World.facts("D", [World.period("monthly", "09-10", "10-10")], infos)
    let billing = try Answer(
      .billing, "12-01", "2027-01-01", of: World.postings(at: World.day("12-31"), ["D": facts]))
    #expect(billing("retry_lost", "retry_cancelled", on: "12-01") == ends)
    #expect(billing("in_retry", on: "12-01") == [0])
  }

  @Test("A grace period that ends as Apple gives up is a failed payment, and no cancellation")
  func endOfGrace() throws {
    let infos = [
      World.info("10-10", "10-10") {
        ($0.isInBillingRetry, $0.gracePeriodExpiresDate) = (true, World.day("10-26"))
      },
      World.info("10-26", "10-10") { ($0.autoRenewStatus, $0.expirationIntent) = (.off, .billingError) },
    ]
    let facts = World.facts("D", [World.period("monthly", "09-10", "10-10")], infos)
    let postings = World.postings(at: World.day("10-31"), ["D": facts])
    let churn = try Answer(.churnReasons, "10-01", "11-01", of: postings)
    #expect(churn("billing", "cancelled_in_grace", on: "10-01") == [1, 0])
    let billing = try Answer(.billing, "10-01", "11-01", of: postings)
    #expect(billing("grace_ended", "retry_lost", "retry_cancelled", on: "10-01") == [1, 1, 0])
  }

  @Test("Billing retry that a refund ends names the refund as its reason")
  func refundInRetry() throws {
    let infos = [
      World.info("10-10", "10-10") { $0.isInBillingRetry = true },
      World.info("10-20", "10-10") { $0.autoRenewStatus = .off },
    ]
    let period = World.period("monthly", "09-10", "10-10").with { $0.revocationDate = World.day("10-20") }
    let postings = World.postings(at: World.day("10-31"), ["D": World.facts("D", [period], infos)])
    let endings = postings.map(\.posting).filter { [.retryLost, .retryCancelled].contains($0.kind) }
    #expect(endings.map(\.kind) == [.retryCancelled])
    #expect(endings.map(\.reason) == ["REFUND"])
    #expect(endings.map(\.effectiveAt) == [World.day("10-20")])
  }
}

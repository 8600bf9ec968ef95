import AppStore
import Entitlements
import TestSupport
import Testing

/// The sentences and actions of support about an answer.
@Suite struct SupportDescriptionTests {
  private func description(
    _ transactions: [TransactionFact], _ renewals: [RenewalFact] = [], on day: Int64
  ) -> SupportDescription {
    let status = evaluate(
      CustomerFacts(transactions: transactions, renewals: renewals), entitlement: "pro", in: app, at: at(day))
    return SupportDescription(status, about: "pro", in: app, at: at(day))
  }

  @Test("A failed payment names what to do, the page and the deadline")
  func failedPayment() {
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    let grace = description([period(0...30)], [failed], on: 40)
    #expect(grace.supportSentence.hasPrefix("pro: yes. "))
    #expect(grace.customerSentence.contains("please update your payment details"))
    #expect(
      grace.actions == [
        "The payment failed: ask the customer to update the payment details. 6 full days are left."
      ])
    #expect(grace.url == "https://apps.apple.com/account/billing")
    #expect(grace.deadline == at(46))
    let retry = description([period(0...30)], [failed], on: 50)
    #expect(retry.customerSentence.contains("your access is paused"))
  }

  @Test("A customer without a purchase is asked for the account and the order")
  func nothing() {
    let description = description([], on: 1)
    #expect(description.supportSentence.hasPrefix("pro: no. "))
    #expect(description.customerSentence.contains("restore your purchases"))
    #expect(
      description.actions == [
        "Ask for the order number or the receipt of Apple's e-mail, and look the order up."
      ])
    #expect(description.deadline == nil)
  }
}

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

  @Test("A customer who cancelled a commitment reads when it ends, not that the payments end before")
  func commitment() {
    func sentence(_ number: Int64) -> String {
      let payment = period(0...30).with {
        $0.details.commitment = .init(
          billingPeriodNumber: number, totalBillingPeriods: 12, expiresDate: at(number == 12 ? 30 : 90))
      }
      let off = renewal(signed: 5) {
        $0.autoRenewStatus = .on
        $0.details.commitment = .init()
        $0.details.commitment?.autoRenewStatus = .off
      }
      return description([payment], [off], on: 10).customerSentence
    }
    let (monthEnd, commitmentEnd) = ("\(at(30))".prefix(10), "\(at(90))".prefix(10))
    #expect(sentence(10).contains("payments continue") && sentence(10).contains(commitmentEnd))
    #expect(!sentence(10).contains(monthEnd))
    #expect(sentence(12).contains(monthEnd) && sentence(12).contains("does not renew"))
  }

  @Test("The license of an organization reads as access until its end, and not as permanent")
  func license() {
    func sentence(until end: Instant?) -> String {
      let install = AppTransactionFact(
        originalApplicationVersion: "2.0", originalPurchaseDate: at(0), receiptExpiresDate: end,
        signedDate: at(0))
      let status = evaluate(
        CustomerFacts(appTransactions: [install]), entitlement: "pro", in: fullApp, at: at(10))
      return SupportDescription(status, about: "pro", in: fullApp, at: at(10)).customerSentence
    }
    #expect(sentence(until: nil) == "You own it permanently.")
    #expect(sentence(until: at(30)).contains("\(at(30))".prefix(10)))
  }

  @Test(
    "Family members and seat holders read how they got access, and nothing about payments",
    arguments: [InAppOwnershipType.familyShared, .assigned])
  func shared(ownership: InAppOwnershipType) {
    let isSeat = ownership == .assigned
    let bought = period(0...30).with { $0.ownership = ownership }
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    let off = renewal(signed: 5) { $0.autoRenewStatus = .off }
    let revoked = bought.with { $0.revocationDate = at(9) }
    let way = isSeat ? "your seat" : "a member of your family"
    let actor = isSeat ? "the buyer of the seats" : "the member of the family"
    for (name, transaction, info, day, hasActor) in [
      ("active", bought, nil, 10, false), ("off", bought, off, 10, false),
      ("grace", bought, failed, 40, true),
      ("retry", bought, failed, 50, true), ("lapsed", bought, failed, 95, false),
      ("cancelled", bought, off, 31, false),
    ] as [(String, TransactionFact, RenewalFact?, Int64, Bool)] {
      let description = description([transaction], info.map { [$0] } ?? [], on: day)
      #expect(description.customerSentence.contains(way), "\(name)")
      for word in ["charge", "payment details", "cancelled", "price"] {
        #expect(!description.customerSentence.contains(word), "\(name)")
      }
      #expect(description.actions.contains { $0.contains(actor) } == hasActor, "\(name)")
      #expect(description.url == nil && description.deadline == nil, "\(name)")
    }
    let ended = description([revoked], on: 10)
    #expect(ended.customerSentence.contains(isSeat ? "a seat" : "member of your family"))
    #expect(ended.supportSentence.contains(isSeat ? "no longer has a seat" : "no longer shared"))
    #expect(!isSeat || !"\(ended)".contains("family"))
    #expect(ended.actions.contains { $0.contains(actor) })
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

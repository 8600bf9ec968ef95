import AppStore
import Entitlements
import Testing

@testable import ReceiptMigration

@Suite struct UpgradedPeriodsTests {
  private static func at(_ day: Int64) -> Instant { Instant(millisecondsSince1970: day * 86_400_000) }

  /// A period of `product` from one day to another, signed when it began.
  private static func period(
    _ number: Int, _ product: String, _ days: ClosedRange<Int64>, signed: Int64? = nil, line: String = "L",
    refunded: Int64? = nil
  ) -> TransactionFact {
    TransactionFact(
      transactionID: String(number), originalTransactionID: line, productID: product,
      type: .autoRenewableSubscription, purchaseDate: at(days.lowerBound), expiresDate: at(days.upperBound),
      revocationDate: refunded.map(at), signedDate: at(signed ?? days.lowerBound))
  }

  private static func upgraded(_ facts: TransactionFact...) -> [String] {
    let ordered = CustomerFacts(transactions: facts).transactions
    let upgraded = UpgradedPeriods(in: ordered)
    return ordered.filter(upgraded.contains).map(\.transactionID)
  }

  @Test("A period that another product cuts short was upgraded")
  func cutShort() {
    #expect(Self.upgraded(Self.period(1, "month", 0...30), Self.period(2, "gold", 10...40)) == ["1"])
  }

  @Test("A period that ran to its end was not upgraded, nor one that the same product follows")
  func ended() {
    #expect(Self.upgraded(Self.period(1, "month", 0...30), Self.period(2, "gold", 30...60)).isEmpty)
    #expect(Self.upgraded(Self.period(1, "month", 0...30), Self.period(2, "month", 10...40)).isEmpty)
  }

  @Test("A period that another billing plan of the product cuts short was upgraded")
  func otherPlan() {
    var payment = Self.period(1, "year", 0...30)
    payment.details.billingPlanType = .monthly
    var upfront = Self.period(2, "year", 10...375)
    upfront.details.billingPlanType = .billedUpfront
    #expect(Self.upgraded(payment, upfront) == ["1"])
    upfront.details.billingPlanType = .monthly
    #expect(Self.upgraded(payment, upfront).isEmpty)
  }

  @Test(
    "A refunded period, or one that Apple signed after the next one began, was not upgraded"
  )
  func signedSince() {
    let next = Self.period(2, "gold", 10...40)
    #expect(Self.upgraded(Self.period(1, "month", 0...30, refunded: 5), next).isEmpty)
    #expect(Self.upgraded(Self.period(1, "month", 0...30, signed: 11), next).isEmpty)
  }

  @Test("A period that Apple marks as upgraded counts as upgraded without the other periods")
  func signedAsUpgraded() {
    var period = Self.period(1, "month", 0...30)
    period.isUpgraded = true
    #expect(Self.upgraded(period) == ["1"])
  }

  @Test("A renewal that was charged ahead of its time is upgraded with the period before it")
  func aheadOfTime() {
    let (first, renewal) = (Self.period(1, "month", 0...30), Self.period(2, "month", 30...60, signed: 28))
    #expect(Set(Self.upgraded(first, renewal, Self.period(3, "gold", 29...59, signed: 30))) == ["1", "2"])
    #expect(Self.upgraded(first, renewal, Self.period(3, "gold", 31...61)) == ["2"], "the first one ended")
  }

  @Test("Of a long series of renewals, only the one that was cut short is upgraded")
  func longSeries() {
    let renewals = (0..<2_000).map { Self.period($0, "week", Int64($0) * 7...Int64($0) * 7 + 7) }
    let gold = Self.period(2_000, "gold", 13_995...14_002)
    let ordered = CustomerFacts(transactions: renewals + [gold]).transactions
    #expect(ordered.filter(UpgradedPeriods(in: ordered).contains).map(\.transactionID) == ["1999"])
  }

  @Test("Other lines do not count")
  func otherLines() {
    let other = Self.period(2, "gold", 10...40, line: "M")
    #expect(Self.upgraded(Self.period(1, "month", 0...30), other).isEmpty)
  }
}

import AppReceipt
import AppStore
import Entitlements
import TestSupport
import Testing

@testable import ReceiptMigration

@Suite struct AccountPurchasesTests {
  private static let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [ProductDefinition(productID: "coins", type: .consumable, entitlements: [])])

  private static func at(_ day: Int64) -> Instant { Instant(millisecondsSince1970: day * 86_400_000) }

  /// A receipt of purchases: transaction, line, product.
  private static func receipt(_ purchases: (String, String, String)...) throws -> AppReceiptPayload {
    var receipt = ReceiptBuilder()
    for (id, line, product) in purchases {
      var purchase = ReceiptBuilder()
      purchase.add(1702, product)
      purchase.add(1703, id)
      purchase.add(1705, line)
      receipt.add(purchase: purchase)
    }
    return try AppReceiptPayload(parsing: receipt.content)
  }

  private static func fact(
    _ id: String, line: String, _ product: String = "pro", type: ProductType = .autoRenewableSubscription,
    during days: ClosedRange<Int64> = 0...30
  ) -> TransactionFact {
    TransactionFact(
      transactionID: id, originalTransactionID: line, productID: product, type: type,
      purchaseDate: at(days.lowerBound),
      expiresDate: type == .autoRenewableSubscription ? at(days.upperBound) : nil,
      signedDate: at(days.lowerBound))
  }

  private static func known(_ facts: TransactionFact..., renewals: [RenewalFact] = []) -> AccountPurchases {
    AccountPurchases(CustomerFacts(transactions: facts, renewals: renewals), preorderDate: nil)
  }

  @Test("Apple is asked about each line with a purchase that it has not signed here yet, once")
  func unknownLines() throws {
    let receipt = try Self.receipt(
      ("1", "1", "pro"), ("2", "1", "pro"), ("3", "3", "pro"), ("4", "4", "coins"))
    #expect(Self.known().unknownLines(of: receipt, in: Self.app).sorted() == ["1", "3", "4"])
    let some = Self.known(Self.fact("1", line: "1"))
    #expect(some.unknownLines(of: receipt, in: Self.app).sorted() == ["1", "3"])
    let all = Self.known(Self.fact("1", line: "1"), Self.fact("2", line: "1"), Self.fact("3", line: "3"))
    #expect(all.unknownLines(of: receipt, in: Self.app).isEmpty)
  }

  @Test("A renewal is overdue once its period is over and no document arrived since")
  func overdue() {
    func renewal(_ status: AutoRenewStatus, signed: Int64) -> RenewalFact {
      RenewalFact(
        originalTransactionID: "1", productID: "pro", autoRenewStatus: status, signedDate: Self.at(signed))
    }
    func overdue(_ renewal: RenewalFact, _ day: Int64) -> [String] {
      Self.known(Self.fact("1", line: "1"), renewals: [renewal]).overdueLines(at: Self.at(day))
    }
    #expect(overdue(renewal(.on, signed: 0), 30).isEmpty)
    #expect(overdue(renewal(.on, signed: 0), 31) == ["1"])
    #expect(overdue(renewal(.off, signed: 0), 31).isEmpty)
    // A document that was signed after the end states the outcome.
    #expect(overdue(renewal(.on, signed: 30), 31).isEmpty)
  }

  @Test("A failed payment is reported until a later one is successful")
  func failure() {
    func renewal(_ isInRetry: Bool, signed: Int64, until end: Int64) -> RenewalFact {
      RenewalFact(
        originalTransactionID: "1", productID: "pro", autoRenewStatus: .on, isInBillingRetry: isInRetry,
        gracePeriodExpiresDate: isInRetry ? Self.at(46) : nil, renewalDate: Self.at(end),
        signedDate: Self.at(signed))
    }
    let (first, second) = (Self.fact("1", line: "1"), Self.fact("2", line: "1", during: 30...60))
    let failed = renewal(true, signed: 30, until: 30)
    #expect(Self.known(first, renewals: [failed]).renewals.map(\.isInBillingRetry) == [true])
    let recovered = Self.known(first, second, renewals: [renewal(false, signed: 29, until: 60), failed])
    #expect(recovered.renewals.map(\.isInBillingRetry) == [false])
    #expect(recovered.renewals.map(\.gracePeriodExpiresDate) == [nil])
  }

  @Test("Of a subscription only the latest period is wanted, of consumables only what the receipt has")
  func latest() throws {
    let receipt = try Self.receipt(("1", "1", "pro"), ("8", "8", "coins"))
    let known = Self.known(
      Self.fact("1", line: "1"), Self.fact("2", line: "1", during: 30...60),
      Self.fact("8", line: "8", "coins", type: .consumable),
      Self.fact("9", line: "9", "coins", type: .consumable),
      Self.fact("5", line: "5", "unlock", type: .nonConsumable))
    func latest(_ onlyLatest: Bool) -> [String] {
      known.latest(since: receipt, in: Self.app, onlyLatest: onlyLatest).map(\.transactionID).sorted()
    }
    #expect(latest(false) == ["1", "2", "5", "8"])
    #expect(latest(true) == ["2", "5", "8"])
  }

  @Test("A purchase without a lookup keeps the state of the receipt")
  func receiptAlone() throws {
    let receipt = try Self.receipt(("1", "1", "pro"), ("2", "2", "unlock"))
    let known = Self.known(Self.fact("1", line: "1"))
    let latest = known.latest(since: receipt, in: Self.app, onlyLatest: false)
    #expect(latest.map(\.productID) == ["pro", "unlock"])
    #expect(latest.last?.ownership == nil)
    #expect(Set(known.purchases(in: receipt).map(\.transactionID)) == ["1", "2"])
  }

  @Test("Periods that only the receipt states count for the latest period")
  func latestOfReceipt() throws {
    func latest(_ facts: TransactionFact...) throws -> [String] {
      // In no order of time; each January 1 of the year, and of a second subscription.
      let periods = [
        ("3", "1", 2028), ("2", "1", 2027), ("4", "1", 2029), ("9", "9", 2027), ("8", "9", 2026),
      ]
      var receipt = ReceiptBuilder()
      for (id, line, year) in periods {
        var purchase = ReceiptBuilder()
        purchase.add(1702, "pro")
        purchase.add(1703, id)
        purchase.add(1705, line)
        purchase.add(1704, "\(year)-01-01T00:00:00Z")
        purchase.add(1708, "\(year + 1)-01-01T00:00:00Z")
        receipt.add(purchase: purchase)
      }
      let account = AccountPurchases(CustomerFacts(transactions: facts), preorderDate: nil)
      let payload = try AppReceiptPayload(parsing: receipt.content)
      return account.latest(since: payload, in: Self.app, onlyLatest: true).map(\.transactionID)
    }
    #expect(try latest() == ["4", "9"])
    // Signed periods of 1970 and of 2270.
    #expect(try latest(Self.fact("1", line: "1")) == ["4", "9"])
    #expect(try latest(Self.fact("5", line: "1", during: 110_000...110_030)) == ["5", "9"])
  }

  @Test("A period that only the receipt states has the subscription group of the others")
  func group() throws {
    var receipt = ReceiptBuilder()
    var purchase = ReceiptBuilder()
    purchase.add(1702, "pro")
    purchase.add(1703, "2")
    purchase.add(1705, "1")
    purchase.add(1708, "2026-01-01T00:00:00Z")
    receipt.add(purchase: purchase)
    var signed = Self.fact("1", line: "1")
    signed.subscriptionGroupID = "G"
    let latest = Self.known(signed).latest(
      since: try AppReceiptPayload(parsing: receipt.content), in: Self.app, onlyLatest: false)
    #expect(latest.map(\.subscriptionGroupID) == ["G", "G"])
  }

  @Test("Copies of a purchase are reported once, and are no unknown purchases")
  func copies() throws {
    let receipt = try Self.receipt(("6", "5", "unlock"), ("7", "5", "unlock"), ("2", "1", "pro"))
    var (first, copy) = (Self.fact("1", line: "1"), Self.fact("2", line: "1", during: 1...30))
    (first.details.webOrderLineItemID, copy.details.webOrderLineItemID) = ("W", "W")
    var revoked = Self.fact("6", line: "5", "unlock", type: .nonConsumable)
    revoked.revocationDate = Self.at(9)
    let known = Self.known(first, copy, Self.fact("5", line: "5", "unlock", type: .nonConsumable), revoked)
    #expect(known.unknownLines(of: receipt, in: Self.app).isEmpty)
    let latest = known.latest(since: receipt, in: Self.app, onlyLatest: false)
    #expect(latest.map(\.transactionID) == ["1", "5"])
    #expect(latest.last?.cancellation?.date == Self.at(9))
    let inReceipt = known.purchases(in: receipt)
    #expect(Set(inReceipt.map(\.transactionID)) == ["6", "2"])
    #expect(inReceipt.first { $0.transactionID == "6" }?.cancellation?.date == Self.at(9))
  }

  @Test("An upgraded period is cancelled at the upgrade, also when only the latest periods are wanted")
  func upgraded() throws {
    var first = Self.fact("1", line: "1")
    first.isUpgraded = true
    let known = Self.known(first, Self.fact("2", line: "1", "gold", during: 9...39))
    let receipt = try Self.receipt(("1", "1", "pro"), ("2", "1", "gold"))
    let cancellation = LegacyPurchase.Cancellation(date: Self.at(9), reason: .other)
    let latest = known.latest(since: receipt, in: Self.app, onlyLatest: false)
    #expect(latest.map(\.cancellation) == [cancellation, nil] && latest.map(\.isUpgraded) == [true, false])
    #expect(known.purchases(in: receipt).map(\.cancellation) == [cancellation, nil])
    #expect(known.latest(since: receipt, in: Self.app, onlyLatest: true).map(\.transactionID) == ["2"])
  }

  @Test("Of a subscription with added seats the latest period is the period with its additions")
  func addedSeats() throws {
    let seats = [("1", 0), ("2", 9)].map { (id: String, day: Int64) in
      var fact = Self.fact(id, line: "1", during: day...30)
      fact.details.additionalTransactionReason = "SEAT_ADDITION"
      return fact
    }
    let receipt = try Self.receipt(("1", "1", "pro"))
    let latest = Self.known(seats[0], seats[1]).latest(since: receipt, in: Self.app, onlyLatest: true)
    #expect(latest.map(\.transactionID) == ["1", "2"])
  }

  @Test("The cost of a receipt and an account with very many purchases grows with their number")
  func manyPurchases() throws {
    func input(_ count: Int) throws -> (facts: CustomerFacts, receipt: AppReceiptPayload) {
      let ids = (0..<count).map { String(100_000 + $0) }
      let facts = ids.map { id in
        var fact = Self.fact(id, line: "1")
        fact.isUpgraded = true
        return fact
      }
      var receipt = ReceiptBuilder()
      for id in ids {
        var purchase = ReceiptBuilder()
        purchase.add(1702, "other")
        purchase.add(1703, "9\(id)")
        purchase.add(1705, "9\(id)")
        receipt.add(purchase: purchase)
      }
      return (CustomerFacts(transactions: facts), try AppReceiptPayload(parsing: receipt.content))
    }
    let growth = try Growth.ofEightfold(250, prepare: input) { facts, receipt in
      let account = AccountPurchases(facts, preorderDate: nil)
      #expect(account.unknownLines(of: receipt, in: Self.app).count == receipt.purchases.count)
      let latest = account.latest(since: receipt, in: Self.app, onlyLatest: false)
      #expect(latest.count == 2 * receipt.purchases.count)
    }
    #expect(growth < Growth.bound)
  }
}

internal import AppStore
internal import Entitlements
internal import Reports
internal import Store

/// Synthetic payers with two years of subscriptions, and the sums that reports read of them. The same number and
/// instant give the same payers.
struct SyntheticPayers: Sendable {
  let count: Int
  let app: AppDefinition
  let now: Instant

  /// The number of days with purchases.
  static let days: Int64 = 730
  private static let storefronts: [(code: String, currency: String)] = [
    "USA USD", "CAN CAD", "MEX MXN", "BRA BRL", "GBR GBP", "DEU EUR", "FRA EUR", "ITA EUR", "ESP EUR",
    "NLD EUR",
    "AUT EUR", "BEL EUR", "IRL EUR", "PRT EUR", "FIN EUR", "GRC EUR", "POL PLN", "CZE CZK", "SWE SEK",
    "NOR NOK",
    "DNK DKK", "CHE CHF", "TUR TRY", "ISR ILS", "ARE AED", "SAU SAR", "IND INR", "CHN CNY", "HKG HKD",
    "TWN TWD",
    "JPN JPY", "KOR KRW", "SGP SGD", "THA THB", "IDN IDR", "MYS MYR", "PHL PHP", "VNM VND", "AUS AUD",
    "NZL NZD",
  ].map { text in
    let parts = text.split(separator: " ").map(String.init)
    return (parts[0], parts[1])
  }

  /// Derives the postings of all payers on two cores, and calls `write` with the sums of each day of knowledge.
  func cells() async -> [ReportDay: [ReportCell]] {
    let middle = count / 2
    async let first = sums(1..<middle + 1)
    async let second = sums(middle + 1..<count + 1)
    var cells: [ReportDay: [ReportCell]] = [:]
    let all = await first.merging(await second) { left, right in
      var sum = left
      sum += right
      return sum
    }
    for (key, sums) in all { cells[key.day, default: []].append(ReportCell(key: key, sums: sums)) }
    return cells
  }

  /// The sums of some payers, without their postings in memory.
  private func sums(_ numbers: Range<Int>) async -> [ReportCell.Key: ReportCell.Sums] {
    var sums: [ReportCell.Key: ReportCell.Sums] = [:]
    for number in numbers {
      for posting in PayerPostings(facts(number), in: app, at: now).postings {
        for cell in posting.cells { sums[cell.key, default: ReportCell.Sums()] += cell.sums }
      }
    }
    return sums
  }

  /// The days with postings, in parts whose postings fit into memory.
  var spans: [Range<ReportDay>] {
    let end = ReportDay(now).advanced(by: 1)
    return stride(from: -Self.days - 1, to: 0, by: Self.daysOfSpan).map { first in
      end.advanced(by: first)..<end.advanced(by: min(first + Int64(Self.daysOfSpan), 0))
    }
  }

  /// The number of days whose postings are in memory at once.
  private static let daysOfSpan = 60

  /// Derives the postings of all payers on two cores; returns those of some days, each day's in the order of time.
  func postings(of span: Range<ReportDay>) async -> [ReportDay: [Posting]] {
    let middle = count / 2
    async let first = postings(1..<middle + 1, of: span)
    async let second = postings(middle + 1..<count + 1, of: span)
    let all = await first + second
    return Dictionary(grouping: all) { ReportDay($0.effectiveAt) }
      .mapValues { $0.sorted { ($0.effectiveAt, $0.line) < ($1.effectiveAt, $1.line) } }
  }

  private func postings(_ numbers: Range<Int>, of span: Range<ReportDay>) async -> [Posting] {
    numbers.flatMap { number in
      PayerPostings(facts(number), in: app, at: now).postings.filter {
        span.contains(ReportDay($0.effectiveAt))
      }
    }
  }

  /// The life of one payer: a purchase on one of the days, renewals, failed payments, and an end.
  private func facts(_ number: Int) -> CustomerFacts {
    var random = LinearGenerator(UInt64(number))
    let products = app.products.values.filter { $0.price != nil }.sorted { $0.productID < $1.productID }
    guard !products.isEmpty else { return CustomerFacts() }
    let product = products[random.next(products.count)]
    let storefront = Self.storefronts[min(random.next(40), random.next(40))]
    guard let price = product.price else { return CustomerFacts() }
    var start = now.advanced(byMilliseconds: -Int64(random.next(Int(Self.days * 86_400)) + 1) * 1000)
    var facts = CustomerFacts()
    var isTrial = random.next(3) == 0
    for index in 0... {
      let end = isTrial ? start.advanced(byDays: 7) : start.advanced(by: price.period)
      var fact = TransactionFact(
        transactionID: "\(number)-\(index)", originalTransactionID: String(number),
        productID: product.productID, type: .autoRenewableSubscription, purchaseDate: start, expiresDate: end,
        signedDate: start)
      fact.details.price = isTrial ? 0 : price.milliunits
      fact.details.currency = storefront.currency
      fact.details.storefront = storefront.code
      fact.details.transactionReason = index == 0 ? .purchase : .renewal
      if isTrial { (fact.offerType, fact.offerDiscountType) = (.introductory, .freeTrial) }
      if random.next(200) == 0 { fact.revocationDate = start.advanced(byDays: 1) }
      facts.insert(fact)
      guard end <= now, fact.revocationDate == nil else { return facts }
      let chance = random.next(100)
      if chance < (isTrial ? 40 : 8) {
        facts.insert(renewal(of: fact, at: end, .customerCancelled), knownAt: end)
        return facts
      }
      let isLate = chance < (isTrial ? 45 : 12)
      if isLate, random.next(2) == 0 {
        facts.insert(renewal(of: fact, at: end, .billingError), knownAt: end)
        return facts
      }
      start = isLate ? end.advanced(byDays: Int64(random.next(20) + 1)) : end
      isTrial = false
      guard start < now else { return facts }
    }
    return facts
  }

  private func renewal(
    of fact: TransactionFact, at instant: Instant, _ intent: ExpirationIntent
  ) -> RenewalFact {
    var renewal = RenewalFact(
      originalTransactionID: fact.originalTransactionID, productID: fact.productID, autoRenewStatus: .off,
      renewalDate: instant, signedDate: instant)
    renewal.expirationIntent = intent
    renewal.isInBillingRetry = intent == .billingError
    return renewal
  }
}

/// Equal sequences of numbers in every run.
private struct LinearGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  /// A number from 0 to below `bound`.
  mutating func next(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
}

import AppStore
import Entitlements
import TestSupport
import Testing

/// Lives in which everything meets, against the access that the App Store gave.
@Suite struct MixedLivesTests {
  private static let numbers = UInt64(0)..<UInt64(lifeCount(short: 60))

  /// The first millisecond of each change, and those beside it.
  private func instants(of life: MixedLife) -> [Instant] {
    var dates: [Instant?] = []
    for fact in life.transactions {
      dates += [fact.purchaseDate, fact.expiresDate, fact.revocationDate, fact.signedDate]
    }
    for info in life.infos { dates += [info.signedDate, info.gracePeriodExpiresDate] }
    for access in life.access { dates += [access.start, access.end] }
    return Set(dates.compactMap(\.self)).sorted().flatMap { date in
      (Int64(-1)...1).map { date.advanced(byMilliseconds: $0) }
    }
  }

  private func grants(_ life: MixedLife, _ entitlement: String, at instant: Instant) -> Bool {
    life.access.contains {
      ($0.product == "plus") == (entitlement == "plus") && $0.start <= instant && instant < $0.end
    }
  }

  @Test(
    "A life has access exactly when the App Store gave it, in any order of the documents", arguments: numbers)
  func afterwards(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 41_000)
    let life = MixedLife(isMember: seed % 2 == 1, &random)
    let known = CustomerFacts(transactions: life.transactions, renewals: life.infos)
    let mixed = CustomerFacts(
      transactions: (life.transactions + life.transactions.prefix(5)).shuffled(using: &random),
      renewals: (life.infos + life.infos.prefix(5)).shuffled(using: &random))
    #expect(mixed == known)
    for instant in instants(of: life) {
      for entitlement in ["pro", "plus"] {
        let status = evaluate(known, entitlement: entitlement, in: app, at: instant)
        #expect(
          status.isEntitled == grants(life, entitlement, at: instant),
          "\(entitlement) at \(instant): \(status.reason), of \(life)")
      }
    }
  }

  @Test("Each answer of the time has the access that the App Store gave then", arguments: numbers)
  func inTime(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 41_000)
    let life = MixedLife(isMember: seed % 2 == 1, &random)
    for instant in instants(of: life) {
      let known = CustomerFacts(
        transactions: life.transactions.filter { $0.signedDate <= instant },
        renewals: life.infos.filter { $0.signedDate <= instant })
      let isRefunded = life.refunded.contains { $0.contains(instant) }
      for entitlement in ["pro", "plus"] {
        let status = evaluate(known, entitlement: entitlement, in: app, at: instant)
        #expect(
          status.isEntitled == (grants(life, entitlement, at: instant) && !isRefunded),
          "\(entitlement) at \(instant): \(status.reason), of \(life)")
      }
    }
  }

  @Test("The timeline of a life has the answer of each instant", arguments: numbers)
  func timelines(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 41_000)
    let life = MixedLife(isMember: seed % 2 == 1, &random)
    let known = CustomerFacts(transactions: life.transactions, renewals: life.infos)
    let instants = instants(of: life)
    let patient = AppDefinition(
      id: "ocean", identity: app.identity, environments: [.sandbox], products: Array(app.products.values),
      renewalPolicy: .standard)
    for start in instants where random.next() % 16 == 0 {
      let timeline = AnswerTimeline(known, entitlement: "pro", in: patient, from: start)
      for instant in instants {
        guard let precomputed = timeline.answer(at: instant) else { continue }
        #expect(
          precomputed == evaluate(known, entitlement: "pro", in: patient, at: instant),
          "at \(instant), from \(start)")
      }
    }
  }
}

import AppStore
import Entitlements
import TestSupport
import Testing

@Suite("Reduced facts of customers with many lines")
struct AccessOutlineTests {
  @Test(
    "The selected lines give the answers of all facts from the instant of the selection on",
    arguments: UInt64(0)..<30)
  func sameAnswers(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 20_000)
    // Non-renewing subscriptions and unknown products are in half of the customers only.
    let facts = customerWithManyLines(&random, isSimple: seed.isMultiple(of: 2))
    let start = at(.random(in: -5...200, using: &random), hours: .random(in: 0...23, using: &random))
    for app in [fullApp, patientApp] {
      var outline = AccessOutline(facts, in: app)
      let selection = outline.selection(from: start)
      let reduced = facts.reduced(to: selection, of: outline)
      for instant in [start] + instants(of: facts, &random).filter({ $0 >= start && random.next() % 60 == 0 })
      {
        for entitlement in app.entitlements {
          let whole = evaluate(facts, entitlement: entitlement, in: app, at: instant)
          let fast = evaluate(reduced, entitlement: entitlement, in: app, at: instant)
          #expect(fast == whole, "\(entitlement) at \(instant), selected at \(start)")
        }
      }
    }
  }

  @Test("An outline whose lines were replaced selects what a new one selects", arguments: UInt64(0)..<20)
  func incremental(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 21_000)
    let facts = customerWithManyLines(&random, isSimple: false)
    var outline = AccessOutline(CustomerFacts(appTransactions: facts.appTransactions), in: patientApp)
    for id in facts.lineIDs.shuffled(using: &random) {
      if Bool.random(using: &random) {
        let line = facts.ofLine(id)
        let part = CustomerFacts(transactions: Array(line.transactions.prefix(1)))
        outline.replace(id, with: part, in: patientApp)
      }
      outline.replace(id, with: facts.ofLine(id), in: patientApp)
    }
    outline.replaceGrants(facts.grants, in: patientApp)
    var new = AccessOutline(facts, in: patientApp)
    for day in stride(from: Int64(-5), to: 250, by: 17) {
      let (found, expected) = (outline.selection(from: at(day)), new.selection(from: at(day)))
      #expect(found.lines == expected.lines && found.omitted.starts == expected.omitted.starts)
    }
  }

  @Test("Of a thousand lines that grant the same access, a selection has a handful")
  func fewLines() {
    // Renewed without a break, overlapping, with gaps, and without an end.
    let overlapping = (0..<1_000).map { number in
      period(Int64(number)...Int64(number + 30), line: "S\(number)", id: "S\(number)")
    }
    let bought = (0..<1_000).map { number in
      purchase("lifetime", .nonConsumable, on: Int64(number), id: "N\(number)")
    }
    for transactions in [overlapping, bought] {
      let facts = CustomerFacts(
        ordered: transactions.sorted { $0.originalTransactionID < $1.originalTransactionID }, [])
      var outline = AccessOutline(facts, in: fullApp)
      for day in [Int64(0), 500, 999, 2_000] {
        // Purchases in the future are all selected.
        let future = transactions.count { $0.purchaseDate > at(day) }
        let selection = outline.selection(from: at(day))
        #expect(selection.lines.count - future <= 6)
        let reduced = facts.reduced(to: selection, of: outline)
        for entitlement in fullApp.entitlements where day > 900 {
          #expect(
            evaluate(reduced, entitlement: entitlement, in: fullApp, at: at(day))
              == evaluate(facts, entitlement: entitlement, in: fullApp, at: at(day)))
        }
      }
    }
  }

  /// A long line takes fifty times as long as another random life.
  @Test(
    "The tail of a long line gives the answers of the whole line",
    arguments: UInt64(0)..<UInt64(max(1, lifeCount(short: 1) / 50)))
  func tails(seed: UInt64) throws {
    var random = SplitMix64(state: seed &+ 22_000)
    var whole = CustomerFacts()
    var outline = AccessOutline(whole, in: patientApp)
    var tail = CustomerFacts()
    var day: Int64 = 0
    var rebuilt = 0
    for number in 0..<130 {
      var new = CustomerFacts()
      let end = day + .random(in: 5...10, using: &random)
      let product = ["monthly", "basic", "plus"].randomElement(using: &random)!
      new.insert(period(day...end, product, id: "T\(number)"))
      new.insert(
        renewal(signed: day, line: "L1") {
          $0.renewalDate = at(end)
          if Bool.random(using: &random) { $0.isInBillingRetry = true }
          if Bool.random(using: &random) { $0.gracePeriodExpiresDate = at(end + 16) }
        })
      whole.merge(new)
      if let head = outline.head(of: "L1"),
        let extended = tail.extendingTail(with: new, after: head.lastExpiry)
      {
        outline.replace("L1", with: extended, isTail: true, in: patientApp)
        let chunks = try #require(outline.head(of: "L1")).chunks - head.chunks
        tail = .joining(Array(extended.chunks(isTail: true).dropFirst(chunks)))
      } else {
        rebuilt += 1
        outline.replace("L1", with: whole, in: patientApp)
        tail = .joining(Array(whole.chunks(isTail: false).dropFirst(outline.head(of: "L1")?.chunks ?? 0)))
      }
      let selection = outline.selection(from: at(day))
      let reduced = CustomerFacts(
        lines: [selection.wholeLines.isEmpty ? tail : whole], grants: [], appTransactions: [],
        omitted: selection.omitted)
      for later in [0, 3, 9, 12, 30, 100] where number % 9 == 0 && number > 70 {
        for entitlement in patientApp.entitlements {
          let expected = evaluate(whole, entitlement: entitlement, in: patientApp, at: at(day + Int64(later)))
          let found = evaluate(reduced, entitlement: entitlement, in: patientApp, at: at(day + Int64(later)))
          #expect(found == expected, "\(entitlement) \(later) days after period \(number)")
        }
      }
      day += .random(in: 5...12, using: &random)
    }
    #expect(rebuilt < 100 && tail.transactions.count <= 80)
    #expect(CustomerFacts.joining(whole.chunks(isTail: false)) == whole)
  }

  @Test("A period that arrives after 40 later ones extends the tail of its line")
  func latePeriods() throws {
    let periods = (Int64(0)..<200).map { period($0 * 30...($0 * 30 + 30), id: "T\($0)") }
    for late in [160, 199] {
      var facts = CustomerFacts(ordered: periods.enumerated().filter { $0.offset != late }.map(\.element), [])
      let head = try #require(AccessOutline(facts, in: fullApp).head(of: "L1"))
      let tail = CustomerFacts.joining(Array(facts.chunks(isTail: false).dropFirst(head.chunks)))
      let new = CustomerFacts(transactions: [periods[late]])
      let extended = try #require(tail.extendingTail(with: new, after: head.lastExpiry))
      facts.merge(new)
      #expect(extended.transactions == Array(facts.transactions.suffix(tail.transactions.count + 1)))
    }
  }

  /// A customer with the lines of several random customers.
  private func customerWithManyLines(_ random: inout SplitMix64, isSimple: Bool) -> CustomerFacts {
    var facts = CustomerFacts()
    for number in 0..<6 {
      let part = randomCustomer(&random)
      for var transaction in part.transactions {
        if isSimple, transaction.type == .nonRenewingSubscription || transaction.productID == "mystery" {
          continue
        }
        transaction.originalTransactionID += "-\(number)"
        facts.insert(transaction)
      }
      for history in part.renewalHistories {
        for index in history.signatures.indices {
          var renewal = history.document(index)
          renewal.originalTransactionID += "-\(number)"
          facts.insert(renewal, knownAt: history.signatures[index].knownAt)
        }
      }
      if number == 0 {
        for grant in part.grants { facts.insert(grant) }
        for appTransaction in part.appTransactions { facts.insert(appTransaction) }
      }
    }
    return facts
  }
}

extension OmittedAccess {
  /// The spans without their order, which follows from that of the lines.
  fileprivate var starts: [String: Set<Span>] { spans.mapValues(Set.init) }
}

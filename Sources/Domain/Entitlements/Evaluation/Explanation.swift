package import AppStore

/// The facts and rules behind one answer.
package struct Explanation: Hashable, Sendable {
  /// One fact or rule and its result.
  package struct Step: Hashable, Sendable {
    /// The rule code, such as `PERIOD_COVERS_INSTANT`; part of the API.
    package let rule: String
    /// The result as an English sentence.
    package let sentence: String
    /// The transaction or grant id; empty if the step is about neither.
    package let transactionID: String
    /// The fact; `nil` if the step is about none.
    package fileprivate(set) var fact: AnyFact?
    /// When the fact starts to grant access; `nil` if it grants none.
    package let since: Instant?
    /// When it stops to grant access; `nil` for no end or no access.
    package let until: Instant?
    /// Whether the step decided the answer.
    package let isDecisive: Bool
  }

  /// The answer that is explained.
  package let status: EntitlementStatus
  /// All steps in the order of evaluation.
  package private(set) var steps: [Step] = []
  /// The contradictions among the facts.
  package let contradictions: [Contradiction]

  /// Explains the result of ``evaluate(_:entitlement:in:at:)``.
  package init(
    _ stored: borrowing CustomerFacts, entitlement: String, in app: borrowing AppDefinition, at now: Instant
  ) {
    let facts = stored.purchases(in: app)
    status = evaluate(facts, entitlement: entitlement, in: app, at: now)
    contradictions = Contradiction.all(stored.withoutCopies, in: app, at: now)
    guard let rules = app.rules(of: entitlement) else {
      add("UNKNOWN_ENTITLEMENT", status.reason.sentence, isDecisive: true)
      return
    }
    let intervals = AccessIntervals(facts, rules)
    let deciding = intervals.deciding(at: now) ?? intervals.last(before: now)
    addOtherProducts(facts, rules)
    for interval in intervals.all.sorted(by: { ($0.start, $0.end) < ($1.start, $1.end) }) {
      add(interval, facts, at: now, isDecisive: deciding.map { $0.isSame(as: interval) } ?? false)
    }
    if let index = deciding?.transaction, let renewal = facts.renewalDocument(of: index, at: now) {
      add(
        "RENEWAL_INFO", RenewalOutlook(renewal).sentence, facts.transactions[index].transactionID,
        .renewal(renewal))
    }
    addCopies(stored, facts)
    add(status.isEntitled ? "ENTITLED" : "NOT_ENTITLED", status.sentence, isDecisive: deciding == nil)
  }

  /// Adds a step for each copy, and replaces the merged facts of purchases by the stored ones, which evidence
  /// states.
  private mutating func addCopies(_ stored: borrowing CustomerFacts, _ facts: borrowing CustomerFacts) {
    guard stored.transactions.count > facts.transactions.count else { return }
    for index in steps.indices {
      guard case .transaction(let merged)? = steps[index].fact,
        let fact = stored.line(of: merged).first(where: { $0.isSame(as: merged) })
      else { continue }
      steps[index].fact = .transaction(fact)
    }
    for index in stored.transactions.indices {
      let copy = stored.transactions[index]
      let line = facts.line(of: copy)
      guard let purchase = line.first(where: { $0.isCopy(of: copy) }),
        !line.contains(where: { $0.isSame(as: copy) })
      else { continue }
      add(
        "COPY", "Transaction \(copy.transactionID) is a copy of \(purchase.transactionID): one purchase.",
        copy.transactionID, .transaction(copy))
    }
  }

  private mutating func add(
    _ rule: String, _ sentence: String, _ transactionID: String = "", _ fact: AnyFact? = nil,
    since: Instant? = nil, until: Instant? = nil, isDecisive: Bool = false
  ) {
    steps.append(
      Step(
        rule: rule, sentence: sentence, transactionID: transactionID, fact: fact, since: since,
        until: until, isDecisive: isDecisive))
  }

  /// Adds a step for each transaction that cannot grant the entitlement, so that a missing product in the
  /// catalog is seen.
  private mutating func addOtherProducts(
    _ facts: borrowing CustomerFacts, _ rules: EntitlementRules
  ) {
    for transaction in facts.transactions where rules.products[transaction.productID] == nil {
      let isKnown = rules.knownProducts.contains(transaction.productID)
      add(
        isKnown ? "OTHER_PRODUCT" : "UNKNOWN_PRODUCT",
        isKnown
          ? "\(transaction.productID) does not grant \(rules.entitlement)."
          : "The catalog has no product \(transaction.productID).", transaction.transactionID,
        .transaction(transaction))
    }
  }

  private mutating func add(
    _ interval: AccessInterval, _ facts: borrowing CustomerFacts, at now: Instant, isDecisive: Bool
  ) {
    let source = interval.source.name(facts, from: interval.start)
    let isEmpty = interval.start == interval.end
    let (relation, predicate) =
      isEmpty
      ? ("GIVES_NOTHING", "grants no access")
      : interval.covers(now)
        ? ("COVERS_INSTANT", "grants \(interval.level) access now")
        : interval.start > now
          ? ("BEGINS_LATER", "grants access later") : ("IS_OVER", "granted access before")
    var sentence = "\(interval.kind.text) of \(source.product) \(predicate)"
    if let reason = interval.cutReason(facts) { sentence += "; \(reason)" }
    add(
      "\(interval.kind.rule)_\(relation)", sentence + ".", source.id,
      interval.fact(facts),
      since: isEmpty ? nil : interval.start, until: isEmpty ? nil : interval.end.bounded,
      isDecisive: isDecisive)
  }
}

extension CustomerFacts {
  /// The transactions of the same line.
  fileprivate func line(of transaction: TransactionFact) -> ArraySlice<TransactionFact> {
    transactions[range(ofLine: transaction.originalTransactionID)]
  }
}

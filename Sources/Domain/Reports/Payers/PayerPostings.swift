package import AppStore
package import Entitlements

/// All postings of one payer, which is one Apple account in one app.
package struct PayerPostings: Sendable {
  /// Those up to the instant of the derivation.
  package private(set) var postings: [Posting] = []
  /// When time alone adds or takes back a posting; `nil`: never.
  package private(set) var due: Instant?
  private let now: Instant

  /// Derives the postings from the facts of all purchases of the payer, as they are at `now`.
  ///
  /// The result depends on the set of facts alone. Purchases of others that are shared with the payer are no postings.
  ///
  /// - claims: by `originalTransactionId`; a purchase without any has no owner.
  /// - requests: the refund requests about the purchases, in any order; those about others are left out.
  /// - consents: the withdrawn consents of the app install, if the facts are those of one.
  package init(
    _ facts: borrowing CustomerFacts, in app: AppDefinition, at now: Instant,
    claims: [String: PurchaseClaims] = [:], requests: [RefundRequest] = [],
    consents: [WithdrawnConsent] = []
  ) {
    self.now = now
    // Apple documents a non-consumable again for each device that restores it.
    let facts = facts.purchases(in: app)
    let history = PayerHistory(facts, in: app)
    var ofCohorts: [Posting] = []
    for subscription in history.lines {
      var walk = SubscriptionWalk(subscription, history, app, facts, at: now)
      walk.refundRequests = requests.filter { subscription.lines.contains($0.line) }.map(\.askedAt)
      walk.run(facts)
      walk.addUnclaimed(claims)
      for index in walk.postings.indices where walk.postings[index].kind == .activeOfCohort {
        ofCohorts.append(walk.postings[index])
      }
      take(&walk.postings)
      if let check = walk.check { mustDerive(at: check) }
    }
    add(PayerCohorts(ofCohorts).postings)
    add(MoneyPostings(facts, history).postings)
    add(PaidServicePostings(facts, history).postings)
    add(OwnedPostings(facts, history, app).postings)
    add(RefundRequestPostings(requests, facts, history).postings)
    add(ConsentPostings(consents, app).postings)
  }

  private mutating func add(_ all: consuming [Posting]) { take(&all) }

  /// Moves the postings that count at ``now``. The first ones are not copied: they are most of them, and each has several
  /// reference counts.
  private mutating func take(_ all: inout [Posting]) {
    var areAllDue = true
    for index in all.indices where all[index].effectiveAt > now {
      areAllDue = false
      mustDerive(at: all[index].effectiveAt)
    }
    if !areAllDue { all.removeAll { $0.effectiveAt > now } }
    if postings.isEmpty {
      swap(&postings, &all)
    } else {
      postings += all
    }
  }

  private mutating func mustDerive(at instant: Instant) {
    guard instant > now, instant < .openEnd else { return }
    due = min(due ?? instant, instant)
  }
}

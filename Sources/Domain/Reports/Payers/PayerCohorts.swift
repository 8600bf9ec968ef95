internal import AppStore

/// The number of payers of each cohort with an active subscription of a group: a payer counts once, whatever
/// the number of subscriptions.
struct PayerCohorts {
  private(set) var postings: [Posting] = []

  /// - subscriptions: the postings of ``Posting/Kind/activeOfCohort`` of all purchases of one payer.
  init(_ subscriptions: [Posting]) {
    // A purchase that replaced another one may be of another group; its subscription stays in its cohort.
    for changes in Self.byGroup(subscriptions) {
      // Of one instant, what comes precedes what goes, so that a change between two purchases is none.
      let inOrder = changes.sorted {
        ($0.effectiveAt, -$0.count, $0.line) < ($1.effectiveAt, -$1.count, $1.line)
      }
      guard let cohort = inOrder.first?.cohort else { continue }
      postings.append(
        inOrder[0].with {
          ($0.kind, $0.count, $0.cohort) = (.payerJoined, 1, cohort.at(cohort.day))
        })
      var active: Int64 = 0
      for change in inOrder {
        let before = active
        active += change.count
        guard (before == 0) != (active == 0) else { continue }
        postings.append(
          change.with {
            $0.kind = .payerActiveOfCohort
            $0.cohort = cohort.at(ReportDay(change.effectiveAt))
          })
      }
    }
  }

  private static func byGroup(_ subscriptions: [Posting]) -> [[Posting]] {
    // Most payers have subscriptions of one group.
    let first = subscriptions.first?.cohort?.dimensions.group
    if subscriptions.allSatisfy({ $0.cohort?.dimensions.group == first }) { return [subscriptions] }
    // In an order that is the same in every process: the standing postings are compared in theirs.
    return Dictionary(grouping: subscriptions, by: \.cohort?.dimensions.group)
      .sorted { ($0.key ?? "", $0.key == nil ? 0 : 1) < ($1.key ?? "", $1.key == nil ? 0 : 1) }
      .map(\.value)
  }
}

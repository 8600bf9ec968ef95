package import AppStore
internal import Entitlements

/// A consent of a parent or guardian that was withdrawn for an app install (`RESCIND_CONSENT`).
package struct WithdrawnConsent: Hashable, Sendable {
  /// The line of the app install.
  package let line: String
  /// When it was withdrawn, by Apple's notification.
  package let withdrawnAt: Instant
  /// When the operator settled it; `nil` if that did not happen.
  package let settledAt: Instant?

  /// The withdrawals of one app install. A settlement is of all earlier withdrawals that are open.
  package static func all(
    ofLine line: String, withdrawals: [Instant], settlements: [Instant]
  ) -> [WithdrawnConsent] {
    // Apple can report a withdrawal again.
    Set(withdrawals).sorted().map { instant in
      WithdrawnConsent(
        line: line, withdrawnAt: instant, settledAt: settlements.filter { $0 >= instant }.min())
    }
  }
}

/// Withdrawn consents and their settlements. All postings of a withdrawal are of the cohort of its day.
struct ConsentPostings {
  private(set) var postings: [Posting] = []

  init(_ consents: [WithdrawnConsent], _ app: borrowing AppDefinition) {
    for consent in consents {
      var withdrawn = Posting(
        .consentWithdrawn, at: consent.withdrawnAt, line: consent.line, transactionID: "",
        Posting.Dimensions(productID: ""))
      withdrawn.count = 1
      withdrawn.cohort = Posting.Cohort(
        day: ReportDay(consent.withdrawnAt), dimensions: withdrawn.dimensions)
      postings.append(withdrawn)
      if let settledAt = consent.settledAt {
        postings.append(withdrawn.with { ($0.kind, $0.effectiveAt) = (.consentSettled, settledAt) })
      }
      let deadline = app.settleBy(withdrawnAt: consent.withdrawnAt)
      guard consent.settledAt.map({ $0 >= deadline }) ?? true else { continue }
      postings.append(withdrawn.with { ($0.kind, $0.effectiveAt) = (.consentOverdue, deadline) })
    }
  }
}

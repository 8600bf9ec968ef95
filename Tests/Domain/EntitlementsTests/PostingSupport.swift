import AppStore
import Entitlements
import Reports
import TestSupport

/// The postings of a payer with these facts, as of a day, in the order of their instants.
func postings(_ facts: CustomerFacts, on day: Int64) -> [Posting] {
  PayerPostings(facts, in: app, at: at(day)).postings.enumerated()
    .sorted { ($0.element.effectiveAt, $0.offset) < ($1.element.effectiveAt, $1.offset) }.map(\.element)
}

/// The beginnings, renewals and ends of subscriptions of these facts, as of a day.
func movements(_ facts: CustomerFacts, on day: Int64) -> [Posting.Kind] {
  let kinds: Set<Posting.Kind> = [
    .startedPaid, .resubscribed, .converted, .recovered, .renewed, .lapsedVoluntary, .lapsedBilling,
    .lapsedOther, .refundedOut,
  ]
  return postings(facts, on: day).map(\.kind).filter(kinds.contains)
}

/// The charges and refunds of these facts.
func charges(_ facts: CustomerFacts) -> [Posting] {
  postings(facts, on: 1000).filter { $0.kind == .charge || $0.kind == .refund }
}

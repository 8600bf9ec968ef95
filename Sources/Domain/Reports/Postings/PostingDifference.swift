internal import AppStore

/// What must be appended so that the standing postings of some purchases become those that the facts give.
package struct PostingDifference: Hashable, Sendable {
  /// Reversals first, then new postings, each in the order of its instant.
  package let postings: [Posting]

  package init(standing: [Posting], derived: [Posting]) {
    // Postings that differ in their sums only are of the same thing.
    var balance: [Posting: Int64] = [:]
    for posting in derived.standing { balance[posting, default: 0] += 1 }
    for posting in standing { balance[posting, default: 0] -= 1 }
    var (reversals, additions): ([Posting], [Posting]) = ([], [])
    for (posting, count) in balance where count != 0 {
      if count < 0 { reversals += Array(repeating: posting.reversed, count: Int(-count)) }
      if count > 0 { additions += Array(repeating: posting, count: Int(count)) }
    }
    postings = reversals.sorted(by: Self.precedes) + additions.sorted(by: Self.precedes)
  }

  private static func precedes(_ left: Posting, _ right: Posting) -> Bool {
    guard left.effectiveAt == right.effectiveAt else { return left.effectiveAt < right.effectiveAt }
    guard left.kind == right.kind else { return left.kind.rawValue < right.kind.rawValue }
    return (left.line, left.transactionID, left.dimensions.productID, left.count)
      < (right.line, right.transactionID, right.dimensions.productID, right.count)
  }
}

extension [Posting] {
  /// The postings that no other one takes back.
  package var standing: [Posting] {
    var balance: [Posting: Int] = [:]
    for posting in self {
      if let open = balance[posting.reversed], open > 0 {
        balance[posting.reversed] = open - 1
      } else {
        balance[posting, default: 0] += 1
      }
    }
    return balance.flatMap { Array(repeating: $0.key, count: $0.value) }
  }
}

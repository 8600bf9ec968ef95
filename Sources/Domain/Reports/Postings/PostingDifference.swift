internal import AppStore

/// The postings to append so that the standing postings of a purchase become those that the facts give.
package struct PostingDifference: Sendable {
  /// The fingerprints of the standing postings that must be taken back.
  package let removed: [UInt64]
  /// The postings to add.
  package let added: [Posting]
  /// The fingerprints of the standing postings afterwards.
  package let standing: [UInt64]

  /// Compares standing postings, by fingerprint in their order, with those of the facts. Equal ones stay, each as
  /// often as both have it.
  package init(standing: [UInt64], derived: [Posting]) {
    var all: [UInt64] = []
    all.reserveCapacity(derived.count)
    // Mostly new postings come between standing ones that keep their order.
    var matched = 0
    var unmatched: [Int] = []
    for index in derived.indices {
      let fingerprint = derived.fingerprint(at: index)
      all.append(fingerprint)
      if matched < standing.count, standing[matched] == fingerprint {
        matched += 1
      } else {
        unmatched.append(index)
      }
    }
    self.standing = all
    // A new purchase has none.
    guard !standing.isEmpty else {
      (added, removed) = (derived, [])
      return
    }
    var balance: [UInt64: Int] = [:]
    for fingerprint in standing[matched...] { balance[fingerprint, default: 0] += 1 }
    var added: [Posting] = []
    for index in unmatched {
      if let count = balance[all[index]], count > 0 {
        balance[all[index]] = count - 1
      } else {
        added.append(derived[index])
      }
    }
    self.added = added
    removed = balance.filter { $0.value > 0 }.sorted { $0.key < $1.key }
      .flatMap { Array(repeating: $0.key, count: $0.value) }
  }
}

extension Posting {
  /// A hash of all members but ``line``, equal in every process: it is stored. Only postings of one purchase are compared.
  package var fingerprint: UInt64 { [self].fingerprint(at: 0) }
}

extension [Posting] {
  /// The ``Posting/fingerprint`` of an element, without a copy of the element.
  fileprivate func fingerprint(at index: Int) -> UInt64 {
    var hash = PostingHash()
    hash.add(UInt64(bitPattern: self[index].kind.rawValue))
    hash.add(UInt64(bitPattern: self[index].effectiveAt.millisecondsSince1970))
    hash.add(self[index].transactionID)
    hash.add(self[index].reason)
    hash.add(self[index].currency)
    hash.add(self[index].dimensions)
    if let cohort = self[index].cohort {
      hash.add(UInt64(bitPattern: cohort.day.number))
      hash.add(UInt64(bitPattern: cohort.age))
      hash.add(cohort.dimensions)
    }
    hash.add(UInt64(bitPattern: self[index].marks))
    hash.add(UInt64(bitPattern: self[index].count))
    hash.add(UInt64(bitPattern: self[index].amount))
    hash.add(UInt64(bitPattern: self[index].proceeds))
    if let chargedOn = self[index].chargedOn { hash.add(UInt64(bitPattern: chargedOn.number)) }
    return hash.value
  }

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

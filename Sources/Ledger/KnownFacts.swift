package import AppStore
package import Entitlements
package import Store

/// What was known when: the facts of a customer rebuilt from the evidence that had arrived by then.
package enum KnownFacts {
  /// The facts of the lines that were the customer's at `moment`, as far as evidence had arrived that told
  /// of them; grants and copies of the app included.
  package static func facts(
    of customer: CustomerKey, knownAt moment: Instant, in reader: any StoreReader
  ) throws(StoreError) -> CustomerFacts {
    var lines: Set<LineKey> = []
    for change in try reader.ownershipChanges(of: customer) where change.at <= moment {
      if change.gained { lines.insert(change.line) } else { lines.remove(change.line) }
    }
    var facts = CustomerFacts()
    for line in lines {
      for evidence in try reader.evidence(about: line) where evidence.evidence.receivedAt <= moment {
        facts.take(Testimony(evidence.evidence), about: line)
      }
    }
    return facts
  }
}

extension CustomerFacts {
  /// Takes in what is said of one line.
  mutating func take(_ testimony: Testimony, about line: LineKey) {
    switch testimony {
    case .transaction(let fact): insert(fact)
    case .renewal(let fact): insert(fact)
    case .appTransaction(let fact): insert(fact)
    case .command(let command):
      switch command.action {
      case .grant(let fact, _, _) where fact.grantID == line.originalTransactionID: insert(fact)
      case .revokeGrant(let fact) where fact.grantID == line.originalTransactionID: insert(fact)
      case .grant, .revokeGrant, .move, .merge, .undo, .erase: break
      }
    case .notification(let contents):
      for part in contents.testimonies
      where part.line(of: line)?.originalTransactionID == line.originalTransactionID {
        take(part, about: line)
      }
    case .nothing: break
    }
  }
}

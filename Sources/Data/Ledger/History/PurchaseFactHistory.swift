internal import AppStore
package import Entitlements
package import Store

/// The facts of some purchases as they were known after each piece of evidence, rebuilt from evidence.
///
/// It reads all evidence about the purchases, once. That suits a rebuild of derived data, and evidence that waited for
/// longer than a day.
package struct PurchaseFactHistory {
  /// A piece of evidence about the purchase, and what it states.
  private struct Document {
    let evidence: EvidenceID
    let knownAt: Instant
    let items: [DecodedItem]
  }

  private var documents: [LineKey: [Document]] = [:]
  /// The stored facts of the purchases with evidence whose body was purged.
  private var storedFacts: [LineKey: CustomerFacts] = [:]

  /// Reads the history of `lines`.
  /// Of a line with purged bodies it also reads the stored facts.
  package init(of lines: [LineKey], in store: any StoreTransaction) throws(StoreError) {
    for line in lines {
      var isPurged = false
      documents[line] = try store.evidence(about: line).map { stored in
        isPurged = isPurged || stored.evidence.content.body == nil
        return Document(
          evidence: stored.id, knownAt: stored.knownAt, items: EvidenceDecoder.decode(stored.evidence))
      }
      if isPurged { storedFacts[line] = try store.facts(of: line) }
    }
  }

  /// Returns the facts of the purchases after `evidence` was stored, for each payer apart: purchases whose documents
  /// name the same app install by then are of one payer.
  package func payers(through evidence: EvidenceID) -> [(lines: [LineKey], facts: CustomerFacts)] {
    var payers: [(lines: [LineKey], installs: Set<String>, facts: CustomerFacts)] = []
    for (line, documents) in documents.sorted(by: { $0.key.lineID < $1.key.lineID }) {
      let known = documents.filter { $0.evidence <= evidence }
      guard let last = known.last else { continue }
      var facts = storedFacts[line]?.known(at: last.knownAt) ?? CustomerFacts()
      for document in known {
        for item in document.items { facts.apply(item, about: line, knownAt: document.knownAt) }
      }
      var payer = (lines: [line], installs: facts.appInstalls, facts: facts)
      payers.removeAll { other in
        guard !other.installs.isDisjoint(with: payer.installs) else { return false }
        payer.lines += other.lines
        payer.installs.formUnion(other.installs)
        payer.facts.merge(other.facts)
        return true
      }
      payers.append(payer)
    }
    return payers.map { ($0.lines, $0.facts) }
  }
}

extension CustomerFacts {
  /// The app installs that the transactions name.
  fileprivate var appInstalls: Set<String> {
    Set(transactions.compactMap(\.details.appTransactionID).filter { !$0.isEmpty })
  }
}

internal import Entitlements
internal import Store

// Erasure, after the last events of the customer.
extension Derivation {
  /// Replaces the erased customers in the rows and in the evidence, and emits an event to each pseudonym.
  mutating func erase() throws(StoreError) {
    let people = changes.erasures.filter { !$0.isReplayed }
    var ownLines: [LineKey] = []
    for line in people.flatMap(\.lines) where try lines.owners(of: line).isEmpty { ownLines.append(line) }
    let redaction = DocumentRedaction(
      customers: people.map { (id: $0.customer.customerID, pseudonym: $0.pseudonym) },
      tokens: changes.erasedTokens, lines: Set(ownLines))
    for erasure in people { derived.erasedRows += try redact(erasure, redaction) }
    for line in ownLines {
      derived.erasedRows += try store.eraseRequestIDs(of: line) + store.eraseInstallations(of: line)
    }
    // While the rows still name the customers. One of them may have acted for another, before they were merged.
    let (ids, pseudonyms) = (people.map(\.customer.customerID), people.map(\.pseudonym))
    for erasure in people {
      derived.erasedRows += try store.renameActors(ofCommandsAbout: erasure.customer) { actor in
        actor.replacingActors(ids, with: pseudonyms)
      }
    }
    for erasure in changes.erasures {
      let (customer, pseudonym) = (erasure.customer, erasure.pseudonym)
      derived.erasedRows += erasure.rows + (try store.erase(customer, as: pseudonym))
      try emit(
        .withoutEntitlement(.customerErased, nil, at: now), to: customer.other(pseudonym),
        by: ChangeOrigin(cause: .ownership, evidence: erasure.evidence, actor: erasure.actor))
    }
    derived.erasedNames = redaction.names
  }

  /// Removes the person from the evidence that names the customer, and from that about the customer's lines.
  ///
  /// - Returns: the number of changed pieces.
  private func redact(
    _ erasure: ChangeSet.Erasure, _ redaction: DocumentRedaction
  ) throws(StoreError) -> Int64 {
    var found: [EvidenceID: (stored: StoredEvidence, belongsToPerson: Bool)] = [:]
    for stored in try store.evidence(naming: erasure.customer) { found[stored.id] = (stored, true) }
    for line in erasure.lines {
      for stored in try store.evidence(about: line) where found[stored.id] == nil {
        found[stored.id] = (stored, stored.evidence.customerID == nil && redaction.lines.contains(line))
      }
    }
    var count: Int64 = 0
    for (id, (stored, belongsToPerson)) in found.sorted(by: { $0.key < $1.key }) {
      guard let content = redaction.content(of: stored, belongsToPerson: belongsToPerson) else { continue }
      try store.replace(id, with: content)
      count += 1
    }
    return count
  }
}

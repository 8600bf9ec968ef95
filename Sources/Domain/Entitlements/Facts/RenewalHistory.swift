package import AppStore

/// All verified renewal infos of one subscription, in the order of their signatures.
///
/// Apple signs the same content again in each response, so each distinct content is stored once and a
/// repetition takes only its two dates. The value depends on the set of documents alone, not on the order in
/// which they arrived.
package struct RenewalHistory: Hashable, Sendable {
  /// One signed document.
  package struct Signature: Hashable, Sendable {
    /// When Apple signed it.
    package let signedDate: Instant
    /// When the service first had it.
    package fileprivate(set) var knownAt: Instant
    /// The index of its content in ``RenewalHistory/contents``.
    package fileprivate(set) var content: Int

    /// Creates a signature from its stored parts.
    package init(signedDate: Instant, knownAt: Instant, content: Int) {
      self.signedDate = signedDate
      self.knownAt = knownAt
      self.content = content
    }

    /// The first instant at which it counts. A document that was signed in the future of the service's clock
    /// counts from its arrival.
    package var inForceFrom: Instant { min(signedDate, knownAt) }
  }

  /// The subscription's `originalTransactionId`.
  package let originalTransactionID: String
  /// The distinct contents, without signature dates, in the order of their first signature.
  package private(set) var contents: [RenewalFact]
  /// The documents in the order of their signatures; of documents signed in the same millisecond the one that
  /// supersedes the others is the last. Never empty.
  package private(set) var signatures: [Signature]

  /// Creates a history with one document.
  package init(_ fact: RenewalFact, knownAt: Instant) {
    originalTransactionID = fact.originalTransactionID
    contents = [fact.unsigned]
    signatures = [Signature(signedDate: fact.signedDate, knownAt: knownAt, content: 0)]
  }

  /// Recreates a history from its stored parts; `nil` if they cannot be those of a history.
  package init?(_ originalTransactionID: String, contents: [RenewalFact], signatures: [Signature]) {
    guard !signatures.isEmpty, signatures.allSatisfy({ contents.indices.contains($0.content) }) else {
      return nil
    }
    self.originalTransactionID = originalTransactionID
    self.contents = contents
    self.signatures = signatures
  }

  /// The document with the latest signature.
  package var latest: RenewalFact { document(signatures.count - 1) }

  /// The date of the latest signature.
  package var latestSignedDate: Instant { signatures[signatures.count - 1].signedDate }

  /// The document at an index of ``signatures``.
  package func document(_ index: Int) -> RenewalFact {
    var fact = contents[signatures[index].content]
    fact.signedDate = signatures[index].signedDate
    return fact
  }

  /// Whether an equal document is stored.
  package func contains(_ fact: RenewalFact) -> Bool {
    signatures.indices.contains { signatures[$0].signedDate == fact.signedDate && document($0) == fact }
  }

  /// The part that was known at `instant`; `nil` if no document was.
  package func known(at instant: Instant) -> RenewalHistory? {
    var known: RenewalHistory?
    for (index, signature) in signatures.enumerated() where signature.knownAt <= instant {
      known.insert(document(index), knownAt: signature.knownAt)
    }
    return known
  }

  /// Whether any of the documents reports that Apple retries a failed payment.
  var reportsBillingRetry: Bool { contents.indices.contains { contents[$0].isInBillingRetry } }

  /// When documents that were signed in the future count, without repetitions.
  func changes(after now: Instant) -> [Instant] {
    var changes: [Instant] = []
    for index in signatures.indices.reversed() {
      guard signatures[index].signedDate > now else { break }
      let content = signatures[index].content
      let isRepetition = index > 0 && signatures[index - 1].content == content
      // Without a renewal date, and of a failure, the date of each signature counts.
      let mayDiffer = contents[content].renewalDate == nil || contents[content].hasFailed
      guard signatures[index].inForceFrom > now, !isRepetition || mayDiffer else { continue }
      changes.append(signatures[index].inForceFrom)
    }
    return changes
  }

  /// Adds all documents of `other`, which is about the same subscription.
  package mutating func merge(_ other: RenewalHistory) {
    for (index, signature) in other.signatures.enumerated() {
      insert(other.document(index), knownAt: signature.knownAt)
    }
  }

  /// Joins the parts of one history, in the order of their signatures; `nil` if there is none. Parts that overlap are
  /// merged, which takes longer.
  package static func joining(_ parts: [RenewalHistory]) -> RenewalHistory? {
    guard var whole = parts.first else { return nil }
    guard parts.count > 1 else { return whole }
    var known = Dictionary(
      whole.contents.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
    for part in parts.dropFirst() {
      guard whole.latestSignedDate < part.signatures[0].signedDate else {
        whole.merge(part)
        known = Dictionary(
          whole.contents.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first }
        )
        continue
      }
      let numbers = part.contents.map { content in
        if let number = known[content] { return number }
        whole.contents.append(content)
        known[content] = whole.contents.count - 1
        return whole.contents.count - 1
      }
      whole.signatures += part.signatures.map { signature in
        Signature(
          signedDate: signature.signedDate, knownAt: signature.knownAt, content: numbers[signature.content])
      }
    }
    return whole
  }

  /// Splits the history into parts of `size` signatures, which ``joining(_:)`` joins.
  package func parts(of size: Int) -> [RenewalHistory] {
    guard signatures.count > size else { return [self] }
    return stride(from: 0, to: signatures.count, by: size).compactMap { start in
      part(signatures.indices[start...].prefix(size))
    }
  }

  /// The documents with these indices, in ascending order; `nil` if there are none.
  func part(_ indices: some Collection<Int>) -> RenewalHistory? {
    var contents: [RenewalFact] = []
    var numbers: [Int: Int] = [:]
    var signatures: [Signature] = []
    for index in indices {
      var signature = self.signatures[index]
      let number = numbers[signature.content] ?? contents.count
      if number == contents.count {
        contents.append(self.contents[signature.content])
        numbers[signature.content] = number
      }
      signature.content = number
      signatures.append(signature)
    }
    return RenewalHistory(originalTransactionID, contents: contents, signatures: signatures)
  }

  /// Adds a document; of two arrivals of one document the earlier one counts.
  @discardableResult
  package mutating func insert(_ fact: RenewalFact, knownAt: Instant) -> FactInsertion {
    let content = fact.unsigned
    // Mostly a repetition of the last content, or a new content.
    let known = contents.lastIndex(of: content)
    if let stored = index(of: known, signed: fact.signedDate) {
      guard knownAt < signatures[stored].knownAt else { return .duplicate }
      signatures[stored].knownAt = knownAt
      return stored == signatures.count - 1 ? .latest : .older
    }
    var position = signatures.count
    while position > 0, isSuperseded(content, signed: fact.signedDate, by: position - 1) { position -= 1 }
    if known == nil { contents.append(content) }
    let isLatest = position == signatures.count
    signatures.insert(
      Signature(signedDate: fact.signedDate, knownAt: knownAt, content: known ?? contents.count - 1),
      at: position)
    if !isLatest { sortContents() }
    return isLatest ? .latest : .older
  }

  /// The index of the document with a content and date; `nil` if it is not stored.
  private func index(of content: Int?, signed date: Instant) -> Int? {
    guard let content else { return nil }
    var index = signatures.count - 1
    while index >= 0, signatures[index].signedDate >= date {
      if signatures[index].signedDate == date, signatures[index].content == content { return index }
      index -= 1
    }
    return nil
  }

  /// Whether the document at `index` comes after one with this content and date.
  private func isSuperseded(_ content: RenewalFact, signed date: Instant, by index: Int) -> Bool {
    guard signatures[index].signedDate == date else { return signatures[index].signedDate > date }
    return contents[signatures[index].content].supersedes(content)
  }

  /// Brings the contents into the order of their first signature.
  private mutating func sortContents() {
    var order: [Int] = []
    var place = [Int?](repeating: nil, count: contents.count)
    for index in signatures.indices {
      let old = signatures[index].content
      if place[old] == nil {
        place[old] = order.count
        order.append(old)
      }
      signatures[index].content = place[old] ?? old
    }
    contents = order.map { contents[$0] }
  }
}

extension RenewalHistory? {
  /// Adds a document to the history, or starts it.
  package mutating func insert(_ fact: RenewalFact, knownAt: Instant) {
    if self?.insert(fact, knownAt: knownAt) == nil { self = RenewalHistory(fact, knownAt: knownAt) }
  }
}

extension RenewalFact {
  /// The content without the date of its signature.
  fileprivate var unsigned: RenewalFact {
    var fact = self
    fact.signedDate = Instant(millisecondsSince1970: 0)
    return fact
  }
}

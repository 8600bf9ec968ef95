/// Reads the stored answers of customers without blocking the calling thread, for a database across a network.
package protocol AnswerLoader: Sendable {
  /// Requests the answers of a customer; they are read after the next ``flush()``. `completion` runs on any thread, which
  /// it must not block.
  func load(
    _ customer: CustomerKey, _ completion: @escaping @Sendable (Result<LoadedAnswers, StoreError>) -> Void)

  /// Reads what was requested, all customers together.
  func flush()
}

/// The stored answers of a customer.
package struct LoadedAnswers: Hashable, Sendable {
  /// The result of the read for one customer.
  package enum Content: Hashable, Sendable {
    /// Encoded by ``AnswerCoding``. The facts, of this number of bytes, must be evaluated for others.
    case answers([UInt8], factBytes: Int64)
    /// The customer has no facts.
    case unknownCustomer
    /// Another customer has the same hash; a snapshot must be read.
    case ambiguous
  }

  /// The answers, or the reason why there are none.
  package let content: Content
  /// The last commit that they are certain to include; see ``CustomerVersions``.
  package let version: UInt64

  package init(_ content: Content, version: UInt64) {
    self.content = content
    self.version = version
  }
}

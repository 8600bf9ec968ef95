/// The answers of a service that runs in the same process, for pages that show them beside what happens in the sandbox.
/// The service's program implements it; the sandbox alone has none.
package protocol ServiceAnswers: Sendable {
  /// Returns the number of the latest change of an answer about an app; `nil` if changes are not shown.
  func lastChange(of app: String) async -> Int64?

  /// Returns at most `limit` changes of answers about an app after the one with a number, in their order.
  func changes(of app: String, after number: Int64, limit: Int) async -> [AnswerChange]
}

/// A change of the service's answer about one customer and entitlement.
package struct AnswerChange: Hashable, Sendable {
  /// An answer of the service.
  package struct Answer: Hashable, Sendable {
    /// The stable code, such as `IN_GRACE_PERIOD`.
    package let reason: String
    /// Whether the entitlement is granted, in full or in part.
    package let isEntitled: Bool

    /// Creates an answer.
    package init(reason: String, isEntitled: Bool) {
      (self.reason, self.isEntitled) = (reason, isEntitled)
    }
  }

  /// The id of the customer.
  package let customer: String
  /// The name of the entitlement.
  package let entitlement: String
  package let before: Answer
  package let after: Answer

  package init(customer: String, entitlement: String, before: Answer, after: Answer) {
    (self.customer, self.entitlement) = (customer, entitlement)
    (self.before, self.after) = (before, after)
  }
}

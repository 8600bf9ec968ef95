internal import Entitlements
package import Store

// Notes and attributes of customers. They are commands, so they are evidence, and an erasure removes them.
extension EvidenceLedger {
  /// Adds a note about a customer or its merge target. Durable on return.
  ///
  /// - Throws: ``LedgerError/invalid(field:problem:)`` for an empty text.
  package func addNote(
    _ text: String, about customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    guard !text.isEmpty else { throw .invalid(field: "text", problem: "is empty") }
    return try await run(scope, reading: scope.reads(customers: [customerID])) {
      handler throws(LedgerError) in
      try handler.addNote(text, about: customerID)
    }
  }

  /// Deletes a note; a second call changes nothing. Its environment replaces the scope's. Durable on return.
  ///
  /// - Throws: ``LedgerError/unknownNote(_:)``.
  package func deleteNote(
    _ noteID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in try handler.deleteNote(noteID) }
  }

  /// Sets attributes of a customer or its merge target, and removes those whose value is empty. The
  /// others stay. Durable on return.
  ///
  /// - Throws: ``LedgerError/invalid(field:problem:)`` for a malformed or repeated name, and if there would be more than
  ///   ``CustomerAttributeRules/maxCount``.
  package func setAttributes(
    _ attributes: [CustomerAttribute], of customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    guard Set(attributes.map(\.name)).count == attributes.count else {
      throw .invalid(field: "attributes", problem: "name one attribute twice")
    }
    for attribute in attributes where !CustomerAttributeRules.isName(attribute.name) {
      throw .invalid(
        field: "attributes",
        problem:
          "have the name '\(attribute.name)', which is not 1 to 64 letters, digits, '_', '-', '.' or ':'")
    }
    return try await run(scope, reading: scope.reads(customers: [customerID])) {
      handler throws(LedgerError) in
      try handler.setAttributes(attributes, of: customerID)
    }
  }

  /// The pseudonym of an erased customer; `nil` if the customer was not erased.
  package func pseudonym(
    of customer: CustomerKey, in reader: any StoreSnapshot
  ) throws(StoreError) -> String? {
    try reader.pseudonym(ofCustomerHash: erasures.hash(of: customer))
  }
}

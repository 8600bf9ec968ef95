package import AppStore

/// A note of the operator's staff about a customer.
package struct CustomerNote: Hashable, Sendable {
  /// The evidence of the command that added it, which identifies it.
  package let id: EvidenceID
  package let customer: CustomerKey
  /// The text as it was written, not escaped.
  package let text: String
  /// The operator's user.
  package let actor: String
  /// By the service's clock.
  package let createdAt: Instant

  package init(id: EvidenceID, customer: CustomerKey, text: String, actor: String, createdAt: Instant) {
    self.id = id
    self.customer = customer
    self.text = text
    self.actor = actor
    self.createdAt = createdAt
  }
}

/// A name and a value that the operator attaches to a customer, by ``CustomerAttributeRules``.
package struct CustomerAttribute: Hashable, Sendable {
  /// Unique among the attributes of a customer.
  package let name: String
  /// Empty in a change that removes the attribute.
  package let value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// Reads notes and attributes, the same in a snapshot and in a transaction.
package protocol NoteReader {
  /// Returns a note; `nil` if it does not exist or was deleted.
  func note(_ id: EvidenceID) throws(StoreError) -> CustomerNote?

  /// Returns at most `limit` notes about a customer, and about the customers merged into it, with an id below `before`,
  /// newest first.
  func notes(about customer: CustomerKey, before: EvidenceID?, limit: Int) throws(StoreError)
    -> [CustomerNote]

  /// Returns the attributes of a customer, by name.
  func attributes(of customer: CustomerKey) throws(StoreError) -> [CustomerAttribute]
}

/// Stores notes and attributes.
package protocol NoteStore: NoteReader {
  /// Inserts a note.
  func put(_ note: CustomerNote) throws(StoreError)

  /// Deletes a note, if it exists.
  func deleteNote(_ id: EvidenceID) throws(StoreError)

  /// Sets an attribute, or removes it if its value is empty.
  func put(_ attribute: CustomerAttribute, of customer: CustomerKey, from evidence: EvidenceID)
    throws(StoreError)
}

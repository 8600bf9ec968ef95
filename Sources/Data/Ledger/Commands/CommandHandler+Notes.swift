internal import AppStore
internal import Entitlements
internal import Store

// Notes and attributes, which affect no answer.
extension CommandHandler {
  func addNote(_ text: String, about customerID: String) throws(LedgerError) -> CommandResult {
    let customer = try current(customerID)
    var result = try execute(
      .addNote(text, customerID: customer.customerID, at: now), onBehalfOf: customer.customerID)
    result.note = try inStore { () throws(StoreError) in try result.evidenceID.flatMap(store.note) }
    result.customer = customer
    return result
  }

  /// Deletes a note. Its environment replaces the handler's. A note that was deleted before stays deleted.
  func deleteNote(_ noteID: String) throws(LedgerError) -> CommandResult {
    guard let id = CustomerNote.id(noteID) else { throw .unknownNote(noteID) }
    let (note, evidence) = try inStore { () throws(StoreError) in
      (try store.note(id), try store.evidence(id)?.evidence)
    }
    guard let evidence, evidence.appID == appID, let environment = evidence.environment,
      let command = EvidenceDecoder.command(in: evidence), case .addNote = command.action
    else { throw .unknownNote(noteID) }
    guard let note else { return CommandResult() }
    return try handler(in: environment).execute(
      .deleteNote(id, customerID: note.customer.customerID), onBehalfOf: note.customer.customerID)
  }

  /// Sets, replaces and removes attributes; those that are equal already cause no evidence.
  ///
  /// - Throws: ``LedgerError/invalid(field:problem:)`` if the customer would have more than
  ///   ``CustomerAttributeRules/maxCount``.
  func setAttributes(
    _ attributes: [CustomerAttribute], of customerID: String
  ) throws(LedgerError) -> CommandResult {
    let customer = try current(customerID)
    let before = try inStore { () throws(StoreError) in try store.attributes(of: customer) }
    let values = Dictionary(before.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    let changes = attributes.filter { $0.value != values[$0.name] ?? "" }
    let after = Set(values.keys).union(changes.filter { !$0.value.isEmpty }.map(\.name))
      .subtracting(changes.filter(\.value.isEmpty).map(\.name))
    guard after.count <= CustomerAttributeRules.maxCount else {
      throw .invalid(
        field: "attributes", problem: "would be \(after.count), more than \(CustomerAttributeRules.maxCount)")
    }
    var result = CommandResult()
    if !changes.isEmpty {
      result = try execute(
        .setAttributes(changes, customerID: customer.customerID), onBehalfOf: customer.customerID)
    }
    result.attributes = try inStore { () throws(StoreError) in try store.attributes(of: customer) }
    result.customer = customer
    return result
  }

  /// The merge target of a customer.
  private func current(_ customerID: String) throws(LedgerError) -> CustomerKey {
    try inStore { () throws(StoreError) in try store.finalMergeTarget(of: customer(customerID)) }
  }
}

extension CustomerNote {
  private static let prefix = "note-"

  /// The id of the note in the API. Clients store it, so its form is fixed.
  package var noteID: String { "\(Self.prefix)\(id.rawValue)" }

  /// The evidence in a ``noteID``; `nil` if it is malformed.
  static func id(_ noteID: String) -> EvidenceID? {
    guard noteID.hasPrefix(prefix) else { return nil }
    return Int64(noteID.dropFirst(prefix.count)).map(EvidenceID.init(rawValue:))
  }
}

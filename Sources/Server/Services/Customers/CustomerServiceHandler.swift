internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.CustomerService`: customers for people who help them. Reads resolve a merged customer to the merge
/// target, so that a support person finds the purchases under an old id.
struct CustomerServiceHandler: CustomerServiceMethods {
  let context: ServiceContext

  /// Searches the apps that the caller may access, if the request names none. The audit entry contains the query only
  /// if it found a customer.
  func findCustomers(
    _ request: FindCustomersRequest, _ call: CallContext
  ) async throws(Status) -> FindCustomersResponse {
    let catalog = context.catalog.value
    let apps = request.app.isEmpty ? CallScope.apps(of: catalog.appIDs) : [try catalog.app(request.app).id]
    let search = CustomerSearch(
      query: try SearchQuery(request.query), apps: apps, environment: try request.searchedEnvironment,
      page: try context.pageTokens.page(request), limit: try RequestValidation.pageSize(request.pageSize),
      ledger: context.ledger)
    let response = try await context.readExpensively(call) { reader throws(StoreError) in
      try search.run(reader)
    }
    // A query that finds no customer may be a person's id or address, and no erasure would find it in the entries.
    let foundCustomer = response.hits.contains { !$0.customerIds.isEmpty && $0.kind != .erasedCustomer }
    CallScope.show(response.hits.lazy.flatMap(\.customerIds), of: foundCustomer ? request.query : "")
    return response
  }

  /// Describes the merge target of the requested customer, from one snapshot.
  ///
  /// - Throws: `UNKNOWN_CUSTOMER` if the store has neither of both.
  func describeCustomer(
    _ request: DescribeCustomerRequest, _ call: CallContext
  ) async throws(Status) -> DescribeCustomerResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let times = context.ledger.clocks.times()
    let described = try await context.readExpensively(call) {
      reader throws(StoreError) -> DescribeCustomerResponse? in
      let customer = try reader.finalMergeTarget(of: key)
      if try !reader.isKnown(key), try !reader.isKnown(customer) { return nil }
      return try DescribeCustomerResponse(customer, requested: key, in: app, at: times, reader)
    }
    guard let described else { throw .unknownCustomer }
    CallScope.show([described.customerId] + described.mergedCustomerIds)
    return described
  }
}

// Notes and attributes.
extension CustomerServiceHandler {
  /// Stores a note as evidence. The text must not be empty; a repeated call without an idempotency key adds another
  /// note.
  ///
  /// - Throws: `MISSING_FIELD` without a text.
  func addNote(_ request: AddNoteRequest, _ call: CallContext) async throws(Status) -> AddNoteResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.given(request.text, "text")
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.addNote(request.text, about: request.customerId, scope)
    } response: { result in
      .with { $0.note = result.note.map(Wire.Note.init) }
    }
  }

  /// The position of a page is the evidence of the last note of the previous page.
  func listNotes(_ request: ListNotesRequest, _ call: CallContext) async throws(Status) -> ListNotesResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let (page, size) = try context.page(of: request)
    let before = try page.number.map(EvidenceID.init(rawValue:))
    let notes = try await context.read { reader throws(StoreError) in
      try reader.notes(about: reader.finalMergeTarget(of: key), before: before, limit: size + 1)
    }
    CallScope.show(notes.prefix(size).map(\.customer.customerID))
    return .with {
      $0.notes = notes.prefix(size).map(Wire.Note.init)
      if notes.count > size { $0.nextPageToken = page.token(after: notes[size - 1].id.rawValue) }
    }
  }

  /// Deletes a note, whose id also determines the environment; a second call changes nothing.
  ///
  /// - Throws: `UNKNOWN_NOTE`.
  func deleteNote(
    _ request: DeleteNoteRequest, _ call: CallContext
  ) async throws(Status) -> DeleteNoteResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.given(request.noteId, "note_id")
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(.unspecified), actor: request.actor)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.deleteNote(request.noteId, scope)
    } response: { _ in
      DeleteNoteResponse()
    }
  }

  /// Sets the named attributes, and removes those whose value is empty; the others stay.
  func setCustomerAttributes(
    _ request: SetCustomerAttributesRequest, _ call: CallContext
  ) async throws(Status) -> SetCustomerAttributesResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.customerID(request.customerId)
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor)
    let attributes = request.attributes.map { Store.CustomerAttribute(name: $0.name, value: $0.value) }
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.setAttributes(attributes, of: request.customerId, scope)
    } response: { result in
      .with { $0.attributes = result.attributes.map(Wire.CustomerAttribute.init) }
    }
  }

  /// Returns all attributes; an unknown customer has none.
  func getCustomerAttributes(
    _ request: GetCustomerAttributesRequest, _ call: CallContext
  ) async throws(Status) -> GetCustomerAttributesResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    return try await context.read { reader throws(StoreError) in
      let attributes = try reader.attributes(of: reader.finalMergeTarget(of: key))
      return .with { $0.attributes = attributes.map(Wire.CustomerAttribute.init) }
    }
  }
}

extension FindCustomersRequest {
  /// The environment to search; `nil`: all.
  fileprivate var searchedEnvironment: AppStore.Environment? {
    get throws(Status) {
      if case .unspecified = environment { return nil }
      guard let known = AppStore.Environment(environment) else {
        throw Status(
          .invalidArgument, reason: "WRONG_ENVIRONMENT", "unknown environment", field: "environment")
      }
      return known
    }
  }
}

extension Wire.Note {
  fileprivate init(_ note: Store.CustomerNote) {
    self.init()
    noteId = note.noteID
    customerId = note.customer.customerID
    text = note.text
    actor = note.actor
    createdAt = GoogleProtobuf.Timestamp(note.createdAt)
    evidenceId = note.id.rawValue
  }
}

extension Wire.CustomerAttribute {
  fileprivate init(_ attribute: Store.CustomerAttribute) {
    self.init()
    name = attribute.name
    value = attribute.value
  }
}

extension Status {
  /// `UNKNOWN_CUSTOMER`, also for a customer that is known in another environment only.
  static var unknownCustomer: Status {
    Status(
      .notFound, reason: "UNKNOWN_CUSTOMER",
      "nothing is stored about this customer in this environment; FindCustomers searches all",
      field: "customer_id")
  }
}

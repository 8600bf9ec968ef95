internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Wire

extension Catalog {
  /// The app with this id.
  ///
  /// - Throws: `INVALID_ARGUMENT` for an empty id, `NOT_FOUND` with the configured apps for an unknown one.
  func app(_ id: String) throws(Status) -> AppDefinition {
    if let app = self[id] { return app }
    guard !id.isEmpty else { throw .missingField("app", "app is empty") }
    throw .unknownApp(id, known: appIDs)
  }
}

extension AppDefinition {
  /// The environment of a request; the app's first one if it is unspecified.
  ///
  /// - Throws: `WRONG_ENVIRONMENT` for one that the app does not have, with those that it has.
  func environment(_ requested: Wire.Environment) throws(Status) -> AppStore.Environment {
    if case .unspecified = requested, let first = environments.first { return first }
    guard let environment = AppStore.Environment(requested), environments.contains(environment) else {
      throw Status(
        .invalidArgument, reason: "WRONG_ENVIRONMENT",
        "the app '\(id)' has no environment \(requested.protoName); it has "
          + environments.map(\.rawValue).joined(separator: ", "),
        field: "environment")
    }
    return environment
  }
}

extension AppDefinition {
  /// The environments in which a request has an original transaction id looked up: the one that it names, or all.
  func searchedEnvironments(_ requested: Wire.Environment) throws(Status) -> [AppStore.Environment] {
    if case .unspecified = requested { return environments }
    return [try environment(requested)]
  }
}

extension ServiceContext {
  /// The app and the environment of a request.
  ///
  /// - Throws: as ``Entitlements/Catalog/app(_:)`` and ``Entitlements/AppDefinition/environment(_:)``.
  func scope(
    of request: some ScopedRequest
  ) throws(Status) -> (app: AppDefinition, environment: AppStore.Environment) {
    let app = try catalog.value.app(request.app)
    return (app, try app.environment(request.environment))
  }

  /// The page that a request asks for, and its size.
  ///
  /// - Throws: as ``RequestValidation/pageSize(_:)`` and ``PageTokens/page(_:)``.
  func page(of request: some SizedPageRequest) throws(Status) -> (page: RequestedPage, size: Int) {
    let size = try RequestValidation.pageSize(request.pageSize)
    return (try pageTokens.page(request), size)
  }
}

extension CommandScope {
  /// The scope of a request that changes something of `app`.
  ///
  /// - Throws: as ``Entitlements/AppDefinition/environment(_:)``.
  init(_ request: some ChangeRequest, in app: AppDefinition, isDryRun: Bool = false) throws(Status) {
    self.init(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor,
      note: request.note, isDryRun: isDryRun)
  }
}

extension ActorRequest {
  /// The request as evidence stores it: `CALLER/ACTOR`, so that no caller can pass its action off as that of another. A
  /// call without authentication keeps the stated actor.
  func attributed(to call: CallContext) -> Self {
    guard !call.caller.isEmpty else { return self }
    var request = self
    request.actor = actor.isEmpty ? call.caller : "\(call.caller)/\(actor)"
    return request
  }
}

extension Status {
  /// A field whose value the service does not accept. `field` has its name in the contract.
  static func invalidField(_ field: String, _ problem: String) -> Status {
    Status(.invalidArgument, reason: "INVALID_FIELD", problem, field: field)
  }

  /// A field that the method requires. `field` has its name in the contract.
  static func missingField(_ field: String, _ problem: String) -> Status {
    Status(.invalidArgument, reason: "MISSING_FIELD", problem, field: field)
  }

  /// A field has the number of an enum value that this version does not define.
  static func unknownValue(of field: String) -> Status {
    .invalidField(field, "\(field) has no such value")
  }
}

/// Checks of request fields that several methods share.
enum RequestValidation {
  /// Requires a customer id. Its length is a limit of the contract's text fields, which decoding has checked.
  static func customerID(_ id: String) throws(Status) {
    guard !id.isEmpty else { throw .missingField("customer_id", "customer_id is empty") }
  }

  /// Requires an entitlement of the app.
  ///
  /// - Throws: `MISSING_FIELD` or `UNKNOWN_ENTITLEMENT`.
  static func entitlement(_ name: String, of app: AppDefinition) throws(Status) {
    guard !app.grants(name) else { return }
    guard !name.isEmpty else { throw .missingField("entitlement", "entitlement is empty") }
    throw Status(
      .notFound, reason: "UNKNOWN_ENTITLEMENT",
      "no product of the app '\(app.id)' grants the entitlement '\(name)'; known: "
        + app.entitlements.joined(separator: ", "),
      metadata: [("entitlement", name)], field: "entitlement")
  }
}

extension Instant {
  /// The time in a field of a request.
  ///
  /// - Throws: `INVALID_ARGUMENT` outside of the years 1 to 9999.
  init(_ timestamp: GoogleProtobuf.Timestamp, _ field: String) throws(Status) {
    guard let milliseconds = timestamp.millisecondsSince1970 else {
      throw .invalidField(field, "\(field) is not a time between the years 1 and 9999")
    }
    self.init(millisecondsSince1970: milliseconds)
  }
}

extension RequestValidation {
  /// Requires a field that is not empty.
  static func given(_ text: String, _ field: String) throws(Status) {
    guard text.isEmpty else { return }
    throw .missingField(field, "\(field) is empty")
  }

  /// The page size of a request: 1 to 1000, larger ones capped; 100 for an unset one.
  ///
  /// - Throws: `INVALID_FIELD` for a negative one.
  static func pageSize(_ size: Int32) throws(Status) -> Int {
    guard size >= 0 else { throw .invalidField("page_size", "page_size is less than 0") }
    return size == 0 ? 100 : min(Int(size), 1_000)
  }
}

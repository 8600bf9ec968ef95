internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// The options of commands that call a server about one app.
struct AppOptions: ConnectionOptions {
  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  /// Creates a request about the selected app; `build` sets its further fields. It calls the server if no option names
  /// the app.
  func request<Request: AppRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    var request = Request()
    request.app = try await app.id(client)
    try build(&request)
    return request
  }
}

/// The options of commands that call a server about one app in one environment.
struct ScopedOptions: ConnectionOptions {
  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  /// Creates a request about the selected app and environment; `build` sets its further fields.
  func request<Request: ScopedRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    var request = Request()
    (request.app, request.environment) = try await appAndEnvironment()
    try build(&request)
    return request
  }

  /// The id of the selected app, and the selected environment; `.unspecified` selects the app's first one.
  func appAndEnvironment() async throws -> (app: String, environment: Environment) {
    (try await scope.app.id(client), try scope.appEnvironment())
  }
}

/// The options of commands that change something of an app in an environment.
struct ScopedChangeOptions: ConnectionOptions {
  @OptionGroup var scoped: ScopedOptions
  @OptionGroup var change: ChangeOptions

  var client: ClientOptions { scoped.client }

  /// Creates a request with the app, the environment, and the actor, note and key of the audit trail; `build` sets its
  /// further fields.
  func request<Request: ChangeRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    try await scoped.request {
      $0.actor = change.actor
      $0.note = change.note
      $0.idempotencyKey = change.key
      try build(&$0)
    }
  }
}

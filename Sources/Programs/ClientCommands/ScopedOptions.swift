internal import ArgumentParser
internal import EntitledClient
internal import Wire

// A group names the groups of another one again instead of having that as a group: a debug build of the argument parser
// checks each group four times for each level of groups above it.

/// The options of commands that call a server about one app.
protocol AppConnectionOptions: ConnectionOptions, AppSelection {}

extension AppConnectionOptions {
  /// Creates a request about the selected app; `build` sets its further fields. It calls the server if no option names
  /// the app.
  func appRequest<Request: AppRequest>(_ build: (inout Request) throws -> Void) async throws -> Request {
    var request = Request()
    request.app = try await appID(client)
    try build(&request)
    return request
  }
}

/// The options of commands that call a server about one app, and no others.
struct AppOptions: AppConnectionOptions {
  @OptionGroup var client: ClientOptions
  @Option(help: appHelp) var app: String?

  /// Creates a request about the selected app; `build` sets its further fields.
  func request<Request: AppRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    try await appRequest(build)
  }
}

/// The options of commands that call a server about one app in one environment.
protocol ScopedConnectionOptions: ConnectionOptions {
  var scope: ScopeOptions { get }
}

extension ScopedConnectionOptions {
  /// The id of the selected app, and the selected environment; `.unspecified` selects the app's first one.
  func appAndEnvironment() async throws -> (app: String, environment: Environment) {
    (try await scope.appID(client), try scope.appEnvironment())
  }
}

/// The options of commands that read something of an app in an environment.
struct ScopedOptions: ScopedConnectionOptions {
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
}

/// The options of commands that change something of an app in an environment.
struct ScopedChangeOptions: ScopedConnectionOptions {
  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var change: ChangeOptions

  /// Creates a request with the app, the environment, and the actor, note and key of the audit trail; `build` sets its
  /// further fields.
  func request<Request: ChangeRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    var request = Request()
    (request.app, request.environment) = try await appAndEnvironment()
    request.actor = change.actor
    request.note = change.note
    request.idempotencyKey = change.key
    try build(&request)
    return request
  }
}

internal import ArgumentParser
internal import CommandSupport
internal import EntitledClient
internal import HTTP
package import JSON
internal import SandboxPaths
internal import Transport

/// Calls the HTTP interface of a sandbox. Each call opens a connection, because a command makes few of them.
package struct SandboxClient: ParsableArguments, Sendable {
  @Option(help: "Sandbox address (default: ENTITLED_SANDBOX, or \(ServerOption.sandbox.fallback)).")
  var sandbox: String?

  @Option(help: "World (default: ENTITLED_SANDBOX_WORLD, or the one at /).") var world: String?

  package init() {}

  /// The body of a successful response, parsed and as it arrived.
  package struct Response: Sendable {
    /// The parsed body.
    package let json: JSONObject
    /// The body as it arrived.
    package let text: String

    /// The JSON without signed documents, which people cannot read.
    package var textWithoutSignedData: String {
      let rest = JSONObject(json.filter { !$0.name.hasPrefix("signed") }.map { ($0.name, $0.value) })
      return String(decoding: rest.serialized(pretty: true), as: UTF8.self)
    }
  }

  /// Posts `members` to the action or path `path`.
  ///
  /// - Throws: ``Failure`` with the message of the sandbox.
  package func post(_ path: String, _ members: JSONObject) async throws -> Response {
    try await request("POST", path, body: members.serialized())
  }

  /// Returns the body of a response that need not be JSON.
  ///
  /// - Throws: ``Failure`` with the message of the sandbox.
  package func download(_ path: String) async throws -> [UInt8] {
    try await send("GET", path, body: [])
  }

  /// The apps whose products the sandbox sells.
  package func apps() async throws -> [String] {
    let apps = try await request("GET", "apps", body: []).json["apps"]?.arrayValue ?? []
    return apps.compactMap { $0.objectValue?["app"]?.stringValue }
  }

  /// Sends a request to a path of the world and returns the JSON of the response.
  package func request(_ method: String, _ path: String, body: [UInt8] = []) async throws -> Response {
    try Self.response(await send(method, path, body: body))
  }

  /// Sends a request to a path of the process, which is the same for all worlds.
  package func requestProcess(_ method: String, _ path: String, body: [UInt8] = []) async throws -> Response {
    try Self.response(await send(method, path, body: body, base: ""))
  }

  /// Parses a body.
  private static func response(_ body: [UInt8]) throws(Failure) -> Response {
    guard let json = try? JSONValue(parsing: body).objectValue else {
      throw Failure("the sandbox returned no JSON object")
    }
    return Response(json: json, text: String(decoding: body, as: UTF8.self))
  }

  /// The sandbox's codes for members that come from wrong options or arguments.
  private static let usageErrors: Set = ["MISSING_MEMBER", "UNKNOWN_MEMBER", "WRONG_TYPE"]

  /// Sends a request.
  ///
  /// - Throws: ``Failure`` with the message of the sandbox for a status other than 200, and the exit status 64 if options or
  ///   arguments are wrong.
  private func send(
    _ method: String, _ path: String, body: [UInt8], base: String? = nil
  ) async throws -> [UInt8] {
    let address = try ServerOption.sandbox.address(sandbox)
    let target = "\(try base ?? WorldPath.base(of: worldName()))/sandbox/v1/\(path)"
    do {
      let response = try await ClientConnection.withConnection(host: address.host, port: address.port) {
        try await $0.request(method, target, headers: [("content-type", "application/json")], body: body)
      }
      guard response.head[":status"] != "200" else { return response.body }
      let json = try? JSONValue(parsing: response.body).objectValue
      let error = json?["error"]?.objectValue
      throw Failure(
        error?["message"]?.stringValue ?? Self.problem(of: response, from: address),
        status: Self.usageErrors.contains(error?["code"]?.stringValue ?? "") ? 64 : 1)
    } catch let error as ClientError {
      guard case .unreachable = error else { throw Failure(error.description) }
      throw Failure(
        "\(error); start the sandbox with 'entitled serve' or 'entitled sandbox serve', or set --sandbox")
    }
  }

  /// The text for a response without an error of the sandbox.
  private static func problem(of response: ClientResponse, from address: HostAndPort) -> String {
    guard let status = response.head[":status"] else { return "\(address) sent a response without a status" }
    return status == "404"
      ? "\(address) is no sandbox (HTTP 404); set --sandbox" : "the sandbox returned HTTP \(status)"
  }

  /// The world of the option or the environment; `nil` for the one at `/`.
  private func worldName() throws(Failure) -> WorldName? {
    guard let text = world ?? ServerOption.environment("ENTITLED_SANDBOX_WORLD") else { return nil }
    guard let name = WorldName(text) else {
      throw Failure(
        "--world (ENTITLED_SANDBOX_WORLD) takes 1 to 64 letters, digits, '-', '_' and '.', not '\(text)'",
        status: 64)
    }
    return name
  }
}

/// Selects the app of a command.
package struct SandboxAppOption: ParsableArguments {
  @Option(help: "App id (default: ENTITLED_APP, or the only app of the sandbox).") var app: String?

  package init() {}

  /// The id of the selected app.
  ///
  /// - Throws: ``Failure`` with exit status 64 if there are several.
  package func id(in sandbox: SandboxClient) async throws -> String {
    if let app = app ?? ServerOption.environment("ENTITLED_APP") { return app }
    let ids = try await sandbox.apps()
    guard let id = ids.first, ids.count == 1 else {
      throw Failure(
        ids.isEmpty
          ? "the sandbox has no app; set --config"
          : "the sandbox has several apps (\(ids.joined(separator: ", "))); set --app or ENTITLED_APP",
        status: 64)
    }
    return id
  }
}

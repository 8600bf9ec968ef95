internal import AppStore
internal import ArgumentParser
internal import EntitledClient
internal import HTTP
internal import JSON
internal import Sandbox
internal import Transport

/// `entitled sandbox do`: performs any action of the sandbox.
struct SandboxDoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "do", abstract: "Perform a sandbox action and print its JSON result.",
    discussion: """
      Example: entitled sandbox do auto-renew transactionId=2001795237599774 enabled=false
      Actions: \(Action.allCases.map(\.rawValue).joined(separator: ", ")).
      """)

  @OptionGroup var sandbox: SandboxClient
  @Flag(help: "Print the signed documents in the result, too.") var signed = false
  @Flag(help: "JSON output, which this command always has.") var json = false
  @Argument(help: "Action.") var action: String
  @Argument(help: "Members of the request, each NAME=VALUE.") var members: [String] = []

  func run() async throws {
    var json = JSONObject()
    for member in members {
      let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw Failure("a member is NAME=VALUE, not '\(member)'", status: 64) }
      json[String(parts[0])] = .string(String(parts[1]))
    }
    let response = try await sandbox.post(action, json)
    print(signed ? response.text : response.textWithoutSignedData)
  }
}

/// `entitled sandbox advance`.
struct SandboxAdvanceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "advance",
    abstract: "Advance the sandbox clock; print the time and the events.",
    discussion: "Example: entitled sandbox advance 35d")

  @OptionGroup var sandbox: SandboxClient
  @Flag(help: "JSON output, which this command always has.") var json = false
  @Argument(help: "Duration (90s, 5m, 12h, 35d, 2w), or end time, RFC 3339.") var length: String

  func run() async throws {
    let member = Instant(rfc3339: length) == nil ? "by" : "to"
    print(try await sandbox.post("clock/advance", [member: .string(length)]).text)
  }
}

/// `entitled sandbox scenario`.
struct SandboxScenarioCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Run a scenario in the sandbox; print its steps.",
    discussion: """
      Example: entitled sandbox scenario family
      Scenarios: \(Scenario.all.map(\.name).joined(separator: ", ")).
      """)

  @OptionGroup var sandbox: SandboxClient
  @OptionGroup var app: AppOption
  @Flag(help: "JSON output, which this command always has.") var json = false
  @Argument(help: "Scenario.") var name: String

  func run() async throws {
    guard Scenario.named(name) != nil else {
      let known = Scenario.all.map(\.name).joined(separator: ", ")
      throw Failure("unknown scenario '\(name)'; expected one of \(known)", status: 64)
    }
    let id = try await app.id(orOnlyOf: sandbox.apps)
    print(try await sandbox.post("scenarios/\(name)", ["app": .string(id)]).text)
  }
}

/// Calls the HTTP interface of a sandbox.
struct SandboxClient: ParsableArguments {
  @Option(help: "Sandbox address (default: ENTITLED_SANDBOX, or \(ServerOption.sandbox.fallback)).")
  var sandbox: String?

  struct Response {
    let json: JSONObject
    let text: String

    /// The JSON without signed documents, which people cannot read.
    var textWithoutSignedData: String {
      let rest = JSONObject(json.filter { !$0.name.hasPrefix("signed") }.map { ($0.name, $0.value) })
      return String(decoding: rest.serialized(pretty: true), as: UTF8.self)
    }
  }

  /// Posts `members` to the action or path `path`.
  ///
  /// - Throws: ``Failure`` with the message of the sandbox.
  func post(_ path: String, _ members: JSONObject) async throws -> Response {
    try await request("POST", path, body: members.serialized())
  }

  /// Returns the body of a response that is no JSON.
  func download(_ path: String) async throws -> [UInt8] {
    let response = try await ClientOptions.withConnection(to: try ServerOption.sandbox.address(sandbox)) {
      try await $0.request("GET", "/sandbox/v1/\(path)", headers: [], body: [])
    }
    guard response.head[":status"] == "200" else {
      let json = try? JSONValue(parsing: response.body).objectValue
      let message = json?["error"]?.objectValue?["message"]?.stringValue
      throw Failure(message ?? "the sandbox returned HTTP \(response.head[":status"] ?? "without a status")")
    }
    return response.body
  }

  /// The apps whose products the sandbox sells.
  func apps() async throws -> [String] {
    let apps = try await request("GET", "apps", body: []).json["apps"]?.arrayValue ?? []
    return apps.compactMap { $0.objectValue?["app"]?.stringValue }
  }

  private func request(_ method: String, _ path: String, body: [UInt8]) async throws -> Response {
    let response = try await ClientOptions.withConnection(to: try ServerOption.sandbox.address(sandbox)) {
      try await $0.request(
        method, "/sandbox/v1/\(path)", headers: [("content-type", "application/json")], body: body)
    }
    let json = try? JSONValue(parsing: response.body).objectValue
    guard response.head[":status"] == "200", let json else {
      let message = json?["error"]?.objectValue?["message"]?.stringValue
      throw Failure(message ?? "the sandbox returned HTTP \(response.head[":status"] ?? "without a status")")
    }
    return Response(json: json, text: String(decoding: response.body, as: UTF8.self))
  }
}

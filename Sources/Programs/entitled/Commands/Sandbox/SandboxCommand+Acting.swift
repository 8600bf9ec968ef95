internal import AppStore
internal import ArgumentParser
internal import EntitledClient
internal import HTTP
internal import JSON
internal import Sandbox
internal import Transport

/// `entitled sandbox do`: anything that a tester can do.
struct SandboxDoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "do", abstract: "Do something in the sandbox App Store; prints what came of it, in JSON.",
    discussion: """
      Such as: entitled sandbox do auto-renew transactionId=2001795237599774 enabled=false
      The actions are \(Action.allCases.map(\.rawValue).joined(separator: ", ")).
      """)

  @Option(
    help: "The sandbox App Store's address (default: \(ServerOption.sandbox.fallback), or ENTITLED_SANDBOX).")
  var sandbox: String?
  @Flag(help: "Print what is signed, too.") var signed = false
  @Argument(help: "What to do.") var action: String
  @Argument(help: "Its members, each as NAME=VALUE.") var members: [String] = []

  func run() async throws {
    var json = JSONObject()
    for member in members {
      let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw Failure("a member is NAME=VALUE, not \(member)", status: 64) }
      json[String(parts[0])] = .string(String(parts[1]))
    }
    let answer = try await SandboxClient(address: sandbox).post(action, json)
    print(signed ? answer.text : answer.withoutSigned)
  }
}

/// `entitled sandbox advance`: turns the clock.
struct SandboxAdvanceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "advance",
    abstract: "Turn the sandbox's clock; prints the time and what happened meanwhile.",
    discussion: "Such as: entitled sandbox advance 35d")

  @Option(
    help: "The sandbox App Store's address (default: \(ServerOption.sandbox.fallback), or ENTITLED_SANDBOX).")
  var sandbox: String?
  @Argument(help: "How far (90s, 5m, 12h, 35d, 2w), or until when in RFC 3339.") var length: String

  func run() async throws {
    let member = Instant(rfc3339: length) == nil ? "by" : "to"
    print(try await SandboxClient(address: sandbox).post("clock/advance", [member: .string(length)]).text)
  }
}

/// Asks a sandbox App Store to do something.
struct SandboxClient {
  let address: String?

  /// What it answered.
  struct Answer {
    let json: JSONObject
    let text: String

    /// The answer without the documents in it, which nobody can read.
    var withoutSigned: String {
      let rest = JSONObject(json.filter { !$0.name.hasPrefix("signed") }.map { ($0.name, $0.value) })
      return String(decoding: rest.serialized(pretty: true), as: UTF8.self)
    }
  }

  /// Posts `members` to a path of testers.
  func post(_ path: String, _ members: JSONObject) async throws -> Answer {
    let response = try await ClientOptions.withConnection(to: try ServerOption.sandbox.address(address)) {
      try await $0.request(
        "POST", "/sandbox/v1/\(path)", headers: [("content-type", "application/json")],
        body: members.serialized())
    }
    let json = try? JSONValue(parsing: response.body).objectValue
    guard response.head[":status"] == "200", let json else {
      let message = json?["error"]?.objectValue?["message"]?.stringValue
      throw Failure(message ?? "the sandbox answered HTTP \(response.head[":status"] ?? "nothing")")
    }
    return Answer(json: json, text: String(decoding: response.body, as: UTF8.self))
  }
}

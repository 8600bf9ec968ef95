internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import JSON
internal import Sandbox
internal import SandboxClient

/// `entitled sandbox do`: performs any action of the sandbox.
struct SandboxDoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "do", abstract: "Perform a sandbox action and print its JSON result.",
    discussion: """
      Example: \(SandboxCommand.words) do auto-renew transactionId=2001795237599774 enabled=false
      Actions: \(Action.allCases.map(\.rawValue).joined(separator: ", ")).
      """)

  @OptionGroup var sandbox: SandboxClient
  @Flag(help: "Print the signed documents in the result, too.") var signed = false
  @Flag(help: "JSON output (always).") var json = false
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
    discussion: "Example: \(SandboxCommand.words) advance 35d")

  @OptionGroup var sandbox: SandboxClient
  @Flag(help: "JSON output (always).") var json = false
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
    abstract: "Run a scenario in the sandbox, or list them.",
    discussion: """
      Examples: \(SandboxCommand.words) scenario
                \(SandboxCommand.words) scenario family
      Scenarios: \(Scenario.all.map(\.name).joined(separator: ", ")).
      """)

  @OptionGroup var sandbox: SandboxClient
  @OptionGroup var app: SandboxAppOption
  @Flag(help: "JSON output (always, for a run).") var json = false
  @Argument(help: "Scenario (default: list all).") var name: String?

  func run() async throws {
    guard let name else { return list() }
    guard Scenario.named(name) != nil else {
      let known = Scenario.all.map(\.name).joined(separator: ", ")
      throw Failure("unknown scenario '\(name)'; expected one of \(known)", status: 64)
    }
    let id = try await app.id(in: sandbox)
    print(try await sandbox.post("scenarios/\(name)", ["app": .string(id)]).text)
  }

  /// Prints the scenarios that this program has, which are those of the pages.
  private func list() {
    guard json else {
      for scenario in Scenario.all { print("\(scenario.name)\t\(scenario.summary)") }
      return
    }
    print(String(decoding: Scenario.listJSON.serialized(pretty: true), as: UTF8.self))
  }
}

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Foundation
internal import JSON
internal import SandboxClient

/// `entitled sandbox world`.
struct SandboxWorldCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "world", abstract: "List, create, reset, copy and remove worlds.",
    subcommands: [
      WorldListCommand.self, WorldCreateCommand.self, WorldRemoveCommand.self, WorldResetCommand.self,
      WorldSnapshotCommand.self, WorldRestoreCommand.self,
    ])
}

/// `entitled sandbox world list`.
struct WorldListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the named worlds.")

  @OptionGroup var sandbox: SandboxClient
  @Flag(help: "JSON output.") var json = false

  func run() async throws {
    let response = try await sandbox.requestProcess("GET", "worlds")
    guard !json else { return print(response.text) }
    let worlds = response.json["worlds"]?.arrayValue?.compactMap(\.objectValue) ?? []
    guard !worlds.isEmpty else { return print("no named worlds") }
    for world in worlds {
      let values = ["world", "now", "accounts"].map { world[$0].map { $0.stringValue ?? $0.text } ?? "" }
      print("\(values[0])\t\(values[1])\t\(values[2]) accounts")
    }
  }
}

/// `entitled sandbox world create`.
struct WorldCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a world; print its name and path.",
    discussion: "Example: \(SandboxCommand.words) world create checkout --from prepared")

  @OptionGroup var sandbox: SandboxClient
  @Option(help: "World to copy, or / (default: none, the world is empty).") var from: String?
  @Option(help: "Simulated start time, RFC 3339, not in the future (default: now).") var start: String?
  @OptionGroup var storekit: StoreKitOptions
  @Flag(help: "JSON output.") var json = false
  @Argument(help: "Name (default: an unused one).") var name: String?

  func run() async throws {
    var order = JSONObject()
    if let name { order["name"] = .string(name) }
    if let from { order["from"] = .string(from) }
    if let start { order["start"] = .string(start) }
    if let file = storekit.storekit {
      guard let bundle = storekit.bundleId else { throw Failure("--storekit needs --bundle-id", status: 64) }
      let contents = try InputFile.contents(file)
      guard let document = try? JSONValue(parsing: Array(contents)) else {
        throw Failure("'\(file)' is no JSON")
      }
      order["storekit"] = document
      order["bundleId"] = .string(bundle)
      if let app = storekit.appId { order["app"] = .string(app) }
    }
    let response = try await sandbox.requestProcess("POST", "worlds", body: order.serialized())
    guard !json else { return print(response.text) }
    print("\(response.json["world"]?.stringValue ?? "")\t\(response.json["path"]?.stringValue ?? "")")
    for line in response.json["notImported"]?.arrayValue ?? [] {
      print("not imported: \(line.stringValue ?? "")")
    }
  }
}

/// `entitled sandbox world remove`.
struct WorldRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a world with everything in it.")

  @OptionGroup var sandbox: SandboxClient
  @Flag(help: "JSON output.") var json = false
  @Argument(help: "Name.") var name: String

  func run() async throws {
    let response = try await sandbox.requestProcess("DELETE", "worlds/\(PercentEncoding.encode(name))")
    print(json ? response.text : "removed \(response.json["removed"]?.stringValue ?? "")")
  }
}

/// `entitled sandbox world reset`.
struct WorldResetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Begin a world again, without accounts and purchases.")

  @OptionGroup var sandbox: SandboxClient
  @Option(help: "Simulated start time, RFC 3339, not in the future (default: now).") var start: String?
  @Flag(help: "JSON output.") var json = false

  func run() async throws {
    var members = JSONObject()
    if let start { members["start"] = .string(start) }
    let response = try await sandbox.post("reset", members)
    print(json ? response.text : response.json["now"]?.stringValue ?? "")
  }
}

/// `entitled sandbox world snapshot`.
struct WorldSnapshotCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot", abstract: "Save everything in a world to a file.",
    discussion: "Example: \(SandboxCommand.words) world snapshot --output base.json")

  @OptionGroup var sandbox: SandboxClient
  @Option(help: "File (default: print the document).") var output: String?
  @Flag(help: "JSON output (always).") var json = false

  func run() async throws {
    let document = try await sandbox.download("snapshot")
    guard let output else { return print(String(decoding: document, as: UTF8.self)) }
    do { try Data(document).write(to: URL(filePath: output), options: .atomic) } catch {
      throw Failure("cannot write '\(output)': \(error.localizedDescription)")
    }
    if !json { print("wrote \(output)") }
  }
}

/// `entitled sandbox world restore`.
struct WorldRestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Continue a world from a snapshot or another world.",
    discussion: """
      Examples: \(SandboxCommand.words) world restore base.json
                \(SandboxCommand.words) world restore --from prepared
      """)

  @OptionGroup var sandbox: SandboxClient
  @Option(help: "World to copy, or / (default: none, a file).") var from: String?
  @Flag(help: "JSON output.") var json = false
  @Argument(help: "File of a snapshot.") var file: String?

  func run() async throws {
    let body: [UInt8]
    switch (from, file) {
    case (let from?, nil): body = JSONObject([("world", .string(from))]).serialized()
    case (nil, let file?):
      body = Array(try InputFile.contents(file))
    default: throw Failure("give a file or --from", status: 64)
    }
    let response = try await sandbox.request("PUT", "snapshot", body: body)
    print(json ? response.text : response.json["now"]?.stringValue ?? "")
  }
}

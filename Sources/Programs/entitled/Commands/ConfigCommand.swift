internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import Configuration
internal import EntitledClient
internal import Entitlements
internal import JSON
internal import Wire

/// `entitled config`.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Check or show a configuration; print the demo configuration.",
    subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self, ConfigDemoCommand.self])
}

/// `entitled config check`.
struct ConfigCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a configuration and list its errors.",
    discussion: """
      Reports file, line and cause of all errors at once, also those of the keys, secrets and certificates that the \
      file refers to. Exit status 0 only if a service could start with the file.
      """)

  @OptionGroup var output: JSONOption

  @Argument(help: "YAML file (default: ENTITLED_CONFIG).") var file: String?

  func run() throws {
    guard let file = file ?? ServerOption.environment("ENTITLED_CONFIG") else {
      throw Failure("no configuration file; pass one or set ENTITLED_CONFIG", status: 64)
    }
    let (configuration, problems) = ConfigurationCheck.run(file)
    guard let configuration, problems.isEmpty else { return try fail(file, problems.map(\.description)) }
    guard output.json else { return print("\(file): \(Self.summary(configuration))") }
    output.show(["file": .string(file), "valid": true, "problems": []])
  }

  private func fail(_ file: String, _ problems: [String]) throws {
    guard output.json else { throw Failure(problems.joined(separator: "\nentitled: ")) }
    output.show([
      "file": .string(file), "valid": false, "problems": .array(problems.map(JSONValue.string)),
    ])
    throw ExitCode(1)
  }

  private static func summary(_ configuration: ServiceConfiguration) -> String {
    let products = configuration.apps.reduce(0) { $0 + $1.definition.products.count }
    let callers =
      switch configuration.callers {
      case .unspecified: "open to this machine"
      case .open: "open to all callers"
      case .listed(let callers): counted(callers.count, "caller")
      }
    let apps = counted(configuration.apps.count, "app")
    return "valid: \(apps), \(counted(products, "product")), \(callers)"
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
  }
}

/// `entitled config show`.
struct ConfigShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the configuration that a server has in force.")

  @OptionGroup var client: ClientOptions

  func run() async throws {
    let response = try await client.withConnection {
      try await $0.getConfiguration(GetConfigurationRequest())
    }
    let path = response.path.isEmpty ? "(the demo configuration)" : response.path
    let pending =
      response.pendingRestart.isEmpty ? "nothing" : response.pendingRestart.joined(separator: ", ")
    client.show(
      response,
      [
        ("file", path), ("loaded", response.loadedAt.text), ("needs a restart", pending),
        ("content", response.configurationJson),
      ])
  }
}

/// `entitled config demo`.
struct ConfigDemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Print the demo configuration, an example of the usual keys.")

  @OptionGroup var output: JSONOption

  func run() throws {
    guard output.json else { return print(demoConfiguration, terminator: "") }
    output.show(try Startup.configuration(file: nil).document)
  }
}

internal import ArgumentParser
internal import Configuration
internal import Entitlements
internal import Logging
internal import SignedData

/// `entitled config`: the operator's file.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Look at a configuration.",
    subcommands: [ConfigCheckCommand.self, ConfigDemoCommand.self])
}

/// `entitled config check`: can this file be used?
struct ConfigCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say whether a configuration can be used, and what is wrong with it.",
    discussion: """
      Names the file, line and cause of the first mistake of each app, caller and section, and reads the keys, \
      secrets and certificates that the file names. Exit status 0 only if a service would start with it.
      """)

  @Argument(help: "The YAML file (default: the one in ENTITLED_CONFIG).") var file: String?

  func run() throws {
    guard let file = file ?? ServerOption.environment("ENTITLED_CONFIG") else {
      throw Failure("name a file, or set ENTITLED_CONFIG", status: 64)
    }
    let problems = ServiceConfiguration.problems(inFile: file)
    guard problems.isEmpty else {
      throw Failure(problems.map(\.description).joined(separator: "\nentitled: "))
    }
    let configuration = try Startup.configuration(file: file)
    try Self.checkFiles(configuration, file)
    print("\(file): \(Self.summary(configuration))")
  }

  /// What the file names has to be there, and be what it should be.
  private static func checkFiles(_ configuration: ServiceConfiguration, _ file: String) throws {
    var problems: [String] = []
    func attempt(_ work: () throws -> Void) {
      do { try work() } catch {
        problems.append("\(file): \((error as? Failure)?.message ?? "\(error)")")
      }
    }
    attempt { _ = try Startup.signing(configuration) }
    attempt { _ = try Startup.secrets(configuration) }
    for root in configuration.roots { attempt { _ = try Startup.certificate(root.path) } }
    attempt {
      _ = try Startup.admission(
        configuration, at: [], fetch: JWKSRefresher(logger: Logger(label: "entitled.config")))
    }
    guard problems.isEmpty else { throw Failure(problems.joined(separator: "\nentitled: ")) }
  }

  private static func summary(_ configuration: ServiceConfiguration) -> String {
    let products = configuration.apps.reduce(0) { $0 + $1.definition.products.count }
    let callers =
      switch configuration.callers {
      case .unspecified: "everybody on this machine may call"
      case .open: "everybody may call"
      case .listed(let callers): "\(callers.count) callers"
      }
    return "good: \(configuration.apps.count) apps, \(products) products, \(callers)"
  }
}

/// `entitled config demo`: the configuration that a service has without one, as a commented example.
struct ConfigDemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Print the demo configuration: an example of everything a file can say.")

  func run() { print(demoConfiguration, terminator: "") }
}

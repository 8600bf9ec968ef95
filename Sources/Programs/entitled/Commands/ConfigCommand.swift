internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import Configuration
internal import EntitledClient
internal import Entitlements
internal import JSON
internal import Logging
internal import SignedData
internal import Transport
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
      Reports file, line and cause of the first error of each app, caller and section, and reads the keys, secrets \
      and certificates that the file refers to. Exit status 0 only if a service could start with the file.
      """)

  @OptionGroup var output: JSONOption

  @Argument(help: "YAML file (default: ENTITLED_CONFIG).") var file: String?

  func run() throws {
    guard let file = file ?? ServerOption.environment("ENTITLED_CONFIG") else {
      throw Failure("no configuration file; pass one or set ENTITLED_CONFIG", status: 64)
    }
    let problems = ServiceConfiguration.problems(inFile: file)
    guard problems.isEmpty else { return try fail(file, problems.map(\.description)) }
    let configuration = try Startup.configuration(file: file)
    let faults = Self.faultsOfReferencedFiles(configuration, file)
    guard faults.isEmpty else { return try fail(file, faults) }
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

  private static func faultsOfReferencedFiles(
    _ configuration: ServiceConfiguration, _ file: String
  ) -> [String] {
    let references = ConfigurationReferences(file: file)
    var problems: [ConfigurationError] = []
    func attempt(_ work: () throws -> Void) {
      do { try work() } catch {
        let problem = (error as? Failure)?.message ?? "\(error)"
        problems.append(
          .invalid(file: file, line: references.line(namedIn: problem), problem: problem))
      }
    }
    attempt { _ = try Startup.signing(configuration) }
    attempt { _ = try Startup.deviceCheckClients(configuration, sandbox: nil) }
    attempt { _ = try Startup.sharedSecrets(configuration) }
    attempt { _ = try Startup.revenueCat(configuration) }
    attempt { _ = try Startup.webhooks(configuration) }
    attempt { try checkStore(configuration.store) }
    if let key = configuration.erasures.key { attempt { _ = try InstallationKey(readingFrom: key) } }
    let listeners = configuration.listeners
    for files in [listeners.grpc.tls, listeners.http.tls, listeners.console.listener.tls].compactMap(\.self) {
      attempt { _ = try TLSIdentity(TLSSettings(files)) }
    }
    let jwks = JWKSRefresher(logger: Logger(label: "entitled.config"))
    if let identity = listeners.console.identity {
      attempt { _ = try Startup.consoleCallers(configuration, identity, jwks) }
    }
    if let traces = configuration.traces { attempt { _ = try TraceExport.headers(traces) } }
    for root in configuration.roots { attempt { _ = try Startup.certificate(root.path) } }
    attempt { _ = try Startup.callerPolicy(configuration, at: [], jwks: jwks) }
    return problems.map(\.description)
  }

  private static func checkStore(_ store: StoreConfiguration) throws {
    guard case .postgres(let database) = store, let path = database.passwordFile else { return }
    do { _ = try PrivateKeyFile.readSecret(path) } catch { throw Failure(error.description) }
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
    client.show(
      response, [("file", path), ("loaded", response.loadedAt.text), ("content", response.configurationJson)])
  }
}

/// `entitled config demo`.
struct ConfigDemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Print the demo configuration, an example of all keys.")

  @OptionGroup var output: JSONOption

  func run() throws {
    guard output.json else { return print(demoConfiguration, terminator: "") }
    output.show(try Startup.configuration(file: nil).document)
  }
}

internal import CommandSupport
internal import Configuration
internal import Entitlements
internal import Foundation
internal import Logging
internal import SignedData
internal import Transport

/// Checks a configuration, and each file and variable to which it refers, by itself. It reads what `entitled serve`
/// reads when it starts, without opening a store or a listener, so that all errors are found at once.
struct ConfigurationCheck {
  private let file: String
  private let references: ConfigurationReferences
  private let jwks = JWKSRefresher(logger: Logger(label: "entitled.config"))
  private var problems: [ConfigurationError] = []

  /// The configuration in `file`, and all problems in the order of their lines. Parts with problems are not in the
  /// configuration.
  static func run(_ file: String) -> (configuration: ServiceConfiguration?, problems: [ConfigurationError]) {
    let (configuration, problems) = ServiceConfiguration.check(inFile: file)
    guard let configuration else { return (nil, problems) }
    var check = ConfigurationCheck(file: file)
    check.checkReferences(of: configuration)
    return (configuration, (problems + check.problems).sorted { $0.line ?? 0 < $1.line ?? 0 })
  }

  private init(file: String) {
    self.file = file
    references = ConfigurationReferences(file: file)
  }

  /// Adds the error of `work`, with the line that names the file or variable.
  private mutating func attempt(_ work: () throws -> Void) {
    do { try work() } catch {
      let text = (error as? Failure)?.message ?? "\(error)"
      let problem = ConfigurationError.invalid(
        file: file, line: references.line(namedIn: text), problem: text)
      if !problems.contains(problem) { problems.append(problem) }
    }
  }

  /// Reads each file to which the configuration refers.
  private mutating func checkReferences(of configuration: ServiceConfiguration) {
    for app in configuration.apps { checkKeysAndSecrets(of: app) }
    checkCredentials(of: configuration.store)
    if let tokens = configuration.tokens { attempt { _ = try TokenKeys(directory: tokens.keyDirectory) } }
    if let key = configuration.erasures.key { attempt { _ = try InstallationKey(readingFrom: key) } }
    if let list = configuration.erasures.list { attempt { try Self.requireWritable(list) } }
    let listeners = configuration.listeners
    for files in [listeners.grpc.tls, listeners.http.tls, listeners.console.listener.tls].compactMap(\.self) {
      for problem in TLSIdentity.problems(of: TLSSettings(files)) { attempt { throw problem } }
    }
    if let identity = listeners.console.identity {
      attempt { [jwks] in _ = try Startup.consoleCallers(configuration, identity, jwks) }
    }
    if let traces = configuration.traces { attempt { _ = try TraceExport.headers(traces) } }
    for root in configuration.roots { attempt { _ = try Startup.certificate(root.path) } }
    attempt { [jwks] in _ = try Startup.callerPolicy(configuration, at: [], jwks: jwks) }
  }

  /// Requires a file that can be written, or a folder in which it can be created.
  private static func requireWritable(_ path: String) throws {
    let exists = FileManager.default.fileExists(atPath: path)
    let target = exists ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard !FileManager.default.isWritableFile(atPath: target) else { return }
    throw Failure("cannot write \(path); make its folder, and let the service's user write there")
  }

  /// Reads the keys and secrets of an app.
  private mutating func checkKeysAndSecrets(of app: AppConfiguration) {
    if let key = app.key { attempt { _ = try Startup.signer(key.path, keyID: key.keyID) } }
    if let key = app.deviceCheckKey { attempt { _ = try Startup.signer(key.path, keyID: key.keyID) } }
    let secrets = [
      app.sharedSecret, app.revenueCatEvents?.authorization, app.revenueCatEvents?.signingSecret,
    ]
    for secret in secrets.compactMap(\.self) { attempt { _ = try Startup.secret(secret) } }
    for webhook in app.webhooks {
      for secret in webhook.secrets {
        attempt { _ = try Startup.webhookSecret(secret, of: webhook, appID: app.definition.id) }
      }
    }
  }

  /// Reads the password and the certificates of the database; it does not connect.
  private mutating func checkCredentials(of store: StoreConfiguration) {
    guard case .postgres(let database) = store else { return }
    attempt { try Startup.checkPasswordFile(of: database) }
    if let key = database.clientCertificate?.key { attempt { _ = try PrivateKeyFile.readSecret(key) } }
    for path in [database.rootFile, database.clientCertificate?.certificate].compactMap(\.self) {
      attempt {
        guard FileManager.default.isReadableFile(atPath: path) else {
          throw Failure("cannot read the certificate '\(path)'; correct the path, or let the service read it")
        }
      }
    }
  }
}

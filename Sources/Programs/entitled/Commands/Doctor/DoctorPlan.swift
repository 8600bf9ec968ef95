internal import AppStore
internal import AppStoreClient
internal import CommandSupport
internal import Configuration
internal import Doctor
internal import Entitlements
internal import SignedData

/// The checks that a configuration needs. What is not configured becomes a line that says so, with what to do.
struct DoctorPlan {
  let configuration: ServiceConfiguration
  /// The file of the configuration; `nil` for the demo configuration.
  let file: String?
  let data: String
  let publicAuthorities: String?
  /// The time to wait for a test notification.
  let wait: Duration
  let inbox: DeliveryCheck.Inbox

  /// The checks in their order: from the network to Apple to the files of this machine.
  ///
  /// - Throws: ``Failure`` for a trusted root that cannot be read.
  func checks() throws -> [any DoctorCheck] {
    let (accesses, unusable) = accesses()
    var checks: [any DoctorCheck] = publicChecks + clockChecks + unusable
    for access in accesses {
      let url = configuration.publicURL?.notifications(of: access.appID) ?? "the URL of the service"
      checks += [
        KeyCheck(access), DeliveryCheck(access, url: url, wait: wait, inbox: inbox),
        HistoryCheck(access, now: SystemClock.now),
      ]
    }
    checks.append(
      OCSPCheck(
        accesses, verifier: try Startup.verifier(configuration, sandbox: nil),
        exchange: CurlExchange.shared,
        isRequired: configuration.apps.contains { $0.onlineChecks != .off }, now: SystemClock.now))
    return checks + [backupCheck] + fileChecks
  }

  /// The name and the TLS of the public URL.
  private var publicChecks: [any DoctorCheck] {
    guard let url = configuration.publicURL else {
      let finding = Finding.notChecked(
        "public_url is not configured", action: "set it to the address that Apple uses, such as https://HOST")
      return [KnownFinding(name: "dns", finding: finding), KnownFinding(name: "tls", finding: finding)]
    }
    return [
      DNSCheck(host: url.host),
      TLSCheck(host: url.host, port: url.port, authorities: publicAuthorities, now: SystemClock.now),
    ]
  }

  /// One check for each of Apple's servers.
  private var clockChecks: [any DoctorCheck] {
    var servers: [AppStoreServer] = []
    for app in configuration.apps {
      for environment in app.definition.environments {
        guard let server = Startup.server(of: app, in: environment), !servers.contains(server) else {
          continue
        }
        servers.append(server)
      }
    }
    return servers.map { ClockCheck(server: $0, exchange: CurlExchange.shared, now: SystemClock.now) }
  }

  /// The ways to Apple, and findings about the apps that have none.
  private func accesses() -> ([AppleAccess], [any DoctorCheck]) {
    var (accesses, unusable): ([AppleAccess], [any DoctorCheck]) = ([], [])
    for app in configuration.apps {
      for environment in app.definition.environments where Startup.server(of: app, in: environment) != nil {
        let id = app.definition.id
        let subject = "\(id) \(environment.rawValue)"
        do {
          if let client = try Startup.client(of: app, in: environment, sandbox: nil) {
            let contradiction = app.key.flatMap {
              KeyFileName.contradiction(path: $0.path, keyID: $0.keyID)
            }
            accesses.append(
              AppleAccess(
                appID: id, environment: environment, keyContradiction: contradiction, client: client))
          } else {
            let finding = Finding.notChecked(
              "the app has no in_app_purchase_key",
              action: "configure one for status polling, gap repair and offers")
            unusable.append(KnownFinding(name: "key", subject: subject, finding: finding))
          }
        } catch {
          let problem = (error as? Failure)?.message ?? "\(error)"
          unusable.append(
            KnownFinding(
              name: "key", subject: subject, finding: .fault(problem, action: "correct in_app_purchase_key")))
        }
      }
    }
    return (accesses, unusable)
  }

  /// The age of the latest backup.
  private var backupCheck: any DoctorCheck {
    guard let backup = configuration.backup else {
      return KnownFinding(
        name: "backup",
        finding: .notChecked(
          "backup is not configured", action: "set backup: {path: DIRECTORY} to where the backups are"))
    }
    return BackupCheck(path: backup.path, maxAgeHours: backup.maxAgeHours, now: SystemClock.now)
  }

  /// The modes and owners of files.
  private var fileChecks: [any DoctorCheck] {
    [
      FileModesCheck(
        configuration: file, secrets: configuration.secretFiles, password: configuration.databasePasswordFile,
        dataDirectory: data),
      DataDirectoryCheck(path: data),
    ]
  }
}

/// A finding that needs no work.
private struct KnownFinding: DoctorCheck {
  let name: String
  var subject = ""
  let finding: Finding
  let timeLimit = Duration.seconds(1)

  func run() async -> Finding { finding }
}

extension ServiceConfiguration {
  /// The file with the password of the database, which may be readable for all.
  fileprivate var databasePasswordFile: String? {
    if case .postgres(let database) = store { database.passwordFile } else { nil }
  }

  /// The files, and directories of files, that only the service may read.
  fileprivate var secretFiles: [String] {
    var files: [String?] = [
      tokens?.keyDirectory, listeners.grpc.tls?.key, listeners.http.tls?.key,
      listeners.console.listener.tls?.key, erasures.key, traces?.headersFile,
    ]
    if case .postgres(let database) = store { files.append(database.clientCertificate?.key) }
    for app in apps {
      files += [app.key?.path, app.deviceCheckKey?.path, app.sharedSecret?.file]
      files += [app.revenueCatEvents?.authorization.file, app.revenueCatEvents?.signingSecret?.file]
      files += (app.webhooks + app.forwardings).flatMap { $0.secrets.map(\.file) }
    }
    return files.compactMap(\.self)
  }
}

extension SecretSource {
  /// The file of the secret; `nil` for an environment variable.
  fileprivate var file: String? { if case .file(let path) = self { path } else { nil } }
}

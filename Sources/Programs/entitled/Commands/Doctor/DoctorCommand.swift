internal import AppStore
internal import AppStoreClient
internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import Configuration
internal import Doctor
internal import EntitledClient
internal import Foundation
internal import JSON
internal import Wire

/// `entitled doctor`.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check what a service needs from its surroundings.",
    discussion: """
      Checks the public host name and its TLS, the clock, Apple's App Store Server API (key, test notification, \
      history), OCSP, the backup, and the modes and owners of files. Each line says ok, or what to do. Run it as the \
      user of the service, on its machine. Exit status 0 without a fault, 3 otherwise.
      """)

  @OptionGroup var client: ClientOptions

  @Option(help: "YAML configuration (default: ENTITLED_CONFIG, or the demo configuration).") var config:
    String?
  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @Option(help: "PEM file with authorities for the public URL (default: the system's).")
  var publicAuthorities: String?
  @Option(help: "Seconds to wait for the test notification.") var wait: Int64 = 30

  func validate() throws {
    guard (1...600).contains(wait) else { throw ValidationError("--wait takes 1 to 600 seconds") }
  }

  func run() async throws {
    let file = config ?? ServerOption.environment("ENTITLED_CONFIG")
    let checks = try DoctorPlan(
      configuration: try Startup.configuration(file: file), file: file, data: ServerOption.data.value(data),
      publicAuthorities: publicAuthorities, wait: .seconds(wait), inbox: inbox
    ).checks()
    let progress = ProgressLine()
    let report = await DoctorReport.run(checks) { progress.update("checking \($0.name) \($0.subject)") }
    progress.finish()
    if client.json {
      print(String(decoding: report.json.serialized(pretty: true), as: UTF8.self))
    } else {
      print(Table.aligned(report.lines.map { ("\($0.check) \($0.subject)", $0.finding.text) }))
    }
    if !report.isHealthy { throw ExitCode(3) }
  }

  /// Asks the running service for a test notification.
  private var inbox: DeliveryCheck.Inbox {
    { [client] uuid, app, environment in
      do {
        return try await client.withConnection { connection in
          let page = try await connection.listNotifications(
            .with {
              $0.app = app
              $0.environment = environment == .production ? .production : .sandbox
              $0.notificationType = "TEST"
              $0.pageSize = 100
            })
          return page.notifications.contains { $0.notificationUuid == uuid } ? .stored : .missing
        }
      } catch {
        return .unknown((error as? Failure)?.message ?? "\(error)")
      }
    }
  }
}

extension DoctorReport {
  /// The report for programs.
  fileprivate var json: JSONObject {
    let checks = lines.map { line -> JSONValue in
      .object([
        "check": .string(line.check), "subject": .string(line.subject),
        "status": .string(line.finding.status), "detail": .string(line.finding.detail),
        "action": .string(line.finding.action),
      ])
    }
    return ["healthy": .bool(isHealthy), "checks": .array(checks)]
  }
}

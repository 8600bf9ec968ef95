internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled status`.
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the state of the service and of each app.")

  @OptionGroup var client: ClientOptions

  func run() async throws {
    let isTable = !client.json
    let (response, rejections) = try await client.withConnection { connection in
      let response = try await connection.getStatus(GetStatusRequest())
      return (response, await connection.latestRejections(isTable ? response.apps : []))
    }
    client.show(response, isTable ? response.rows(rejections) : [])
  }
}

extension ClientConnection {
  /// The latest rejected notification of each app environment, in their order. A call that fails leaves its one out, because
  /// the state is of use without it.
  fileprivate func latestRejections(_ apps: [AppStatus]) async -> [Wire.Notification?] {
    var found: [Wire.Notification?] = []
    for app in apps {
      let request = ListNotificationsRequest.with {
        $0.app = app.app
        $0.environment = app.environment
        $0.state = .rejected
        $0.pageSize = 1
      }
      found.append((try? await listNotifications(request))?.notifications.first)
    }
    return found
  }
}

extension AppStatus {
  /// The last notification, and a rejected one that arrived later.
  fileprivate func arrivals(_ rejected: Wire.Notification?) -> String {
    let last = lastNotificationAt.text
    guard let rejected, rejected.receivedAt.text > last else {
      return last.isEmpty ? "no notification yet" : "last notification \(last)"
    }
    return (last.isEmpty ? "no accepted notification yet" : "last notification \(last)")
      + ", last rejected one \(rejected.receivedAt.text) (\(rejected.reason))"
  }
}

extension GetStatusResponse {
  /// The rows of the table, with the latest rejected notification of each of ``apps``.
  fileprivate func rows(_ rejections: [Wire.Notification?]) -> [(String, String)] {
    var rows = [("version", version), ("ready", ready ? "yes" : "no"), ("started", startedAt.text)]
    rows += checks.map { ($0.name, $0.error.isEmpty ? "ok" : $0.error) }
    rows += zip(apps, rejections).flatMap { $0.rows($1) }
    rows += replica?.rows ?? []
    rows += certificates.map { ($0.use, "certificate ends \($0.endsAt.date)") }
    if let store {
      rows.append(("store", "\(store.sizeBytes >> 20) MiB, \((store.freeBytes ?? 0) >> 20) MiB free"))
    }
    return rows
  }
}

extension AppStatus {
  fileprivate func rows(_ rejected: Wire.Notification?) -> [(String, String)] {
    let name = "\(app) \(environment.protoName.droppingPrefix("ENVIRONMENT_").lowercased())"
    let state = [
      arrivals(rejected),
      "\(overduePolls) overdue polls",
      "\(openConsumptionRequests) open consumption requests",
      notificationDelay.map { "median delay \($0.median?.seconds ?? 0) s" } ?? "",
      hasInAppPurchaseKey ? "" : "no in-app purchase key",
    ]
    return [(name, state.filter { !$0.isEmpty }.joined(separator: ", "))]
      + appleRateLimits.map {
        ("\(name) \($0.endpoint)", "\($0.availableCalls) calls left, \($0.waitingCalls) wait")
      }
  }
}

extension ReplicaStatus {
  fileprivate var rows: [(String, String)] {
    let leader = leaderName.isEmpty ? "no replica leads" : "\(leaderName) at \(leaderAddress) leads"
    return [("replica", "\(name), \(leader) (epoch \(epoch))")]
      + replicas.map { other in
        let lag = other.lag.map { $0.seconds * 1_000 + Int64($0.nanos) / 1_000_000 } ?? 0
        return (
          "replica \(other.name)",
          "lag \(lag) ms, \(other.commitsBehind) commits behind, version \(other.version)"
        )
      }
  }
}

/// `entitled whoami`.
struct WhoAmICommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami", abstract: "Show your name, roles and apps.")

  @OptionGroup var client: ClientOptions

  func run() async throws {
    let response = try await client.withConnection { try await $0.whoAmI(WhoAmIRequest()) }
    client.show(
      response,
      [
        ("caller", response.caller.isEmpty ? "(callers are not authenticated)" : response.caller),
        ("roles", response.roles.joined(separator: ", ")),
        ("apps", response.apps.joined(separator: ", ") + (response.allApps ? " (all)" : "")),
      ])
  }
}

/// `entitled health`, for container health checks.
struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health", abstract: "Check the health of the server.",
    discussion: "Exit status 0 only if the status is SERVING.")

  @OptionGroup var client: ClientOptions

  @Argument(help: "Full name of a service (default: the whole server).") var service = ""

  func run() async throws {
    let status = try await client.withConnection { try await $0.health(of: service) }
    client.show(GRPCHealth.HealthCheckResponse.with { $0.status = status }, [("status", status.protoName)])
    if status != .serving { throw ExitCode(1) }
  }
}

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
    for (app, rejected) in zip(apps, rejections) {
      let environment = app.environment.protoName.droppingPrefix("ENVIRONMENT_").lowercased()
      rows.append(
        (
          "\(app.app) \(environment)",
          [
            app.arrivals(rejected),
            "\(app.overduePolls) overdue polls",
            "\(app.openConsumptionRequests) open consumption requests",
            app.notificationDelay.map { "median delay \($0.median?.seconds ?? 0) s" } ?? "",
            app.hasInAppPurchaseKey ? "" : "no in-app purchase key",
          ].filter { !$0.isEmpty }.joined(separator: ", ")
        ))
      rows += app.appleRateLimits.map { limit in
        (
          "\(app.app) \(environment) \(limit.endpoint)",
          "\(limit.availableCalls) calls left, \(limit.waitingCalls) wait"
        )
      }
    }
    if let replica {
      let leader =
        replica.leaderName.isEmpty
        ? "no replica leads" : "\(replica.leaderName) at \(replica.leaderAddress) leads"
      rows.append(("replica", "\(replica.name), \(leader) (epoch \(replica.epoch))"))
      rows += replica.replicas.map { other in
        let lag = other.lag.map { $0.seconds * 1_000 + Int64($0.nanos) / 1_000_000 } ?? 0
        return (
          "replica \(other.name)",
          "lag \(lag) ms, \(other.commitsBehind) commits behind, version \(other.version)"
        )
      }
    }
    rows += certificates.map { ($0.use, "certificate ends \($0.endsAt.date)") }
    if let store {
      rows.append(("store", "\(store.sizeBytes >> 20) MiB, \((store.freeBytes ?? 0) >> 20) MiB free"))
    }
    return rows
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

internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled status`.
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the state of the service and of each app.")

  @OptionGroup var client: ClientOptions

  func run() async throws {
    let response = try await client.withConnection { try await $0.getStatus(GetStatusRequest()) }
    client.show(response, response.rows)
  }
}

extension GetStatusResponse {
  fileprivate var rows: [(String, String)] {
    var rows = [("version", version), ("ready", ready ? "yes" : "no"), ("started", startedAt.text)]
    rows += checks.map { ($0.name, $0.error.isEmpty ? "ok" : $0.error) }
    for app in apps {
      let environment = app.environment.protoName.droppingPrefix("ENVIRONMENT_").lowercased()
      let last = app.lastNotificationAt.text
      rows.append(
        (
          "\(app.app) \(environment)",
          [
            last.isEmpty ? "no notification yet" : "last notification \(last)",
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

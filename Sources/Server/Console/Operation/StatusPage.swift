internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The state of the service for operators.
enum StatusPage {
  /// `GET /status`.
  ///
  /// - Throws: the status of `GetStatus`, without which there is no page. Webhooks and configuration show their own
  ///   errors.
  static func page(_ visit: Visit) async throws(Status) -> Page {
    let status = try await visit.call(Calls.getStatus, GetStatusRequest())
    let ready = status.ready ? Part.chip("✓ \(Text.ready)", .full) : Part.chip("✕ \(Text.notReady)", .none)
    let body: Markup = """
      <h1>\(Text.status) \(ready)</h1>
      \(Table.properties([
        (Text.version, "\(status.version)"), (Text.started, Format.time(status.startedAt)), (Text.serverTime, Format.time(status.time)),
        (Text.storeSize, status.store.map { "\(size(of: $0))" }),
        (Text.lastEvidence, status.store.map { "\($0.lastEvidenceId)" }),
        (Text.replica, status.replica.map { "\(Text.replica($0.name, isLeader: $0.leader, leader: $0.leaderName))" }),
      ]))
      <h2>\(Text.dependencies)</h2>
      \(checks(status))
      \(status.replica.map(replicas) ?? "")
      <h2>\(Text.appsTitle)</h2>
      \(apps(status, await RejectedNotifications(of: status.apps, visit)))
      <h2>\(Text.rateLimits)</h2>
      \(rateLimits(status))
      <h2>\(Text.webhooks)</h2>
      \(await webhooks(status, visit))
      \(status.store == nil ? "" : "<h2>\(Text.certificates)</h2>\n\(certificates(status, at: visit.now))" as Markup)
      <h2>\(Text.configuration)</h2>
      \(await configuration(visit))
      <p class="quiet">\(curves(visit))</p>
      """
    return Page(Text.status, section: .status, body: body)
  }

  /// The size of the store, and the space that is left if it is known.
  private static func size(of store: StoreStatus) -> String {
    let free = store.freeBytes.map { Text.free(Format.size($0)) }
    return [Format.size(store.sizeBytes), free].compactMap(\.self).joined(separator: " · ")
  }

  /// The replicas of the database, and how far each is behind the commits of the leader.
  private static func replicas(_ status: ReplicaStatus) -> Markup {
    let rows = status.replicas.map { replica in
      let state: Markup =
        replica.name == status.leaderName ? Part.chip(Text.leads, .full) : "\(Text.follows)"
      let lag = replica.lag?.milliseconds ?? 0
      return [
        Format.name(replica.name), state, "\(replica.version)", "\(replica.commitsBehind)",
        lag < longLag ? "\(Format.delay(lag))" : Part.chip(Format.delay(lag), .grace),
      ] as [Markup]
    }
    let table =
      rows.isEmpty
      ? Part.empty(Text.noReplicas)
      : Table.markup(
        Text.replicas,
        heads: [Text.replica, Text.state, Text.version, Text.commitsBehind, Text.lag], rows: rows)
    return "<h2>\(Text.replicas)</h2>\n\(table)"
  }

  /// The milliseconds from which on the lag of a replica is a warning. Usually it is a few.
  private static let longLag: Int64 = 1_000

  /// The link to the figures over time.
  private static func curves(_ visit: Visit) -> Markup {
    guard let grafana = visit.links.grafana else { return "\(Text.curves)" }
    return "\(Text.curvesAre) <a href=\"\(grafana)\" rel=\"noreferrer\">\(Text.grafana)</a>."
  }

  /// Apple's rate limits, for each endpoint that was called.
  private static func rateLimits(_ status: GetStatusResponse) -> Markup {
    let rows = status.apps.flatMap { app in
      app.appleRateLimits.map { limit in
        [
          Format.name("\(app.app) · \(app.environment.slug)"), "<code>\(limit.endpoint)</code>",
          limit.availableCalls > 0 ? "\(limit.availableCalls)" : Part.chip("0", .grace),
          "\(limit.callsPerSecond)",
          limit.waitingCalls == 0 ? "0" : Part.chip("\(limit.waitingCalls)", .grace),
        ] as [Markup]
      }
    }
    guard !rows.isEmpty else { return Part.empty(Text.noAppleCalls) }
    return Table.markup(
      Text.rateLimits,
      heads: [Text.app, Text.endpoint, Text.availableCalls, Text.callsPerSecond, Text.waitingCalls],
      rows: rows)
  }

  private static func delay(_ app: AppStatus) -> Markup {
    guard let delay = app.notificationDelay else { return "<span class=\"quiet\">\(Text.none)</span>" }
    let (median, longest) = (delay.median?.milliseconds ?? 0, delay.longest?.milliseconds ?? 0)
    return "\(Format.delay(median)), \(Text.longest(Format.delay(longest)))"
  }

  private static func checks(_ status: GetStatusResponse) -> Markup {
    Table.markup(
      Text.dependencies, heads: [Text.dependency, Text.state],
      rows: status.checks.map { check in
        [
          "\(Text.check(check.name).map { "\($0) " } ?? "")<code class=\"quiet\">\(check.name)</code>",
          check.error.isEmpty
            ? Part.chip("✓ \(Text.ok)", .full) : "\(Part.chip("✕", .none)) \(check.error)",
        ]
      })
  }

  private static func apps(_ status: GetStatusResponse, _ rejected: RejectedNotifications) -> Markup {
    let rows = status.apps.map { app in
      let scope = Scope(app: app.app, environment: app.environment)
      let interval =
        app.typicalNotificationInterval.map {
          "<br><span class=\"quiet\">\(Text.usualInterval(Format.span($0.seconds * 1_000)))</span>" as Markup
        } ?? ""
      let overdue: Markup =
        app.overduePolls == 0 ? "" : "<br>\(Part.chip(Text.overduePolls(app.overduePolls), .grace))"
      return [
        "<a href=\"\(scope.work())\">\(Format.name(app.app)) · \(app.environment.slug)</a>",
        "\(rejected.markup(after: app))\(interval)", delay(app), Format.time(app.completeUntil),
        "\(Format.time(app.nextPollAt))\(overdue)",
        "<a href=\"\(scope.work(.refunds))\">\(app.openConsumptionRequests)</a>",
        "\(app.hasInAppPurchaseKey ? Text.yes : Text.no)",
        "<a href=\"\(scope.catalog())\"><code>\(app.catalogFingerprint)</code></a>",
        app.lastSequence == 0 ? "\(Text.none)" : scope.eventLink(app.lastSequence),
      ] as [Markup]
    }
    guard !rows.isEmpty else { return Part.empty(Text.noApps) }
    return Table.markup(
      Text.appsTitle,
      heads: [
        Text.app, Text.lastNotification, Text.notificationDelay, Text.completeUntil, Text.nextPoll,
        Text.refundRequests, Text.appleKey, Text.catalog, Text.lastEvent,
      ], rows: rows)
  }

  /// The milliseconds before the end of a certificate from which on it is a warning: automatic renewals happen earlier.
  private static let shortLife: Int64 = 14 * Instant.millisecondsPerDay

  private static func certificates(_ status: GetStatusResponse, at now: Instant) -> Markup {
    let rows = status.certificates.map { certificate in
      let left = certificate.endsAt?.instant.map { $0.milliseconds(since: now) } ?? 0
      let state =
        left <= 0
        ? Part.chip("✕ \(Text.over)", .none)
        : Part.chip(Text.left(Format.span(left)), left < shortLife ? .grace : .full)
      return ["\(certificate.use)", Format.time(certificate.endsAt), state] as [Markup]
    }
    guard !rows.isEmpty else { return Part.empty(Text.noCertificates) }
    return Table.markup(
      Text.certificates, heads: [Text.usedFor, Text.ends, Text.timeLeft], rows: rows)
  }

  private static func webhooks(_ status: GetStatusResponse, _ visit: Visit) async -> Markup {
    guard visit.mayCall(Calls.listWebhooks) else { return Part.empty(Text.needsRole("operate")) }
    var rows: [[Markup]] = []
    var problems: [Markup] = []
    for app in Set(status.apps.map(\.app)).sorted() {
      // The list of dead letters has those of all environments.
      let list = status.apps.first { $0.app == app }.map {
        Scope(app: app, environment: $0.environment).work(.deadLetters)
      }
      switch await visit.attempt(Calls.listWebhooks, .with { $0.app = app }) {
      case .failure(let error): problems.append(Part.failure(error, of: Text.webhooks(of: app)))
      case .success(let response):
        rows += response.webhooks.map { webhook in
          let tone: Tone = webhook.state == .healthy ? .full : webhook.state == .failing ? .grace : .none
          return [
            Format.name(app), Format.name(webhook.name),
            Part.chip(Format.value(webhook.state, "WEBHOOK_STATE_"), tone),
            "\(max(0, webhook.latestNumber - webhook.cursor))", "\(webhook.pending)",
            Format.time(webhook.oldestPendingAt),
            list.map { "<a href=\"\($0)\">\(webhook.deadLetters)</a>" } ?? "\(webhook.deadLetters)",
            "<code>\(webhook.url)</code>",
          ]
        }
      }
    }
    guard !rows.isEmpty else { return problems.isEmpty ? Part.empty(Text.noWebhooks) : problems.joined() }
    let table = Table.markup(
      Text.webhooks,
      heads: [
        Text.app, Text.webhook, Text.state, Text.behind, Text.pending, Text.oldest, Text.queueDeadLetters,
        Text.url,
      ], rows: rows)
    return problems.joined() + table
  }

  private static func configuration(_ visit: Visit) async -> Markup {
    guard visit.mayCall(Calls.getConfiguration) else { return Part.empty(Text.needsRole("operate")) }
    switch await visit.attempt(Calls.getConfiguration, GetConfigurationRequest()) {
    case .failure(let error): return Part.failure(error)
    case .success(let response):
      let rows = JSONText.object(response.configurationJson) ?? []
      return """
        <p>\(Text.loaded) \(Format.time(response.loadedAt)) <code>\(response.path.given ?? Text.demo)</code></p>
        \(pendingRestart(response))
        \(Table.properties(rows.map { ($0, JSONText.value($0, $1)) }))
        """
    }
  }

  private static func pendingRestart(_ response: GetConfigurationResponse) -> Markup {
    let settings = response.pendingRestart.joined(separator: ", ")
    return settings.isEmpty ? "" : "<p class=\"problem\">\(Text.needsRestart) \(settings)</p>"
  }
}

extension GoogleProtobuf.Duration {
  fileprivate var milliseconds: Int64 { seconds * 1_000 + Int64(nanos) / 1_000_000 }
}

extension Format {
  /// A delay: milliseconds and seconds too, which ``span(_:)`` does not have.
  fileprivate static func delay(_ milliseconds: Int64) -> String {
    switch milliseconds {
    case ..<1_000: "\(milliseconds) ms"
    case ..<120_000: "\(milliseconds / 1_000) s"
    default: span(milliseconds)
    }
  }
}

internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled notifications`: what came of Apple's notifications, and of those that did not come.
struct NotificationsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notifications", abstract: "Find and fill gaps in what Apple delivers.",
    subcommands: [
      RepairsCommand.self, DriftCommand.self, BackfillCommand.self, ReplayNotificationsCommand.self,
    ], defaultSubcommand: RepairsCommand.self)
}

/// `entitled notifications repairs`: the gaps that were filled.
struct RepairsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repairs", abstract: "List the gaps that were filled, the latest first.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"

  func run() async throws {
    let page = try await client.withConnection { connection in
      try await connection.listRepairs(.with { $0.app = app })
    }
    client.show(page, page.repairs.map { ($0.repairId, $0.summary) })
  }
}

/// `entitled notifications drift`: who was believed wrongly.
struct DriftCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drift", abstract: "Tell of whom something else was believed than Apple says.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Argument(help: "The repair's number; else the latest.") var repair = ""

  func run() async throws {
    try await client.withConnection { connection in
      var token = ""
      repeat {
        let request = GetDriftReportRequest.with {
          $0.app = app
          $0.repairId = repair
          $0.pageToken = token
        }
        let page = try await connection.getDriftReport(request)
        let head =
          token.isEmpty ? [("repair \(page.repair?.repairId ?? "")", page.repair?.summary ?? "")] : []
        client.show(page, head + page.drifts.flatMap(\.rows))
        token = page.nextPageToken
      } while !token.isEmpty
    }
  }
}

/// `entitled notifications backfill`: fills a gap now.
struct BackfillCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backfill", abstract: "Take in what Apple's notification history has, and ask about it.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Option(help: "From when on, in RFC 3339; else as far back as Apple remembers.") var from: String?
  @Option(help: "Until when, in RFC 3339; else until now.") var to: String?

  func run() async throws {
    var request = BackfillNotificationsRequest.with { $0.app = app }
    request.environment = try EnvironmentName.parse(environment)
    request.from = try TimeOption.parse(from, "--from")
    request.to = try TimeOption.parse(to, "--to")
    let answer = try await client.withConnection { [request] in try await $0.backfill(request) }
    client.show(answer, answer.repair.map { [("repair \($0.repairId)", $0.summary)] } ?? [])
  }
}

/// `entitled notifications replay`: interprets kept notifications again.
struct ReplayNotificationsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Interpret again what was not understood or not believed.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Flag(help: "Only tell what would change.") var dryRun = false

  func run() async throws {
    let answer = try await client.withConnection { connection in
      try await connection.replay(
        .with {
          $0.app = app
          $0.dryRun = dryRun
        })
    }
    let changes = answer.changes.map { ("\($0.evidenceId)", "\($0.notificationType): \($0.explanation)") }
    client.show(
      answer,
      [
        ("reprocessed", String(answer.reprocessed)), ("changed", String(answer.changed)),
        ("unsupported", String(answer.unsupported)),
      ] + changes)
  }
}

extension Repair {
  /// The repair in a line.
  fileprivate var summary: String {
    let phase = finishedAt == nil ? phase.protoName.droppingPrefix("REPAIR_PHASE_") : "done"
    let what = reason.protoName.droppingPrefix("REPAIR_REASON_")
    let counts = "\(received) received, \(queriedPurchases) queried, \(driftedCustomers) customers differed"
    return "\(what) \(from.text) to \(to.text): \(phase), \(counts)\(error.isEmpty ? "" : "; \(error)")"
  }
}

extension Drift {
  /// What was believed and what Apple says, each in a line.
  fileprivate var rows: [(String, String)] {
    [
      ("\(customerId) \(entitlement)", "before  \(before?.summary ?? "")"),
      ("", "after   \(after?.summary ?? "not compared yet")"),
    ]
  }
}

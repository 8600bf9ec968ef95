internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled notifications`: Apple's notifications and gap repairs.
struct NotificationsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notifications", abstract: "List, repair, test and compare notifications.",
    subcommands: [
      ListNotificationsCommand.self, SubmitNotificationCommand.self, RequestTestNotificationCommand.self,
      TestNotificationStatusCommand.self, RepairsCommand.self, DriftCommand.self, BackfillCommand.self,
      ReprocessNotificationsCommand.self,
      CompareVersionsCommand.self,
    ], defaultSubcommand: RepairsCommand.self)
}

/// `entitled notifications repairs`.
struct RepairsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repairs", abstract: "List gap repairs, latest first.")

  @OptionGroup var options: AppOptions

  func run() async throws {
    let request: ListRepairsRequest = try await options.request()
    try await options.showPages(
      request, { try await $0.listRepairs($1) }, empty: "no repairs"
    ) { $0.repairs.map { ($0.repairId, $0.summary) } }
  }
}

/// `entitled notifications drift`.
struct DriftCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drift", abstract: "Show the differences that a gap repair found.")

  @OptionGroup var options: AppOptions

  @Argument(help: "Repair id (default: the latest repair).") var repair = ""

  func run() async throws {
    var isFirst = true
    let request: GetDriftReportRequest = try await options.request { $0.repairId = repair }
    try await options.showPages(
      request, { try await $0.getDriftReport($1) }, empty: "no differences"
    ) { page in
      let head = isFirst ? [("repair \(page.repair?.repairId ?? "")", page.repair?.summary ?? "")] : []
      isFirst = false
      return head + page.drifts.flatMap(\.rows)
    }
  }
}

/// `entitled notifications backfill`.
struct BackfillCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backfill", abstract: "Ingest Apple's notification history now.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Start time, RFC 3339 or a date (default: the start of Apple's history).") var from: String?
  @Option(help: "End time, RFC 3339, or the last day (default: now).") var to: String?
  @Option(help: "Reason, for the audit log.") var note = ""

  func run() async throws {
    let request: BackfillNotificationsRequest = try await options.request {
      $0.note = note
      $0.startTime = try TimeOption.parse(from, "--from")
      $0.endTime = try TimeOption.parse(to, "--to", day: .known)
    }
    let response = try await options.withConnection { connection in
      try await ProgressLine.during {
        try await connection.backfillNotifications(request, timeoutSeconds: 600)
      } show: { _ in
        let newest = ListRepairsRequest.with {
          $0.app = request.app
          $0.environment = request.environment
          $0.pageSize = 1
        }
        return (try? await connection.listRepairs(newest))?.repairs.first?.progress
      }
    }
    options.show(response, response.repair.map { [("repair \($0.repairId)", $0.summary)] } ?? [])
  }
}

/// `entitled notifications reprocess`.
struct ReprocessNotificationsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reprocess", abstract: "Decode unsupported or rejected notifications again.")

  @OptionGroup var options: AppOptions

  @Flag(help: "Report the changes without storing them.") var dryRun = false
  @Option(help: "Reason, for the audit log.") var note = ""

  func run() async throws {
    let request: ReprocessNotificationsRequest = try await options.request {
      $0.dryRun = dryRun
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.reprocessNotifications(request) }
    let changes = response.changes.map { ("\($0.evidenceId)", "\($0.notificationType): \($0.explanation)") }
    options.show(
      response,
      [
        ("reprocessed", String(response.reprocessed)), ("changed", String(response.changed)),
        ("unsupported", String(response.unsupported)),
      ] + changes)
  }
}

/// `entitled notifications compare-versions`.
struct CompareVersionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare-versions", abstract: "Compare version 1 and version 2 notifications.",
    discussion: """
      Lists the purchases for which the two versions of App Store Server Notifications differ. Run it before you \
      rely on version 2. Exit status 0 if no purchase differs, 3 otherwise.
      """)

  @OptionGroup var options: ScopedOptions

  @OptionGroup var arrival: ArrivalOptions

  func run() async throws {
    let (from, to) = try arrival.times()
    let request: CompareNotificationVersionsRequest = try await options.request {
      $0.startTime = from
      $0.endTime = to
    }
    let differences = try await options.showPages(
      request, { try await $0.compareNotificationVersions($1) }, empty: "no differences"
    ) { $0.comparisons.flatMap(\.rows) }
    if differences > 0 { throw ExitCode(3) }
  }
}

extension Repair {
  /// The work that a running repair has done; Apple does not report how much there is.
  fileprivate var progress: String? {
    guard finishedAt == nil else { return nil }
    let history = "\(received + alreadyKnown) notifications of the history read, \(received) were missing"
    return phase == .history ? history : "\(history); \(queriedPurchases) purchases queried"
  }

  /// The repair in one line.
  fileprivate var summary: String {
    let phase = finishedAt == nil ? phase.protoName.droppingPrefix("REPAIR_PHASE_") : "done"
    let cause = reason.protoName.droppingPrefix("REPAIR_REASON_")
    let counts = "\(received) received, \(queriedPurchases) queried, \(driftedCustomers) customers differed"
    let range = "\(startTime.text) to \(endTime.text)"
    return "\(cause) \(range): \(phase), \(counts)\(error.isEmpty ? "" : "; \(error)")"
  }
}

extension Drift {
  /// The stored state and Apple's, one line each.
  fileprivate var rows: [(String, String)] {
    [
      ("\(customerId) \(entitlement)", "before  \(before?.summary ?? "")"),
      ("", "after   \(after?.summary ?? "not compared yet")"),
    ]
  }
}

extension VersionComparison {
  /// The purchase in one line, and one line for each difference.
  fileprivate var rows: [(String, String)] {
    let counts = "\(version1Notifications) version 1 notifications, \(version2Notifications) of version 2"
    let unmatched = [
      ("  only in version 1", onlyInVersion1.joined(separator: ", ")),
      ("  only in version 2", onlyInVersion2.joined(separator: ", ")),
    ]
    let fields = differences.map { difference in
      (
        "  \(difference.field)",
        "version 1: \(difference.version1.orNone), version 2: \(difference.version2.orNone)"
      )
    }
    let owner = customerId.isEmpty ? "" : " of \(customerId)"
    return [("\(originalTransactionId)\(owner)", counts)] + unmatched + fields
  }
}

extension String {
  fileprivate var orNone: String { isEmpty ? "none" : self }
}

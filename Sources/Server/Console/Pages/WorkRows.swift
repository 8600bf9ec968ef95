internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// One page of a work list.
struct WorkRows: Sendable {
  /// A row as cells of the table and as values of the CSV.
  struct Row: Sendable {
    let cells: [Markup]
    let values: [String]
  }

  var rows: [Row] = []
  /// The token of the next page; empty on the last page.
  var next = ""
  /// The markup before the table.
  var head: Markup = ""

  static func first(
    of queue: WorkQueue, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    try await page(of: queue, after: "", scope, visit)
  }

  static func page(
    of queue: WorkQueue, after page: String, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    switch queue {
    case .refunds: try await refunds(page, scope, visit)
    case .unclaimed: try await unclaimed(page, scope, visit)
    case .deadLetters: try await deadLetters(page, scope, visit)
    case .consents: try await consents(page, scope, visit)
    case .rejected: try await rejected(page, scope, visit)
    case .drift: try await drift(page, scope, visit)
    case .contradictions: try await contradictions(page, scope, visit)
    case .disagreements: try await disagreements(page, scope, visit)
    case .migrations: try await migrations(page, scope, visit)
    }
  }
}

extension WorkRows {
  /// A button for an action on the whole list; `nil` if it would be refused.
  static func button(_ action: ActionName, in scope: Scope, _ visit: Visit) -> Markup? {
    guard action.isOpen(to: visit) else { return nil }
    let style: Markup = action.isIrreversible ? "button danger" : "button"
    return "<a class=\"\(style)\" href=\"\(scope.action(action))\">\(action.title)…</a>"
  }

  fileprivate static func head(_ action: ActionName, in scope: Scope, _ visit: Visit) -> Markup {
    button(action, in: scope, visit).map { "<p class=\"row actions\">\($0)</p>\n" } ?? ""
  }
}

// The lists.
extension WorkRows {
  private static func refunds(
    _ page: String, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let now = try await visit.time(in: scope)
    let response = try await visit.call(
      Calls.listConsumptionRequests,
      .with {
        $0.app = scope.app
        $0.environment = scope.environment
        $0.state = .open
        $0.pageToken = page
      })
    let sorted = response.requests.sorted { ($0.answerBy?.seconds ?? 0) < ($1.answerBy?.seconds ?? 0) }
    let rows = sorted.map { request in
      Row(
        cells: RefundRow.cells(
          request, scope, at: now, actions: RefundRow.answer(request, scope, visit)),
        values: [
          Format.value(request.state, "CONSUMPTION_REQUEST_STATE_"), request.productId, request.transactionId,
          request.originalTransactionId, request.customerId, request.requestedAt.text, request.answerBy.text,
          request.reason, request.stateReason,
        ])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }

  private static func unclaimed(
    _ page: String, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let response = try await visit.call(
      Calls.listUnclaimedPurchases,
      .with {
        $0.app = scope.app
        $0.environment = scope.environment
        $0.pageToken = page
      })
    let rows = response.transactions.map { transaction in
      let id = transaction.originalTransactionId
      let candidates = response.candidates.filter { $0.originalTransactionId == id }
      let names = candidates.map { candidate in
        "<a href=\"\(scope.customer(candidate.customerId))\">\(Format.name(candidate.customerId))</a> <span class=\"quiet\">\(Format.words(candidate.reason))</span>"
          as Markup
      }
      let values = [("purchase", id as String?), ("customer", candidates.first?.customerId)]
      let link: Markup =
        visit.mayCall(Calls.linkPurchase)
        ? "<a class=\"button\" href=\"\(scope.action(.link, values))\">\(ActionName.link.title)…</a>" : ""
      return Row(
        cells: [
          "<a href=\"\(scope.purchase(id))\">\(id)</a>", Format.name(transaction.productId),
          Format.time(transaction.purchaseDate), "\(transaction.price.map(Format.money) ?? "")",
          transaction.appAccountToken.isEmpty ? "" : Format.id(transaction.appAccountToken),
          names.joined(separator: "<br>"), link,
        ],
        values: [
          id, transaction.productId, transaction.purchaseDate.text,
          transaction.price.map { String($0.milliunits) } ?? "", transaction.price?.currency ?? "",
          transaction.appAccountToken, candidates.map(\.customerId).joined(separator: " "),
        ])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }

  /// The dead letters of all webhooks, those of one webhook together. A page is that of one webhook after the first ones.
  private static func deadLetters(
    _ page: String, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let webhooks = try await visit.call(Calls.listWebhooks, .with { $0.app = scope.app }).webhooks
    var result = WorkRows()
    result.head = webhooks.map { DeadLetterMarkup.head($0, scope) }.joined()
    let broken = webhooks.filter { $0.deadLetters > 0 }
    var position = PagePosition(page)
    guard position.part < broken.count else { return result }
    let webhook = broken[position.part]
    let response = try await visit.call(
      Calls.listDeliveries,
      .with {
        $0.app = scope.app
        $0.webhook = webhook.name
        $0.kind = webhook.kind
        $0.state = .deadLetter
        $0.pageToken = position.token
      })
    result.rows = response.deliveries.map { DeadLetterMarkup.row($0, of: webhook, scope) }
    result.next = position.advance(response.nextPageToken, parts: broken.count)
    return result
  }

  private static let rejectedStates: [NotificationState] = [.rejected, .unsupported, .unconfirmed]

  private static func rejected(
    _ page: String, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    var position = PagePosition(page)
    var result = WorkRows()
    // States without notifications make no empty pages.
    while result.rows.isEmpty, position.part < rejectedStates.count {
      let response = try await visit.call(
        Calls.listNotifications,
        .with {
          $0.app = scope.app
          // An item that cannot be read names no environment, and is in the lists of all.
          $0.environment = scope.environment
          $0.state = rejectedStates[position.part]
          $0.pageToken = position.token
        })
      result.rows = response.notifications.map { rejectedRow($0, scope) }
      result.next = position.advance(response.nextPageToken, parts: rejectedStates.count)
    }
    if !result.rows.isEmpty { result.head = head(.reprocess, in: scope, visit) }
    return result
  }

  private static func rejectedRow(_ notification: Notification, _ scope: Scope) -> Row {
    let type = [notification.notificationType, notification.subtype].filter { !$0.isEmpty }.joined(
      separator: " / ")
    let state = Format.value(notification.state, "NOTIFICATION_STATE_")
    let tone: Tone = notification.state == .rejected ? .none : .grace
    return Row(
      cells: [
        Format.time(notification.receivedAt), "<code>\(type)</code>",
        "\(Part.chip(state, tone)) \(notification.reason)", "\(notification.explanation)",
        "<a href=\"\(scope.evidence(notification.evidenceId))\">\(Text.evidence(notification.evidenceId))</a>",
      ],
      values: [
        notification.receivedAt.text, notification.notificationType, notification.subtype, state,
        notification.reason, notification.explanation, String(notification.evidenceId),
      ])
  }

  private static func drift(
    _ page: String, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let backfill = head(.backfill, in: scope, visit)
    let repairs = try await visit.call(
      Calls.listRepairs,
      .with {
        $0.app = scope.app
        $0.environment = scope.environment
        $0.pageSize = 1
      })
    guard let repair = repairs.repairs.first else { return WorkRows(head: backfill) }
    let report = try await visit.call(
      Calls.getDriftReport,
      .with {
        $0.app = scope.app
        $0.repairId = repair.repairId
        $0.pageToken = page
      })
    let rows = report.drifts.map { drift in
      Row(
        cells: [
          drift.customerId.isEmpty
            ? "\(Text.noCustomer)"
            : "<a href=\"\(scope.customer(drift.customerId))\">\(Format.name(drift.customerId))</a>",
          Format.name(drift.entitlement), Format.time(drift.detectedAt), "\(drift.before?.reason ?? "")",
          "\(drift.after?.reason ?? "")",
        ],
        values: [
          drift.customerId, drift.entitlement, drift.detectedAt.text, drift.before?.reason ?? "",
          drift.after?.reason ?? "",
        ])
    }
    return WorkRows(rows: rows, next: report.nextPageToken, head: backfill + summary(of: repair))
  }

  private static func summary(of repair: Repair) -> Markup {
    let end: Markup =
      repair.finishedAt == nil ? "\(Text.repairRuns)" : "\(Text.finished) \(Format.time(repair.finishedAt))"
    let problem: Markup = repair.error.isEmpty ? "" : "<li class=\"chip none\">\(repair.error)</li>"
    return """
      <ul class="facts"><li>\(Text.started) \(Format.time(repair.startedAt))</li><li>\(end)</li>\
      <li>\(Text.missing(notifications: repair.received))</li>\(problem)</ul>
      """
  }

  private static func contradictions(
    _ page: String, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let response = try await visit.call(
      Calls.listContradictions,
      .with {
        $0.app = scope.app
        $0.environment = scope.environment
        $0.pageToken = page
      })
    let rows = response.contradictions.map { contradiction in
      Row(
        cells: [
          "<a href=\"\(scope.customer(contradiction.customerId))\">\(Format.name(contradiction.customerId))</a>",
          Part.chip(Format.words(contradiction.kind), .none), "\(contradiction.explanation)",
          contradiction.transactionId.isEmpty
            ? ""
            : "<a href=\"\(scope.purchase(contradiction.transactionId))\">\(contradiction.transactionId)</a>",
        ],
        values: [
          contradiction.customerId, contradiction.kind, contradiction.transactionId,
          contradiction.explanation,
        ])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }

  private static func migrations(
    _ page: String, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let response = try await visit.call(
      Calls.listMigrations,
      .with {
        $0.app = scope.app
        $0.pageToken = page
      })
    let rows = response.migrations.map { job in
      let state = Format.value(job.state, "MIGRATION_STATE_")
      let counts = [job.migrated, job.unchanged, job.rejected, job.retryable]
      let cells: [Markup] = [
        "\(job.migrated)", "\(job.unchanged)", failures(job.rejected, .rejected, of: job, scope),
        failures(job.retryable, .retryable, of: job, scope),
      ]
      return Row(
        cells: [
          Format.id(job.migrationId), "\(self.state(of: job)) \(cancel(job, scope, visit))", progress(job),
          Format.time(job.startedAt),
          Format.time(job.finishedAt),
        ] + cells,
        values: [
          job.migrationId, state, job.startedAt.text, job.finishedAt.text, String(job.doneBytes),
          String(job.inputBytes),
        ] + counts.map { String($0) } + [job.error])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }

  /// The state, for a job that failed with its error and what to do about it.
  private static func state(of job: Migration) -> Markup {
    let name = Format.value(job.state, "MIGRATION_STATE_") + (job.dryRun ? ", \(Text.dryRun)" : "")
    guard job.state == .failed else { return "\(name)" }
    return "\(Part.chip("✕ \(name)", .none)) \(job.error)<br>\(Text.adviceFailedJob)"
  }

  /// The number of lines with an outcome and their reasons, which lead to the lines.
  private static func failures(
    _ count: Int64, _ outcome: MigrationOutcome, of job: Migration, _ scope: Scope
  ) -> Markup {
    guard count > 0 else { return "0" }
    let reasons = job.reasons.filter { $0.outcome == outcome }.map {
      "<br><span class=\"quiet\"><code>\($0.reason)</code> \($0.count)</span>" as Markup
    }
    return "<a href=\"\(MigrationFailuresPage.link(job.migrationId, in: scope))\">\(count)</a>\(reasons)"
  }

  private static func cancel(_ job: Migration, _ scope: Scope, _ visit: Visit) -> Markup {
    guard job.state == .running, ActionName.cancelMigration.isOpen(to: visit) else { return "" }
    let link = scope.action(.cancelMigration, [("migration", job.migrationId)])
    return "<a href=\"\(link)\">\(Text.cancelThis)</a>"
  }

  /// The share of the input that was read, and the number of receipts so far.
  private static func progress(_ job: Migration) -> Markup {
    guard job.inputBytes > 0 else { return "\(job.doneLines)" }
    let done = min(max(job.doneBytes, 0), job.inputBytes)
    let percent = Int(Double(done) / Double(job.inputBytes) * 100)
    return """
      <progress max="100" value="\(percent)" aria-label="\(Text.progress)"></progress> \(percent) % · \(job.doneLines)
      """
  }
}

/// The page of a list that is made of several lists: the part, and the token within it.
private struct PagePosition {
  private(set) var part = 0
  private(set) var token = ""

  init(_ page: String) {
    let parts = page.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let part = Int(parts[0]), part >= 0 else { return }
    self.part = part
    token = String(parts[1])
  }

  /// Goes to the next page, and returns its token; empty after the last part.
  mutating func advance(_ next: String, parts: Int) -> String {
    part = next.isEmpty ? part + 1 : part
    token = next
    return part < parts ? "\(part):\(token)" : ""
  }
}

/// Dead letters with what can be done about them.
private enum DeadLetterMarkup {
  static func head(_ webhook: Webhook, _ scope: Scope) -> Markup {
    let values = [("webhook", webhook.name as String?), ("kind", String(webhook.kind.rawValue))]
    var head: Markup = ""
    if webhook.state == .gone {
      head +=
        "<p class=\"notice\">\(Text.webhookGone(webhook.name)) <a href=\"\(scope.action(.resumeWebhook, values))\">\(ActionName.resumeWebhook.title)…</a></p>\n"
    }
    guard webhook.deadLetters > 0 else { return head }
    return head + """
      <p class="row actions"><strong>\(webhook.name)</strong> \(Text.deadLetters(webhook.deadLetters)) \
      <a class="button" href="\(scope.action(.resend, values))">\(ActionName.resend.title)…</a> \
      <a class="button danger" href="\(scope.action(.discard, values))">\(ActionName.discard.title)…</a></p>

      """
  }

  static func row(_ delivery: Delivery, of webhook: Webhook, _ scope: Scope) -> WorkRows.Row {
    // The list has the messages of all environments.
    let subject = DeliveryPage.subject(
      delivery.subject, isPurchase: webhook.kind == .notifications, scope.of(delivery.environment))
    return WorkRows.Row(
      cells: [
        "\(webhook.name)",
        "<a href=\"\(DeliveryPage.link(delivery, of: webhook, in: scope))\"><code>\(delivery.type)</code></a>",
        subject, Format.time(delivery.occurredAt),
        "\(delivery.attempts)", "\(delivery.outcome)",
      ],
      values: [
        webhook.name, Format.value(webhook.kind, "WEBHOOK_KIND_"), delivery.type, delivery.subject,
        String(delivery.number), delivery.occurredAt.text, String(delivery.attempts), delivery.outcome,
      ])
  }
}

extension GoogleProtobuf.Timestamp? {
  /// The time in RFC 3339; empty for an unset one.
  var text: String { self?.instant?.description ?? "" }
}

internal import AppStore
internal import Callers
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The lists of things that wait for a person.
enum WorkQueue: String, Sendable, CaseIterable {
  case refunds, unclaimed
  case deadLetters = "dead-letters"
  case rejected, drift, migrations

  var title: String {
    switch self {
    case .refunds: Text.queueRefunds
    case .unclaimed: Text.queueUnclaimed
    case .deadLetters: Text.queueDeadLetters
    case .rejected: Text.queueRejected
    case .drift: Text.queueDrift
    case .migrations: Text.queueMigrations
    }
  }

  /// What the queue has, and why.
  var hint: String {
    switch self {
    case .refunds: Text.hintRefunds
    case .unclaimed: Text.hintUnclaimed
    case .deadLetters: Text.hintDeadLetters
    case .rejected: Text.hintRejected
    case .drift: Text.hintDrift
    case .migrations: Text.hintMigrations
    }
  }

  fileprivate func isOpen(to visit: Visit) -> Bool {
    self == .deadLetters ? visit.mayCall(Calls.listWebhooks) : visit.has(.read)
  }
}

/// Work lists of one app and environment.
enum WorkPage {
  /// The content of a queue: its rows, and the token of the next page.
  struct Rows: Sendable {
    let heads: [String]
    let cells: [[Markup]]
    var next = ""
    /// What stands before the table.
    var head: Markup = ""
  }

  static func overview(in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    var items: [Markup] = []
    for queue in WorkQueue.allCases where queue.isOpen(to: visit) {
      let count: Markup
      do throws(Status) {
        let rows = try await rows(of: queue, scope, visit)
        let number = rows.next.isEmpty ? "\(rows.cells.count)" : Text.moreThan(rows.cells.count)
        count = Part.chip(number, rows.cells.isEmpty || queue == .migrations ? .ended : .grace)
      } catch {
        count = Part.failure(error)
      }
      items.append(
        "<article class=\"card\"><h2><a href=\"\(scope.work(queue))\">\(queue.title)</a> \(count)</h2><p>\(queue.hint)</p></article>\n"
      )
    }
    let makeGood: Markup =
      ActionName.makeGood.isOpen(to: visit)
      ? "<p class=\"row actions\"><a class=\"button\" href=\"\(scope.action(.makeGood))\">\(ActionName.makeGood.title)…</a> \(Text.makeGoodHint)</p>"
      : ""
    return Page(
      Text.work, in: scope, section: .work,
      body: "<h1>\(Text.work)</h1>\n<div class=\"cards\">\(items)</div>\n\(makeGood)")
  }

  static func page(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    guard let queue = WorkQueue(rawValue: name), queue.isOpen(to: visit) else {
      throw Status(.notFound, reason: "NO_SUCH_PAGE", Text.noSuchPage)
    }
    let rows = try await rows(of: queue, scope, visit)
    let next: Markup =
      rows.next.isEmpty
      ? ""
      : "<p><a href=\"\(Link(scope.path + ["work", name], query: [("page", rows.next)]))\">\(Text.nextPage)</a></p>"
    let table =
      rows.cells.isEmpty
      ? Part.empty(Text.emptyQueue(queue.title))
      : Table.markup(queue.title, heads: rows.heads, rows: rows.cells)
    return Page(
      queue.title, in: scope, section: .work,
      body: """
        <p><a href="\(scope.work())">\(Text.work)</a></p>
        <h1>\(queue.title)</h1>
        <p>\(queue.hint)</p>
        \(rows.head)
        <div class="cards-on-phones">\(table)</div>
        \(next)
        """)
  }

  private static func rows(of queue: WorkQueue, _ scope: Scope, _ visit: Visit) async throws(Status) -> Rows {
    switch queue {
    case .refunds: try await refunds(scope, visit)
    case .unclaimed: try await unclaimed(scope, visit)
    case .deadLetters: try await deadLetters(scope, visit)
    case .rejected: try await rejected(scope, visit)
    case .drift: try await drift(scope, visit)
    case .migrations: try await migrations(scope, visit)
    }
  }

  private static func refunds(_ scope: Scope, _ visit: Visit) async throws(Status) -> Rows {
    let status = try await visit.call(Calls.getStatus, GetStatusRequest())
    let now = scope.environment == .sandbox ? status.time?.instant ?? visit.now : visit.now
    let response = try await visit.call(
      Calls.listConsumptionRequests,
      .with {
        $0.app = scope.app
        $0.environment = scope.environment
        $0.state = .open
        $0.pageToken = visit.value("page") ?? ""
      })
    let sorted = response.requests.sorted { ($0.answerBy?.seconds ?? 0) < ($1.answerBy?.seconds ?? 0) }
    return Rows(
      heads: RefundRow.heads,
      cells: sorted.map { request in
        let values = [
          ("transaction", request.transactionId as String?), ("customer", request.customerId.given),
        ]
        let answer: Markup =
          visit.mayCall(Calls.sendConsumptionInformation)
          ? "<a class=\"button\" href=\"\(scope.action(.answerRefund, values))\">\(Text.answerThis)…</a>" : ""
        return RefundRow.cells(request, scope, at: now, actions: answer)
      }, next: response.nextPageToken)
  }

  private static func unclaimed(_ scope: Scope, _ visit: Visit) async throws(Status) -> Rows {
    let response = try await visit.call(
      Calls.listUnclaimedPurchases,
      .with {
        $0.app = scope.app
        $0.environment = scope.environment
        $0.pageToken = visit.value("page") ?? ""
      })
    return Rows(
      heads: [
        Text.purchase, Text.productHead, Text.when, Text.price, "appAccountToken", Text.candidates,
        Text.actions,
      ],
      cells: response.transactions.map { transaction in
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
        return [
          "<a href=\"\(scope.purchase(id))\">\(id)</a>", Format.name(transaction.productId),
          Format.time(transaction.purchaseDate), "\(transaction.price.map(Format.money) ?? "")",
          transaction.appAccountToken.isEmpty ? "" : Format.id(transaction.appAccountToken),
          names.joined(separator: "<br>"), link,
        ]
      }, next: response.nextPageToken)
  }

  private static func deadLetters(_ scope: Scope, _ visit: Visit) async throws(Status) -> Rows {
    let webhooks = try await visit.call(Calls.listWebhooks, .with { $0.app = scope.app }).webhooks
    var cells: [[Markup]] = []
    var head: [Markup] = []
    for webhook in webhooks {
      let values = [("webhook", webhook.name as String?), ("kind", String(webhook.kind.rawValue))]
      if webhook.state == .gone {
        head.append(
          "<p class=\"notice\">\(Text.webhookGone(webhook.name)) <a href=\"\(scope.action(.resumeWebhook, values))\">\(ActionName.resumeWebhook.title)…</a></p>"
        )
      }
      guard webhook.deadLetters > 0 else { continue }
      head.append(
        """
        <p class="row actions"><strong>\(webhook.name)</strong> \(Text.deadLetters(webhook.deadLetters)) \
        <a class="button" href="\(scope.action(.resend, values))">\(ActionName.resend.title)…</a> \
        <a class="button danger" href="\(scope.action(.discard, values))">\(ActionName.discard.title)…</a></p>
        """)
      let deliveries = try await visit.call(
        Calls.listDeliveries,
        .with {
          $0.app = scope.app
          $0.webhook = webhook.name
          $0.kind = webhook.kind
          $0.state = .deadLetter
        }
      ).deliveries
      cells += deliveries.map { delivery in
        let subject: Markup =
          webhook.kind == .notifications
          ? "<a href=\"\(scope.purchase(delivery.subject))\">\(delivery.subject)</a>"
          : "<a href=\"\(scope.customer(delivery.subject))\">\(Format.name(delivery.subject))</a>"
        return [
          "\(webhook.name)", "<code>\(delivery.type)</code>", subject, Format.time(delivery.occurredAt),
          "\(delivery.attempts)", "\(delivery.outcome)",
        ]
      }
    }
    return Rows(
      heads: [Text.webhook, Text.type, Text.subjectHead, Text.when, Text.attempts, Text.outcome],
      cells: cells,
      head: head.joined())
  }

  private static func rejected(_ scope: Scope, _ visit: Visit) async throws(Status) -> Rows {
    var notifications: [Notification] = []
    for state in [NotificationState.rejected, .unsupported, .unconfirmed] {
      notifications += try await visit.call(
        Calls.listNotifications,
        .with {
          $0.app = scope.app
          $0.environment = scope.environment
          $0.state = state
        }
      ).notifications
    }
    return Rows(
      heads: [Text.when, Text.type, Text.state, Text.inWords, Text.evidenceHead],
      cells: notifications.map { notification in
        let type = [notification.notificationType, notification.subtype].filter { !$0.isEmpty }.joined(
          separator: " / ")
        return [
          Format.time(notification.receivedAt), "<code>\(type)</code>",
          "\(Part.chip(Format.value(notification.state, "NOTIFICATION_STATE_"), notification.state == .rejected ? .none : .grace)) \(notification.reason)",
          "\(notification.explanation)",
          "<a href=\"\(scope.evidence(notification.evidenceId))\">\(Text.evidence(notification.evidenceId))</a>",
        ]
      })
  }

  private static func drift(_ scope: Scope, _ visit: Visit) async throws(Status) -> Rows {
    let heads = [Text.customer, Text.entitlement, Text.when, Text.before, Text.after]
    let report: GetDriftReportResponse
    do throws(Status) {
      report = try await visit.call(
        Calls.getDriftReport,
        .with {
          $0.app = scope.app
          $0.pageToken = visit.value("page") ?? ""
        })
    } catch {
      // No repair has run yet.
      guard error.code == .notFound || error.code == .failedPrecondition else { throw error }
      return Rows(heads: heads, cells: [])
    }
    return Rows(
      heads: heads,
      cells: report.drifts.map { drift in
        [
          drift.customerId.isEmpty
            ? "\(Text.noCustomer)"
            : "<a href=\"\(scope.customer(drift.customerId))\">\(Format.name(drift.customerId))</a>",
          Format.name(drift.entitlement), Format.time(drift.detectedAt), "\(drift.before?.reason ?? "")",
          "\(drift.after?.reason ?? "")",
        ]
      }, next: report.nextPageToken)
  }

  private static func migrations(_ scope: Scope, _ visit: Visit) async throws(Status) -> Rows {
    let response = try await visit.call(
      Calls.listMigrations,
      .with {
        $0.app = scope.app
        $0.pageToken = visit.value("page") ?? ""
      })
    return Rows(
      heads: [
        Text.migration, Text.state, Text.started, Text.finished, Text.done, Text.migrated, Text.unchanged,
        Text.rejectedHead,
        Text.retryable,
      ],
      cells: response.migrations.map { job in
        [
          Format.id(job.migrationId), "\(Format.value(job.state, "MIGRATION_STATE_"))",
          Format.time(job.startedAt),
          Format.time(job.finishedAt), "\(job.total)", "\(job.migrated)", "\(job.unchanged)",
          "\(job.rejected)",
          "\(job.retryable)",
        ]
      }, next: response.nextPageToken)
  }
}

internal import Markup
internal import Pages
internal import RPC
internal import Wire

// Messages that failed, to webhooks and from Apple.
extension WorkRows {
  /// The dead letters of all webhooks, those of one webhook together. A page is that of one webhook after the first ones.
  static func deadLetters(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let webhooks = try await visit.call(Calls.listWebhooks, .with { $0.app = scope.app }).webhooks
    var result = WorkRows()
    result.head = webhooks.map { DeadLetterMarkup.head($0, scope) }.joined()
    result.total = webhooks.reduce(0) { $0 + $1.deadLetters }
    // Between two pages, all messages of a webhook can be resent or discarded: a part is one of all webhooks.
    let broken = webhooks.indices.filter { webhooks[$0].deadLetters > 0 }
    var position = PagePosition(page.token)
    guard position.enter(broken) else { return result }
    let webhook = webhooks[position.part]
    let response = try await visit.call(
      Calls.listDeliveries,
      .with {
        $0.app = scope.app
        $0.webhook = webhook.name
        $0.kind = webhook.kind
        $0.state = .deadLetter
        $0.pageToken = position.token
        $0.pageSize = page.size
      })
    result.rows = response.deliveries.map { DeadLetterMarkup.row($0, of: webhook, scope) }
    result.next = position.advance(response.nextPageToken, in: broken)
    return result
  }

  private static let rejectedStates: [NotificationState] = [.rejected, .unsupported, .unconfirmed]

  static func rejected(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    var position = PagePosition(page.token)
    var result = WorkRows()
    guard position.enter(Array(rejectedStates.indices)) else { return result }
    // States without notifications make no empty pages.
    repeat {
      let response = try await visit.call(
        Calls.listNotifications,
        .with {
          $0.app = scope.app
          // An item that cannot be read names no environment, and is in the lists of all.
          $0.environment = scope.environment
          $0.state = rejectedStates[position.part]
          $0.pageToken = position.token
          $0.pageSize = page.size
        })
      result.rows = response.notifications.map { rejectedRow($0, scope) }
      result.next = position.advance(response.nextPageToken, in: Array(rejectedStates.indices))
    } while result.rows.isEmpty && !result.next.isEmpty
    if !result.rows.isEmpty { result.head = head(.reprocess, in: scope, visit) }
    return result
  }

  private static func rejectedRow(_ notification: Notification, _ scope: Scope) -> Row {
    Row(
      cells: NotificationRow.cells(notification, scope),
      values: [
        notification.receivedAt.text, notification.notificationType, notification.subtype,
        Format.value(notification.state, "NOTIFICATION_STATE_"), notification.reason,
        notification.explanation,
        String(notification.evidenceId),
      ])
  }
}

/// The page of a list that is made of several lists: the number of the part, and the token within it.
private struct PagePosition {
  private(set) var part = 0
  private(set) var token = ""

  init(_ page: String) {
    let parts = page.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let part = Int(parts[0]), part >= 0 else { return }
    self.part = part
    token = String(parts[1])
  }

  /// Goes on to the first of `parts` that is not before the position, and returns whether there is one.
  mutating func enter(_ parts: [Int]) -> Bool {
    guard let first = parts.first(where: { $0 >= part }) else { return false }
    if first != part { (part, token) = (first, "") }
    return true
  }

  /// Goes to the next page, and returns its token; empty after the last one of `parts`.
  mutating func advance(_ next: String, in parts: [Int]) -> String {
    if next.isEmpty {
      guard let following = parts.first(where: { $0 > part }) else { return "" }
      part = following
    }
    token = next
    return "\(part):\(token)"
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
        "<a href=\"\(DeliveryPage.link(webhook.name, webhook.kind, delivery.number, in: scope))\"><code>\(delivery.type)</code></a>",
        subject, Format.time(delivery.occurredAt),
        "\(delivery.attempts)", "\(delivery.outcome)",
      ],
      values: [
        webhook.name, Format.value(webhook.kind, "WEBHOOK_KIND_"), delivery.type, delivery.subject,
        String(delivery.number), delivery.occurredAt.text, String(delivery.attempts), delivery.outcome,
      ])
  }
}

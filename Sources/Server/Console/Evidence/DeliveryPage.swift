internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// One message of a webhook: its attempts, and the body that the webhook receives.
enum DeliveryPage {
  /// The address of a message. Kinds are in it by their number in the contract.
  static func link(_ webhook: String, _ kind: WebhookKind, _ number: Int64, in scope: Scope) -> Link {
    Link(
      scope.path + ["work", WorkQueue.deadLetters.rawValue, webhook, String(kind.rawValue), String(number)])
  }

  /// `GET` of `work/dead-letters/WEBHOOK/KIND/NUMBER` in the scope, also for a message that was delivered and waits no longer.
  static func page(
    _ webhook: String, _ kind: String, _ number: String, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> Page {
    let kind = WebhookKind(rawValue: Int32(kind) ?? 0)
    let response = try await visit.call(
      Calls.getDelivery,
      .with {
        $0.app = scope.app
        $0.webhook = webhook
        $0.kind = kind
        $0.number = Int64(number) ?? 0
      })
    let delivery = response.delivery
    let scope = scope.of(delivery?.environment ?? .unspecified)
    let title = Text.messageTo(webhook)
    return Page(
      title, in: scope, section: .work,
      body: """
        <p><a href="\(scope.work(.deadLetters))">\(Text.queueDeadLetters)</a></p>
        <h1>\(title)</h1>
        \(Table.properties([
          (Text.type, "<code>\(response.type)</code>"),
          (Text.subjectHead, subject(response.subject, isPurchase: kind == .notifications, scope)),
          (Text.webhookID, response.webhookId.given.map(Format.id)),
          (Text.state, delivery.map { "\(Format.value($0.state, "DELIVERY_STATE_"))" }),
          (Text.attempts, delivery.map { "\($0.attempts)" }), (Text.outcome, delivery.map { "\($0.outcome)" }),
          (Text.nextAttempt, delivery.flatMap(\.nextAttemptAt).map { Format.time($0) }),
        ]))
        \(delivery == nil ? "<p class=\"quiet\">\(Text.notWaiting)</p>" : "")
        <h2>\(Text.sentBody)</h2>
        \(DocumentMarkup.payload(String(decoding: response.body, as: UTF8.self)))
        """)
  }

  /// The subject of a message: a customer, or a purchase, which an event without an owner names with a `#`.
  static func subject(_ text: String, isPurchase: Bool, _ scope: Scope) -> Markup {
    if text.hasPrefix("#") { return subject(String(text.dropFirst()), isPurchase: true, scope) }
    let link = isPurchase ? scope.purchase(text) : scope.customer(text)
    return "<a href=\"\(link)\">\(Format.name(text))</a>"
  }
}

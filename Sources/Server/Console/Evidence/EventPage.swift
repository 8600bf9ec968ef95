internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// One event: the answer before and after it.
enum EventPage {
  /// `GET …/events/SEQUENCE`. The sequence is of the app, so the page may be about another environment than its
  /// address.
  static func page(_ number: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    guard let sequence = Int64(number), sequence > 0 else { throw .noSuchPage }
    let response = try await visit.call(
      Calls.getEvent,
      .with {
        $0.app = scope.app
        $0.sequence = sequence
      })
    let event = response.event ?? EntitlementEvent()
    let scope = scope.of(event.environment)
    let body: Markup = """
      <h1>\(Text.eventTitle(sequence)): \(Format.words(event.type))</h1>
      <p>\(event.explanation)</p>
      \(Table.properties([
        (Text.customer, event.customerId.given.map(scope.customerLink)),
        (Text.entitlement, event.entitlement.given.map(Format.name)), (Text.happened, Format.time(event.effectiveAt)),
        (Text.recorded, Format.time(event.recordedAt)), (Text.actor, event.actor.given.map(Format.name)),
        (Text.productHead, event.productId.given.map(Format.name)), (Text.price, event.price.map { "\(Format.money($0))" }),
        (Text.purchase, event.originalTransactionId.given.map(scope.purchaseLink)),
        (Text.evidenceHead, event.evidenceId.map(scope.evidenceLink)),
      ]))
      \(change(event))
      <details><summary>\(Text.asJSON)</summary><pre tabindex="0">\(String(decoding: event.json(), as: UTF8.self))</pre></details>
      """
    return Page(Text.eventTitle(sequence), in: scope, section: .customers, body: body)
  }

  /// The values of the answer before and after an event.
  static func changes(_ event: EntitlementEvent) -> [(name: String, before: String, after: String)] {
    guard let before = event.before, let after = event.after else { return [] }
    return [
      (Text.answer, before.entitled ? Text.yes : Text.no, after.entitled ? Text.yes : Text.no),
      (Text.reason, Format.words(before.reason), Format.words(after.reason)),
      (
        Text.accessUntil, before.until?.instant.map(Format.minuteUTC) ?? "",
        after.until?.instant.map(Format.minuteUTC) ?? ""
      ),
      (Text.productHead, before.productId, after.productId),
    ]
  }

  /// The answer before and after an event, as a table.
  static func change(_ event: EntitlementEvent) -> Markup {
    let rows = changes(event)
    guard !rows.isEmpty else { return "" }
    return Table.markup(
      Text.change(event.type, event.entitlement, event.customerId),
      heads: [Text.what, Text.before, Text.after],
      rows: rows.map {
        [
          "\($0.name)", Format.name($0.before),
          $0.before == $0.after ? Format.name($0.after) : "<strong>\(Format.name($0.after))</strong>",
        ]
      })
  }

  /// The cells of an event in a table of several customers.
  static func cells(_ event: EntitlementEvent, _ scope: Scope) -> [Markup] {
    [
      Format.time(event.effectiveAt),
      scope.customerLink(event.customerId),
      Format.name(event.entitlement), Part.chip(Format.words(event.type), Tone(event: event.type)),
      "\(event.explanation)", Format.name(event.actor),
      event.sequence == 0 ? "" : scope.eventLink(event.sequence),
    ]
  }
}

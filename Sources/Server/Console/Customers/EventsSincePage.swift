internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// Whether events of a customer followed since a page was shown.
enum EventsSincePage {
  /// The switch that shows them as they happen.
  static func button(_ data: CustomerData) -> Markup {
    let sequence = String(data.customer.sequence)
    func link(_ name: String) -> Link {
      Link(data.scope.path + ["customers", data.id, name], query: [("after", sequence)])
    }
    return """
      <button type="button" data-changes="\(link("changes"))" data-live="\(link("live"))" \
      data-sequence="\(sequence)" data-action="live" aria-pressed="false">\(Text.live)</button>
      """
  }

  /// The bar that reports them; nothing on a page about the past.
  static func bar(_ data: CustomerData) -> Markup {
    guard data.pointInTime.asOf == nil else { return "" }
    return """
      <p class="notice stale" role="status" hidden>\(Text.eventsSince) <span></span>. \
      <a href="\(data.scope.customer(data.id))">\(Text.refresh)</a></p>
      """
  }

  /// The number of events after the sequence `after`, at most 100, as text.
  static func count(_ id: String, in scope: Scope, _ visit: Visit) async throws(Status) -> HTTPResponse {
    let after = visit.value("after").flatMap { Int64($0) } ?? 0
    guard try await sequence(of: id, in: scope, visit) > after else { return .text(200, "0") }
    let timeline = try await visit.call(
      Calls.listTimeline,
      .about(id, in: scope) {
        $0.newestFirst = true
        $0.pageSize = 100
      })
    return .text(200, "\(timeline.events.count { $0.sequence > after })")
  }

  /// The sequence of the customer's last event.
  static func sequence(of id: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Int64 {
    try await visit.call(
      Calls.getCustomer,
      .about(id, in: scope) {
        $0.readMask = .with { $0.paths = ["sequence"] }
      }
    ).sequence
  }
}

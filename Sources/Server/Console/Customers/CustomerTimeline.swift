internal import AppStore
internal import Callers
internal import Entitlements
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// A customer's timeline, newest first: events, on demand with Apple's notifications and webhook deliveries.
enum CustomerTimeline {
  /// Events of one instant and kind, which are one row.
  struct Row: Sendable {
    var events: [EntitlementEvent]

    var first: EntitlementEvent { events[0] }

    fileprivate func belongs(_ event: EntitlementEvent) -> Bool {
      event.type == first.type && event.effectiveAt == first.effectiveAt && event.actor == first.actor
        && event.originalTransactionId == first.originalTransactionId
    }
  }

  /// Groups events in their order.
  static func rows(_ events: [EntitlementEvent]) -> [Row] {
    var rows: [Row] = []
    for event in events {
      if let last = rows.indices.last, rows[last].belongs(event) {
        rows[last].events.append(event)
      } else {
        rows.append(Row(events: [event]))
      }
    }
    return rows
  }

  static func section(_ data: CustomerData, _ visit: Visit) -> Markup {
    let head: Markup = "<h2 id=\"timeline\">\(Text.timeline)</h2>"
    let timeline: ListTimelineResponse
    do throws(Status) { timeline = try data.timeline.get() } catch { return head + Part.failure(error) }
    let source = TimelineSource(visit)
    let events = timeline.events.filter { data.pointInTime.includes($0) && source?.includes($0) ?? true }
    var lines = rows(events).map {
      (at: $0.first.effectiveAt?.instant, cells: cells($0, timeline, data))
    }
    lines += timeline.notifications.filter {
      data.pointInTime.includes($0.receivedAt) && source != .operators
    }
    .map { (at: $0.receivedAt?.instant, cells: cells($0, data.scope)) }
    if !timeline.notifications.isEmpty {
      lines.sort { ($0.at?.millisecondsSince1970 ?? 0) > ($1.at?.millisecondsSince1970 ?? 0) }
    }
    let table = Table.markup(
      Text.timeline,
      heads: [Text.when, Text.entitlement, Text.what, Text.inWords, Text.actor, Text.eventHead],
      rows: lines.map(\.cells))
    let isSelective = ["entitlement", "type", "source"].contains { visit.value($0) != nil }
    return """
      \(head)
      \(filter(data, visit))
      <div class="timeline cards-on-phones">\(lines.isEmpty ? Part.empty(isSelective ? Text.noSelectedEvents : Text.noTimeline) : table)</div>
      \(older(timeline, data, visit))
      """
  }

  private static func cells(_ row: Row, _ timeline: ListTimelineResponse, _ data: CustomerData) -> [Markup] {
    let event = row.first
    let names = row.events.map(\.entitlement).filter { !$0.isEmpty }
    let deliveries = timeline.deliveries.filter { delivery in
      row.events.contains { $0.sequence == delivery.sequence }
    }
    .map { cell($0, in: data.scope) }
    return [
      Format.time(event.effectiveAt), Format.name(names.joined(separator: ", ")),
      Part.chip(Format.words(event.type), Tone(event: event.type)),
      "\(sentence(row, in: data.scope))\(deliveries)", Format.name(event.actor),
      row.events.map { data.scope.eventLink($0.sequence) }.joined(separator: " "),
    ]
  }

  /// The sentence of a row, which opens to what the events changed and to their evidence.
  private static func sentence(_ row: Row, in scope: Scope) -> Markup {
    let changes = row.events.flatMap { event in
      EventPage.changes(event).filter { $0.before != $0.after }.map { change in
        """
        <li>\(Format.name(event.entitlement)), \(change.name): \(Format.name(change.before.given ?? Text.none)) → \
        <strong>\(Format.name(change.after.given ?? Text.none))</strong></li>

        """ as Markup
      }
    }
    let evidence = Set(row.events.compactMap(\.evidenceId)).sorted().map { id in
      "<li>\(scope.evidenceLink(id))</li>\n" as Markup
    }
    let text: Markup = "\(row.first.explanation)\(detail(row.first))"
    let effects = changes + evidence
    return effects.isEmpty ? text : "<details><summary>\(text)</summary><ul>\(effects)</ul></details>"
  }

  /// Draws the delivery of an event to a webhook as one line with a link to the message.
  private static func cell(_ delivery: EventDelivery, in scope: Scope) -> Markup {
    let details =
      [delivery.attempts > 0 ? Text.attempts(delivery.attempts) : "", delivery.outcome].filter { !$0.isEmpty }
      .joined(separator: ", ")
    let next: Markup =
      delivery.nextAttemptAt.map { ", \(Text.nextAttempt.lowercased()) \(Format.time($0))" as Markup } ?? ""
    return """
      <p><a href="\(delivery.link(in: scope))">\(Format.name(delivery.webhook))</a> \(Part.chip(delivery.stateName, delivery.tone)) \
      <span class="quiet">\(details)\(next)</span></p>

      """
  }

  /// Draws the subject of the event, in a second line.
  private static func detail(_ event: EntitlementEvent) -> Markup {
    let parts = [
      event.productId.given, event.price.map(Format.money),
      event.otherCustomerId.given.map { Text.otherCustomer($0) },
    ].compactMap(\.self)
    return parts.isEmpty ? "" : "<br><span class=\"quiet\">\(parts.joined(separator: " · "))</span>"
  }

  private static func cells(_ notification: Notification, _ scope: Scope) -> [Markup] {
    [
      Format.time(notification.receivedAt), "", Part.chip("● \(Text.apple)", .ended),
      "<code>\(notification.fullType)</code> \(notification.explanation)", "\(Text.appStore)",
      scope.evidenceLink(notification.evidenceId),
    ]
  }

  private static func filter(_ data: CustomerData, _ visit: Visit) -> Markup {
    func box(_ name: String, _ label: String) -> Markup {
      let checked: Markup = visit.value(name) == nil ? "" : " checked"
      return
        "<label class=\"check\"><input type=\"checkbox\" name=\"\(name)\" value=\"1\"\(checked)>\(label)</label>\n"
    }
    let names = data.customer.entitlements.map(\.name)
    let options = names.map { name in
      let selected: Markup = visit.value("entitlement") == name ? " selected" : ""
      return "<option\(selected)>\(name)</option>" as Markup
    }
    let types = EntitlementChange.Kind.allCases.map(\.rawValue).map { type in
      let selected: Markup = visit.value("type") == type ? " selected" : ""
      return "<option value=\"\(type)\"\(selected)>\(Format.words(type))</option>" as Markup
    }
    let sources = TimelineSource.allCases.map { source in
      let selected: Markup = source == TimelineSource(visit) ? " selected" : ""
      return "<option value=\"\(source.rawValue)\"\(selected)>\(source.title)</option>" as Markup
    }
    let hiddenFields = data.pointInTimeQuery.compactMap { name, value in
      value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">" as Markup }
    }
    return """
      <form class="row filter actions" action="\(Link(data.scope.path + ["customers", data.id], fragment: "timeline"))" method="get">
      \(hiddenFields)\(kept(["range", "explain"], visit))<label>\(Text.entitlement)<select name="entitlement"><option value="">\(Text.all)</option>\(options)</select></label>
      <label>\(Text.what)<select name="type"><option value="">\(Text.all)</option>\(types)</select></label>
      <label>\(Text.source)<select name="source"><option value="">\(Text.all)</option>\(sources)</select></label>
      \(box("apple", Text.showNotifications))\(visit.has(.operate) ? box("webhooks", Text.showWebhooks) : "")\
      <button>\(Text.filter)</button></form>
      """
  }

  /// Hidden fields with the items of the address that a form of the page keeps.
  static func kept(_ names: [String], _ visit: Visit) -> [Markup] {
    names.compactMap { name in
      visit.value(name).map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">" }
    }
  }

  private static func older(_ timeline: ListTimelineResponse, _ data: CustomerData, _ visit: Visit) -> Markup
  {
    let names = ["apple", "webhooks", "entitlement", "type", "source", "range", "explain"]
    let kept = data.pointInTimeQuery + names.map { ($0, visit.value($0)) }
    return Part.next(timeline.nextPageToken, Text.older) {
      Link(
        data.scope.path + ["customers", data.id], query: [("page", $0)] + kept, fragment: "timeline")
    }
  }
}

/// The origin of an event, for the filter of a timeline.
enum TimelineSource: String, Sendable, CaseIterable {
  /// A command of the operator's people and systems.
  case operators = "us"
  /// Apple, the customer, or time.
  case others = "apple"

  /// The source that the address of a page selects; `nil`: all.
  init?(_ visit: Visit) {
    self.init(rawValue: visit.value("source") ?? "")
  }

  func includes(_ event: EntitlementEvent) -> Bool { event.actor.isEmpty == (self == .others) }

  var title: String {
    switch self {
    case .operators: Text.sourceOperators
    case .others: Text.sourceOthers
    }
  }
}

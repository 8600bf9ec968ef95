internal import AppStore
internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled customer`.
struct CustomerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "customer", abstract: "Show entitlements, products and grants of a customer.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: GetCustomerRequest = try await options.request { $0.customerId = customer }
    let response = try await options.withConnection { try await $0.getCustomer(request) }
    options.show(response, response.rows)
  }
}

extension GetCustomerResponse {
  /// One row for each other environment in which the customer has access.
  var environmentHints: [(String, String)] {
    activeInEnvironments.map { environment in
      let name = environment.protoName.droppingPrefix("ENVIRONMENT_").lowercased()
      return ("hint", "the customer has access in \(name)")
    }
  }

  fileprivate var rows: [(String, String)] {
    var rows = [("customer", customerId)]
    rows += entitlements.map { ($0.name, $0.summary) }
    rows += products.map { ($0.productId, $0.state.protoName.droppingPrefix("PRODUCT_STATE_").lowercased()) }
    rows += consumables.map { ($0.productId, "\($0.purchased - $0.refunded) of \($0.purchased) left") }
    rows += grants.map { ($0.grantId, "\($0.entitlement), \($0.note)") }
    for conflict in tokenConflicts {
      rows.append(("conflict", "\(conflict.originalTransactionId) was bought with another customer's token"))
    }
    if !known {
      rows.append(("hint", "nothing is stored about this customer; 'entitled find' searches everywhere"))
    }
    rows += environmentHints
    if let consent = consumptionConsent { rows.append(("consent", consent.summary)) }
    for advice in entitlements.flatMap(\.advice) { rows.append(("advice", advice.message)) }
    return rows
  }
}

/// `entitled timeline`.
struct TimelineCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "timeline", abstract: "List the events of a customer.")

  @OptionGroup var options: ScopedOptions

  @Flag(help: "Include Apple's notifications, also those without effect.") var notifications = false
  @Flag(help: "List the latest event first.") var newestFirst = false
  @Flag(help: "Include the delivery of each event to each webhook.") var webhooks = false
  @Option(help: "Type of events, for example RENEWED; repeatable (default: all).") var type: [String] = []
  @Option(help: "Entitlement; repeatable (default: all).") var entitlement: [String] = []

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: ListTimelineRequest = try await options.request {
      $0.customerId = customer
      $0.includeNotifications = notifications
      $0.newestFirst = newestFirst
      $0.includeWebhooks = webhooks
      $0.types = type
      $0.entitlements = entitlement
    }
    try await options.showPages(
      request, { try await $0.listTimeline($1) }, empty: "no events of '\(customer)'"
    ) { $0.rows }
  }
}

extension ListTimelineResponse {
  /// One row for each event, and between them the notifications, in the direction of the page.
  fileprivate var rows: [(String, String)] {
    var rows: [(String, String)] = []
    var remaining = notifications[...]
    let isNewestFirst =
      events.count > 1 && events[0].sequence > events[1].sequence
      || events.count < 2 && notifications.count > 1
        && notifications[0].evidenceId > notifications[1].evidenceId
    for event in events {
      let recordedAt = event.recordedAt?.millisecondsSince1970 ?? .max
      while let next = remaining.first, let receivedAt = next.receivedAt?.millisecondsSince1970,
        isNewestFirst ? receivedAt > recordedAt : receivedAt <= recordedAt
      {
        rows.append(next.row)
        remaining = remaining.dropFirst()
      }
      rows.append(event.row)
      rows += deliveries.filter { $0.sequence == event.sequence }.map(\.row)
    }
    return rows + remaining.map(\.row)
  }
}

extension EventDelivery {
  fileprivate var row: (String, String) {
    let state = state.protoName.droppingPrefix("EVENT_DELIVERY_STATE_").lowercased()
    return ("   webhook \(webhook)", [state, outcome].filter { !$0.isEmpty }.joined(separator: ", "))
  }
}

extension Wire.Notification {
  fileprivate var row: (String, String) {
    let name = subtype.isEmpty ? notificationType : "\(notificationType)/\(subtype)"
    return ("   \(receivedAt.text)", "Apple \(name): \(explanation)")
  }
}

extension EntitlementEvent {
  fileprivate var row: (String, String) {
    ("\(sequence)  \(effectiveAt.text)", "\(entitlement.isEmpty ? productId : entitlement) \(summary)")
  }

  /// The type, the explanation and the actor of the event.
  var summary: String { "\(type): \(explanation)\(actor.isEmpty ? "" : " By \(actor).")" }
}

/// `entitled explain`.
struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Show the facts and rules of an answer.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Time of the answer, RFC 3339 or a date (default: now).") var asOf: String?
  @Option(help: "Time up to which evidence counts, RFC 3339 or a date (default: all evidence).") var knownAt:
    String?

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Entitlement.") var entitlement: String

  func run() async throws {
    let request: ExplainRequest = try await options.request {
      $0.customerId = customer
      $0.entitlement = entitlement
      $0.asOf = try TimeOption.parse(asOf, "--as-of", day: .known)
      $0.knownAt = try TimeOption.parse(knownAt, "--known-at", day: .known)
      $0.pageSize = 1_000
    }
    let explanation = try await options.withConnection {
      var (request, whole) = (request, try await $0.explain(request))
      while !whole.nextPageToken.isEmpty {
        request.pageToken = whole.nextPageToken
        let page = try await $0.explain(request)
        whole.steps += page.steps
        whole.nextPageToken = page.nextPageToken
      }
      return whole
    }
    let steps = explanation.steps.map { step in
      ("\(step.decisive ? "* " : "  ")\(step.rule)", step.explanation)
    }
    let contradictions = explanation.contradictions.map { ("contradiction", $0) }
    let changes = explanation.laterChanges.map { ("changed later", $0.explanation) }
    options.show(explanation, (explanation.entitlement?.rows ?? []) + steps + contradictions + changes)
  }
}

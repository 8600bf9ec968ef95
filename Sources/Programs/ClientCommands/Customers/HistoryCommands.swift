internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled history`.
struct HistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Show what a customer had, and when.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "First time, RFC 3339 or a date (default: 13 months before the last).") var from: String?
  @Option(help: "Last time, RFC 3339 or a date (default: now).") var asOf: String?
  @Option(help: "Time up to which evidence counts, RFC 3339 or a date (default: all evidence).") var knownAt:
    String?

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: GetCustomerHistoryRequest = try await options.request {
      $0.customerId = customer
      $0.startTime = try TimeOption.parse(from, "--from")
      $0.asOf = try TimeOption.parse(asOf, "--as-of", day: .known)
      $0.knownAt = try TimeOption.parse(knownAt, "--known-at", day: .known)
    }
    let response = try await options.withConnection { try await $0.getCustomerHistory(request) }
    guard !options.client.json else { return options.show(response, []) }
    if response.lanes.isEmpty { print("no history of '\(customer)'") }
    for lane in response.lanes {
      print(lane.title)
      print(Table.aligned(lane.segments.map(\.row) + lane.marks.map(\.row)))
    }
  }
}

extension HistoryLane {
  fileprivate var title: String {
    "\(kind.protoName.droppingPrefix("HISTORY_LANE_KIND_").lowercased()) \(name)"
  }
}

extension HistorySegment {
  fileprivate var row: (String, String) {
    return (
      "  \(since.text)",
      [reason, productId, price?.text ?? "", grantId].filter { !$0.isEmpty }.joined(separator: "  ")
    )
  }
}

extension HistoryMark {
  fileprivate var row: (String, String) { ("  \(time.text)", "\(type)  \(explanation)") }
}

/// `entitled purchase`.
struct PurchaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purchase", abstract: "Show a purchase, its owners and its events.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Id of a transaction of the purchase.") var transaction: String

  func run() async throws {
    let request: GetPurchaseRequest = try await options.request {
      $0.originalTransactionId = transaction
    }
    let response = try await options.withConnection { try await $0.getPurchase(request) }
    options.show(response, response.rows)
  }
}

extension GetPurchaseResponse {
  fileprivate var rows: [(String, String)] {
    var rows: [(String, String)] = [
      ("purchase", originalTransactionId),
      ("owner", customerIds.isEmpty ? "(unclaimed)" : customerIds.joined(separator: ", ")),
    ]
    rows += transactions.compactMap { found -> (String, String)? in
      found.transaction.map { transaction -> (String, String) in
        let end = transaction.expiresDate.text
        return (
          "transaction",
          "\(transaction.transactionId) \(transaction.productId) \(transaction.purchaseDate.text)"
            + (end.isEmpty ? "" : " to \(end)") + (transaction.commitmentInfo.map { ", \($0.text)" } ?? "")
            + (found.evidenceId.map { ", evidence \($0)" } ?? "")
        )
      }
    }
    rows += ownershipChanges.map { change -> (String, String) in
      let by = change.actor.isEmpty ? "" : " by \(change.actor)"
      return (
        "link",
        "\(change.time.text) \(change.linked ? "to" : "from") \(change.customerId), \(change.kind)\(by)"
      )
    }
    rows += notifications.map { ("Apple", "\($0.receivedAt.text) \($0.notificationType) \($0.subtype)") }
    rows += events.map { ("event", "\($0.sequence) \($0.effectiveAt.text) \($0.customerId) \($0.summary)") }
    rows += seats.map { ("seat", "\($0.seatId) \($0.customerId)") }
    return rows
  }
}

/// `entitled evidence`.
struct EvidenceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evidence", abstract: "Show a piece of evidence, decoded.")

  @OptionGroup var options: AppOptions

  @Flag(help: "Include the bytes as they arrived, in the JSON output; needs the role admin.") var body = false

  @Argument(help: "Evidence id.") var id: Int64

  func run() async throws {
    let request: GetEvidenceRequest = try await options.request {
      $0.evidenceId = id
      $0.includeBody = body
    }
    let response = try await options.withConnection { try await $0.getEvidence(request) }
    options.show(response, response.rows)
  }
}

extension GetEvidenceResponse {
  fileprivate var rows: [(String, String)] {
    var rows: [(String, String)] = [
      ("evidence", "\(evidenceId) \(kind)"), ("source", source), ("received", receivedAt.text),
      ("verdict", rejectionReason.isEmpty ? "accepted" : "rejected: \(rejectionReason)"),
      ("customers", customerIds.joined(separator: ", ")),
      ("purchases", originalTransactionIds.joined(separator: ", ")), ("actor", actor), ("note", note),
    ]
    if let document { rows += [("verified", document.explanation), ("document", document.payloadJson)] }
    rows.append(("command", commandJson))
    rows += events.map { ("event", "\($0.sequence) \($0.customerId) \($0.summary)") }
    return rows
  }
}

/// `entitled event`.
struct EventCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "event", abstract: "Show one event.")

  @OptionGroup var options: AppOptions

  @Argument(help: "Sequence of the event.") var sequence: Int64

  func run() async throws {
    let request: GetEventRequest = try await options.request { $0.sequence = sequence }
    let response = try await options.withConnection { try await $0.getEvent(request) }
    guard let event = response.event else { return }
    options.show(
      response,
      [
        ("event", "\(event.sequence) \(event.type)"), ("customer", event.customerId),
        ("entitlement", event.entitlement), ("effective", event.effectiveAt.text),
        ("recorded", event.recordedAt.text), ("evidence", event.evidenceId.map(String.init) ?? ""),
        ("transaction", event.transactionId), ("actor", event.actor), ("meaning", event.explanation),
      ])
  }
}

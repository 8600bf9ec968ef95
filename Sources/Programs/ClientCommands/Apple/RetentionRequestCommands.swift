internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled retention requests`.
struct RetentionRequestsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "requests", abstract: "List requests for a message and their outcomes.",
    discussion: "The latest first.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Option(help: "Outcome: pending, saved, offer-taken, switched, left or unknown (default: all).")
  var outcome: String?
  @Option(help: "Original transaction id of a subscription (default: all).") var purchase = ""
  @OptionGroup var range: RetentionTimeOptions

  func run() async throws {
    let outcome: RetentionOutcome = try EnumOption.parse(outcome, "RETENTION_OUTCOME_", "--outcome")
    let (from, to) = try range.times()
    let request: ListRetentionRequestsRequest = try await scope.request(client) {
      $0.outcome = outcome
      $0.originalTransactionId = purchase
      $0.startTime = from
      $0.endTime = to
    }
    try await client.showPages(
      request, { try await $0.listRetentionRequests($1) }, empty: "no requests",
      nextPageToken: \.nextPageToken
    ) { $0.requests.map(\.row) }
  }
}

/// `entitled retention report`.
struct RetentionReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Count requests and outcomes by rule and answer.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var range: RetentionTimeOptions

  func run() async throws {
    let (from, to) = try range.times()
    let request: GetRetentionReportRequest = try await scope.request(client) {
      $0.startTime = from
      $0.endTime = to
    }
    let response = try await client.withConnection { try await $0.getRetentionReport(request) }
    var rows = response.rows.map { ($0.title, $0.summary) }
    if rows.count > 1, let total = response.total { rows.append(("total", total.summary)) }
    client.showList(response, rows, empty: "no requests")
  }
}

/// The times between which requests arrived.
struct RetentionTimeOptions: ParsableArguments {
  @Option(help: "Earliest arrival, RFC 3339 or a date (default: no limit).") var from: String?
  @Option(help: "Latest arrival, exclusive, RFC 3339 or a date (default: no limit).") var to: String?

  /// The parsed times; `nil` without a limit.
  func times() throws -> (from: GoogleProtobuf.Timestamp?, to: GoogleProtobuf.Timestamp?) {
    (try TimeOption.parse(from, "--from"), try TimeOption.parse(to, "--to", day: .end))
  }
}

extension RetentionRequest {
  fileprivate var row: (String, String) {
    let word = outcome.protoName.droppingPrefix("RETENTION_OUTCOME_").lowercased()
    let parts = [
      receivedAt.text, "\(answer.word) (\(rule.isEmpty ? reason : rule))", offeredProductId, offerIdentifier,
      outcomeIsFinal ? word : "\(word) so far",
    ]
    return (originalTransactionId, parts.filter { !$0.isEmpty }.joined(separator: ", "))
  }
}

extension RetentionReportRow {
  fileprivate var title: String {
    let parts = [rule.isEmpty ? reason : rule, answer.word, offeredProductId, offerIdentifier]
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }

  fileprivate var summary: String {
    let counts = [
      ("saved", saved), ("offer taken", offerTaken), ("switched", switched), ("left", left),
      ("pending", pending), ("unknown", unknown),
    ]
    let texts = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
    let rate = saveRate.map { ["save rate \(Int(($0 * 100).rounded())) %"] } ?? []
    return (["\(requests) requests"] + texts + rate).joined(separator: ", ")
  }
}

extension RetentionAnswer {
  fileprivate var word: String {
    protoName.droppingPrefix("RETENTION_ANSWER_").lowercased().split(separator: "_").joined(separator: " ")
  }
}

internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled retention requests`.
struct RetentionRequestsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "requests", abstract: "List requests for a message and their outcomes.",
    discussion: "The latest first.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Outcome: pending, saved, offer-taken, switched, left or unknown (default: all).")
  var outcome: String?
  @Option(help: "Original transaction id of a subscription (default: all).") var purchase = ""
  @OptionGroup var arrival: ArrivalOptions

  func run() async throws {
    let outcome: RetentionOutcome = try EnumOption.parse(outcome, "RETENTION_OUTCOME_", "--outcome")
    let (from, to) = try arrival.times()
    let request: ListRetentionRequestsRequest = try await options.request {
      $0.outcome = outcome
      $0.originalTransactionId = purchase
      $0.startTime = from
      $0.endTime = to
    }
    try await options.showPages(
      request, { try await $0.listRetentionRequests($1) }, empty: "no requests"
    ) { $0.requests.map(\.row) }
  }
}

/// `entitled retention report`.
struct RetentionReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Count requests and outcomes by rule and answer.")

  @OptionGroup var options: ScopedOptions
  @OptionGroup var arrival: ArrivalOptions

  func run() async throws {
    let (from, to) = try arrival.times()
    let request: GetRetentionReportRequest = try await options.request {
      $0.startTime = from
      $0.endTime = to
    }
    let response = try await options.withConnection { try await $0.getRetentionReport(request) }
    var rows = response.rows.map { ($0.title, $0.summary) }
    if rows.count > 1, let total = response.total { rows.append(("total", total.summary)) }
    options.showList(response, rows, empty: "no requests")
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

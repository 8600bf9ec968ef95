internal import ArgumentParser
internal import EntitledClient
internal import Foundation
internal import Wire

/// `entitled apple finish`.
struct FinishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "finish", abstract: "Finish a transaction whose content was delivered.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Transaction id.") var transaction: String

  func run() async throws {
    let request: FinishTransactionRequest = try await options.request { $0.transactionId = transaction }
    let response = try await options.withConnection { try await $0.finishTransaction(request) }
    options.show(response, [("finished", response.finishedAt.text)])
  }
}

/// `entitled apple advanced-commerce`.
struct AdvancedCommerceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "advanced-commerce", abstract: "Change or refund an Advanced Commerce purchase.",
    discussion: """
      The action is cancel, revoke, migrate, change-price, change-metadata or request-refund. The request is Apple's \
      JSON body without requestInfo.requestReferenceId, which the service adds.
      """)

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Transaction id.") var transaction: String
  @Argument(help: "Action, such as cancel.") var action: String
  @Argument(help: "Request: JSON, @FILE, or - for the standard input (default: none).")
  var request: String?

  func run() async throws {
    let json = try request.map(Document.read) ?? ""
    let request: SendAdvancedCommerceRequestRequest = try await options.request {
      $0.transactionId = transaction
      $0.requestReferenceId = options.change.requestIdentifier
      $0.action = try EnumOption.parse(action, "ADVANCED_COMMERCE_ACTION_", "the action")
      $0.requestJson = json
    }
    let response = try await options.withConnection {
      try await $0.sendAdvancedCommerceRequest(request)
    }
    options.show(response, response.transaction.map { [$0.appleRow] } ?? [])
  }
}

/// `entitled apple report-external`.
struct ReportExternalCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report-external", abstract: "Report an external purchase token to Apple.",
    discussion: "Prints the request id, with which 'apple show-external' shows the report.")

  @OptionGroup var options: ScopedChangeOptions

  @Option(help: "Request id of a report that failed, to send it again (default: a new one).") var request = ""

  @Argument(help: "ExternalPurchaseReport: JSON, @FILE, or - for the standard input.") var report: String

  func run() async throws {
    let identifier =
      request.isEmpty && options.change.key.isEmpty ? UUID().uuidString.lowercased() : request
    let text = try Document.read(report)
    let request: SendExternalPurchaseReportRequest = try await options.request {
      $0.reportJson = text
      $0.requestIdentifier = identifier
    }
    let response = try await options.withConnection {
      try await $0.sendExternalPurchaseReport(request)
    }
    options.show(response, [("request", response.requestIdentifier)])
  }
}

/// `entitled apple show-external`.
struct ShowExternalCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show-external", abstract: "Show an external purchase report at Apple.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Request id, as 'apple report-external' prints it.") var request: String

  func run() async throws {
    let query: GetExternalPurchaseReportRequest = try await options.request {
      $0.requestIdentifier = request
    }
    let response = try await options.withConnection { try await $0.getExternalPurchaseReport(query) }
    options.show(response, [("report", response.reportJson)])
  }
}

/// `entitled apple external-tokens`.
struct ExternalTokensCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "external-tokens", abstract: "List external purchase tokens to report.",
    discussion: "The earliest deadline first. 'apple report-external' reports a token.")

  @OptionGroup var options: ScopedOptions

  @Flag(help: "List reported tokens too.") var all = false

  func run() async throws {
    let request: ListExternalPurchaseTokensRequest = try await options.request {
      $0.includeReported = all
    }
    try await options.showPages(
      request, { try await $0.listExternalPurchaseTokens($1) },
      empty: all ? "no external purchase tokens" : "no unreported tokens"
    ) { $0.tokens.map(\.row) }
  }
}

extension ExternalPurchaseToken {
  fileprivate var row: (String, String) {
    let word = state.protoName.droppingPrefix("EXTERNAL_TOKEN_STATE_").lowercased()
    let type = tokenType.isEmpty ? "" : ", \(tokenType)"
    let report = reportedAt.text.isEmpty ? "" : ", \(reportStatus) \(reportedAt.text)"
    return (externalPurchaseId, "\(word), report by \(reportBy.text)\(type)\(report)")
  }
}

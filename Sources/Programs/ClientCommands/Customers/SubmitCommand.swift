internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled submit`.
struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submit signed transactions of a customer.",
    discussion: "Several transactions are one call with a result each; exit status 3 if one was rejected.")

  @OptionGroup var options: AppOptions

  @Option(help: "Signed renewal info of the transaction: text, @FILE, or - for the standard input.")
  var renewalInfo: String?

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Signed transaction: text, @FILE, or - for the standard input; repeatable.")
  var transaction: [String]

  func validate() throws {
    guard renewalInfo == nil || transaction.count == 1 else {
      throw ValidationError("--renewal-info belongs to one transaction")
    }
  }

  func run() async throws {
    let transactions = try transaction.map(Document.read)
    let app = try await options.appID(options.client)
    guard let transaction = transactions.first, transactions.count == 1 else {
      return try await submit(transactions, to: app)
    }
    let renewalInfo = try renewalInfo.map(Document.read) ?? ""
    let response = try await options.withConnection { connection in
      try await connection.submitTransaction(
        .with {
          $0.app = app
          $0.customerId = customer
          $0.signedTransaction = transaction
          $0.signedRenewalInfo = renewalInfo
        })
    }
    let entitlements = response.entitlements.map { ($0.name, $0.summary) }
    options.show(response, response.rows + entitlements)
  }

  private func submit(_ transactions: [String], to app: String) async throws {
    let request = SubmitTransactionsRequest.with {
      $0.app = app
      $0.customerId = customer
      $0.submissions = transactions.map { transaction in .with { $0.signedTransaction = transaction } }
    }
    let response = try await options.withConnection { try await $0.submitTransactions(request) }
    options.show(response, response.rows)
    let isRejected = response.results.contains { if case .error = $0.outcome { true } else { false } }
    if isRejected { throw ExitCode(3) }
  }
}

extension SubmitTransactionsResponse {
  /// One row for each transaction, and the entitlements after the last one.
  fileprivate var rows: [(String, String)] {
    var rows: [(String, String)] = []
    var entitlements: [Entitlement] = []
    for (index, result) in results.enumerated() {
      switch result.outcome {
      case .response(let response):
        let stored = response.alreadyKnown ? ", already stored" : ""
        let transaction = response.transaction
        rows.append(
          (
            transaction?.transactionId ?? "",
            "\(transaction?.productId ?? ""), evidence \(response.evidenceId)\(stored)"
          ))
        entitlements = response.entitlements
      case .error(let error): rows.append(("transaction \(index + 1)", "rejected: \(error.message)"))
      case nil: break
      }
    }
    return rows + entitlements.map { ($0.name, $0.summary) }
  }
}

/// `entitled inspect`.
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Verify and decode a document without storing it.",
    discussion: "Exit status 0 if the document is verified, 3 if not.")

  @OptionGroup var options: AppOptions

  @Argument(help: "Document: text, @FILE (text or binary), or - for the standard input.")
  var document: String

  func run() async throws {
    let document = Array(try Document.bytes(document))
    let request: InspectRequest = try await options.request { $0.content = .rawDocument(document) }
    let response = try await options.withConnection { try await $0.inspect(request) }
    options.show(response, response.rows)
    if !response.verified { throw ExitCode(3) }
  }
}

extension SubmitTransactionResponse {
  fileprivate var rows: [(String, String)] {
    [
      ("evidence", "\(evidenceId)\(alreadyKnown ? " (already stored)" : "")"),
      ("customer", customerId),
      ("product", transaction?.productId ?? ""),
      ("transaction", transaction?.transactionId ?? ""),
      ("original transaction", transaction?.originalTransactionId ?? ""),
      ("environment", environment.protoName.droppingPrefix("ENVIRONMENT_")),
    ]
  }
}

extension InspectResponse {
  fileprivate var rows: [(String, String)] {
    [
      ("kind", kind.protoName.droppingPrefix("DOCUMENT_KIND_")),
      ("verified", verified ? "yes" : "no"),
      ("reason", reason),
      ("", explanation),
      ("bundle id", bundleId),
      ("signed", signedDate.text),
      ("payload", payloadJson),
    ]
  }
}

internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled check`.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check whether a customer has an entitlement.",
    discussion: "Exit status 0 if the customer is entitled, 3 if not.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Entitlement.") var entitlement: String

  func run() async throws {
    let (app, environment) = (try await scope.app.id(client), try scope.appEnvironment())
    let (response, hints) = try await client.withConnection {
      connection -> (CheckResponse, [(String, String)]) in
      let response = try await connection.check(
        .with {
          $0.app = app
          $0.environment = environment
          $0.customerId = customer
          $0.entitlement = entitlement
        })
      guard response.entitlement?.reason == Self.neverPurchased, !client.json else { return (response, []) }
      return (response, try await environmentHints(connection, app, environment))
    }
    client.show(response, response.rows + hints)
    if response.entitlement?.entitled != true { throw ExitCode(3) }
  }

  private static let neverPurchased = "NEVER_PURCHASED"

  /// The other environments in which the customer has access: the wrong one may have been asked.
  private func environmentHints(
    _ connection: ClientConnection, _ app: String, _ environment: Wire.Environment
  ) async throws -> [(String, String)] {
    try await connection.getCustomer(
      .with {
        $0.app = app
        $0.environment = environment
        $0.customerId = customer
        $0.readMask = .with { $0.paths = ["active_in_environments"] }
      }
    ).environmentHints
  }
}

/// `entitled submit`.
struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submit signed transactions of a customer.",
    discussion: "Several transactions are one call with a result each; exit status 3 if one was rejected.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

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
    let app = try await app.id(client)
    guard let transaction = transactions.first, transactions.count == 1 else {
      return try await submit(transactions, to: app)
    }
    let renewalInfo = try renewalInfo.map(Document.read) ?? ""
    let response = try await client.withConnection { connection in
      try await connection.submitTransaction(
        .with {
          $0.app = app
          $0.customerId = customer
          $0.signedTransaction = transaction
          $0.signedRenewalInfo = renewalInfo
        })
    }
    let entitlements = response.entitlements.map { ($0.name, $0.summary) }
    client.show(response, response.rows + entitlements)
  }

  private func submit(_ transactions: [String], to app: String) async throws {
    let request = SubmitTransactionsRequest.with {
      $0.app = app
      $0.customerId = customer
      $0.submissions = transactions.map { transaction in .with { $0.signedTransaction = transaction } }
    }
    let response = try await client.withConnection { try await $0.submitTransactions(request) }
    client.show(response, response.rows)
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

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  @Argument(help: "Document: text, @FILE (text or binary), or - for the standard input.")
  var document: String

  func run() async throws {
    let app = try await app.id(client)
    let document = Array(try Document.bytes(document))
    let response = try await client.withConnection { connection in
      try await connection.inspect(
        .with {
          $0.app = app
          $0.content = .rawDocument(document)
        })
    }
    client.show(response, response.rows)
    if !response.verified { throw ExitCode(3) }
  }
}

/// `entitled health`, for container health checks.
struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health", abstract: "Check the health of the server.",
    discussion: "Exit status 0 only if the status is SERVING.")

  @OptionGroup var client: ClientOptions

  @Argument(help: "Full name of a service (default: the whole server).") var service = ""

  func run() async throws {
    let status = try await client.withConnection { try await $0.health(of: service) }
    client.show(GRPCHealth.HealthCheckResponse.with { $0.status = status }, [("status", status.protoName)])
    if status != .serving { throw ExitCode(1) }
  }
}

extension CheckResponse {
  fileprivate var rows: [(String, String)] {
    (entitlement?.rows ?? []) + [("environment", environment.protoName.droppingPrefix("ENVIRONMENT_"))]
  }
}

extension Entitlement {
  var rows: [(String, String)] {
    [
      ("entitled", entitled ? "yes" : "no"),
      ("entitlement", name),
      (
        "state",
        "\(appStoreCodes?.stateCode ?? "") \(state.protoName.droppingPrefix("ENTITLEMENT_STATE_"))"
      ),
      ("until", until.text),
      ("reason", reason),
      ("", explanation),
      ("product", productId),
      ("transaction", transactionId),
      ("original transaction", originalTransactionId),
      ("commitment", commitmentInfo?.text ?? ""),
      ("will renew", willRenew.map { $0 ? "yes" : "no" } ?? ""),
    ]
  }

  /// The answer in one line.
  var summary: String {
    let end = until.text.isEmpty ? "" : " until \(until.text)"
    return "\(entitled ? "entitled" : "not entitled")\(end) (\(reason))"
  }
}

extension TransactionCommitmentInfo {
  /// The payment in one phrase, such as `payment 3 of 12, 9 left (44.91 USD), until 2027-04-12T10:00:00Z`.
  var text: String {
    let end = commitmentExpiresDate.text.isEmpty ? "" : ", until \(commitmentExpiresDate.text)"
    let forecast = remainingPrice.map { " (\($0.text))" } ?? ""
    let number = "payment \(billingPeriodNumber) of \(totalBillingPeriods)"
    return "\(number), \(remainingPeriods) left\(forecast)\(end)"
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

internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled check`.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check whether a customer has an entitlement.",
    discussion: "Exit status 0 if the customer is entitled, 3 if not.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Entitlement.") var entitlement: String

  func run() async throws {
    let request: CheckRequest = try await options.request {
      $0.customerId = customer
      $0.entitlement = entitlement
    }
    let (response, hints) = try await options.withConnection {
      connection -> (CheckResponse, [(String, String)]) in
      let response = try await connection.check(request)
      guard response.entitlement?.reason == Self.neverPurchased, !options.client.json else {
        return (response, [])
      }
      return (response, try await environmentHints(connection, request.app, request.environment))
    }
    options.show(response, response.rows + hints)
    if response.entitlement?.entitled != true { throw ExitCode(3) }
  }

  private static let neverPurchased = "NEVER_PURCHASED"

  /// The other environments in which the customer has access: the check may have been made in the wrong one.
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

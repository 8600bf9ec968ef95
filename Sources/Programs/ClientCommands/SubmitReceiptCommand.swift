internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled submit-receipt`.
struct SubmitReceiptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit-receipt", abstract: "Submit a legacy app receipt of a customer.")

  @OptionGroup var options: AppOptions

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Receipt in base64: text, @FILE, or - for the standard input.") var receipt: String

  func run() async throws {
    let receipt = try Document.read(receipt)
    let request: SubmitReceiptRequest = try await options.request {
      $0.customerId = customer
      $0.receipt = .receiptBase64(receipt)
    }
    let response = try await options.withConnection {
      try await $0.submitReceipt(request, timeoutSeconds: 60)
    }
    options.show(response, response.rows)
  }
}

extension SubmitReceiptResponse {
  fileprivate var rows: [(String, String)] {
    var rows: [(String, String)] = [
      ("evidence", evidenceId.map { "\($0)\(alreadyKnown ? " (already stored)" : "")" } ?? ""),
      ("customer", customerId), ("environment", environment.protoName.droppingPrefix("ENVIRONMENT_")),
    ]
    rows += originalTransactionIds.map { ("purchase", $0) }
    if refreshPending { rows.append(("refresh", "pending: \(refreshReason)")) }
    rows += problems.map { ("problem", "\($0.originalTransactionId) \($0.explanation)") }
    return rows + entitlements.map { ($0.name, $0.summary) }
  }
}

/// `entitled sign-offer`.
struct SignOfferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-offer", abstract: "Sign an offer for a customer, for tests of an app.",
    discussion: """
      The forms are promotional-jws, promotional-legacy (StoreKit 1), introductory-eligibility-jws and \
      advanced-commerce-jws.
      """)

  @OptionGroup var options: ScopedOptions

  @Option(help: "Form of the signature.") var form = "promotional-jws"
  @Option(help: "Offer id, for promotional offers.") var offer = ""
  @Option(help: "appAccountToken of the customer, a UUID.") var appAccountToken = ""
  @Option(help: "Id of a transaction of the customer.") var transaction = ""
  @Flag(help: "Allow the introductory offer, for introductory-eligibility-jws.") var allowIntroductory = false
  @Option(help: "Request of Advanced Commerce: JSON, @FILE, or - for the standard input.") var request:
    String?
  @Flag(help: "Sign although the customer is not eligible.") var skipEligibilityCheck = false

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Product id.") var product: String

  func run() async throws {
    let json = try request.map(Document.read) ?? ""
    let signed: SignOfferRequest = try await options.request {
      $0.customerId = customer
      $0.productId = product
      $0.offerIdentifier = offer
      $0.appAccountToken = appAccountToken
      $0.transactionId = transaction
      $0.allowIntroductoryOffer = allowIntroductory
      $0.skipEligibilityCheck = skipEligibilityCheck
      $0.form = try EnumOption.parse(form, "OFFER_SIGNATURE_FORM_", "--form")
      $0.advancedCommerceRequestJson = json
    }
    let response = try await options.withConnection { try await $0.signOffer(signed) }
    options.show(
      response,
      [
        ("signature", response.signature), ("key", response.keyIdentifier), ("nonce", response.nonce),
        ("timestamp", response.timestamp == 0 ? "" : "\(response.timestamp)"),
      ])
  }
}

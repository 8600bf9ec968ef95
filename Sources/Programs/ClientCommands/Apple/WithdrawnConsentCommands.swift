internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled apple withdrawn-consents`.
struct WithdrawnConsentsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "withdrawn-consents", abstract: "List withdrawn consents of parents to settle.",
    discussion: "The earliest deadline first. 'apple settle-consent' settles one.")

  @OptionGroup var options: ScopedOptions

  @Flag(help: "List settled ones too.") var all = false
  @Option(help: "Customer id (default: all).") var customer = ""

  func run() async throws {
    let request: ListConsentWithdrawalsRequest = try await options.request {
      $0.includeSettled = all
      $0.customerId = customer
    }
    try await options.showPages(
      request, { try await $0.listConsentWithdrawals($1) },
      empty: all ? "no withdrawn consents" : "no withdrawn consents to settle"
    ) { $0.withdrawals.map(\.row) }
  }
}

/// `entitled apple settle-consent`.
struct SettleConsentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settle-consent", abstract: "Record that a withdrawn consent is settled.",
    discussion: "State with --note what was done. It changes no access.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "App transaction id, as 'apple withdrawn-consents' prints it.") var install: String

  func run() async throws {
    let request: SettleConsentWithdrawalRequest = try await options.request {
      $0.appTransactionId = install
    }
    let response = try await options.withConnection { try await $0.settleConsentWithdrawal(request) }
    options.show(
      response, [("consent", response.alreadySettled ? "was settled before" : "settled")])
  }
}

extension ConsentWithdrawal {
  fileprivate var row: (String, String) {
    let word = state.protoName.droppingPrefix("CONSENT_WITHDRAWAL_STATE_").lowercased()
    let customers = customerIds.isEmpty ? "no customer" : customerIds.joined(separator: ", ")
    let end = state == .settled ? settledAt.text : "settle by \(settleBy.text)"
    return (appTransactionId, "\(word), \(end), withdrawn \(withdrawnAt.text), \(customers)")
  }
}

internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled erase`.
struct EraseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase", abstract: "Erase the personal data of a customer.",
    discussion: "The erasure cannot be undone, so it needs --yes. --dry-run shows its extent.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Name of the person who erases, for the audit log.") var actor = ""
  @Option(help: "Reason, for the audit log.") var note = ""
  @Flag(help: "Show the number of rows without changing anything.") var dryRun = false
  @Flag(help: "Confirm the erasure.") var yes = false

  @Argument(help: "Customer id.") var customer: String

  func validate() throws {
    guard yes != dryRun else { throw ValidationError("erase takes either --dry-run or --yes") }
  }

  func run() async throws {
    let request: EraseCustomerRequest = try await options.request {
      $0.customerId = customer
      $0.actor = actor
      $0.note = note
      $0.dryRun = dryRun
    }
    let response = try await options.withConnection {
      try await $0.eraseCustomer(request, timeoutSeconds: 600)
    }
    options.show(
      response,
      [
        (dryRun ? "rows to erase" : "erased rows", "\(response.erasedRows)"),
        ("pseudonym", response.pseudonym), ("erased", response.erasedAt.text),
      ])
  }
}

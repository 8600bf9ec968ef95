internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled contradictions`.
struct ContradictionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contradictions", abstract: "List facts that conflict with each other.",
    discussion: "Also facts that conflict with the catalog. Answers follow the rule that each line names.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Customer id (default: all customers).") var customer = ""

  func run() async throws {
    let request: ListContradictionsRequest = try await options.request { $0.customerId = customer }
    try await options.showPages(
      request, { try await $0.listContradictions($1) }, empty: "no contradictions"
    ) { $0.contradictions.map { ($0.customerId, "\($0.kind)  \($0.explanation)") } }
  }
}

internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled import disagreements`.
struct ImportDisagreementsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disagreements", abstract: "List open disagreements with RevenueCat's webhooks.",
    discussion: """
      Both sides of each, the one that is open for the longest time first. It is closed as soon as a later event or \
      answer agrees. --json has the whole event; 'evidence ID' shows Apple's document.
      """)

  @OptionGroup var options: ScopedOptions
  @Option(help: "Customer id (default: all).") var customer = ""

  func run() async throws {
    let request: ListDisagreementsRequest = try await options.request { $0.customerId = customer }
    try await options.showPages(
      request, { try await $0.listDisagreements($1) }, empty: "no disagreements"
    ) { $0.disagreements.map(\.row) }
  }
}

extension Disagreement {
  fileprivate var row: (String, String) {
    let word = kind.protoName.droppingPrefix("DISAGREEMENT_KIND_")
    let theirs = "RevenueCat until \(end(statedUntil)), \(eventType) \(eventId)"
    let evidence = evidenceId.map { ", evidence \($0)" } ?? ""
    let ours = kind == .theirsOnly ? "here no access" : "here until \(end(until))"
    return ("\(customerId) \(entitlement)", "\(word): \(theirs); \(ours), \(reason)\(evidence)")
  }

  private func end(_ time: GoogleProtobuf.Timestamp?) -> String {
    time.text.isEmpty ? "no expiry" : time.text
  }
}

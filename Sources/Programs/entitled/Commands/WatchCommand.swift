internal import AppStore
internal import ArgumentParser
internal import EntitledClient
internal import Foundation
internal import Wire

/// `entitled watch`: what changes, as it happens.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Tell what changes, as it happens.",
    discussion: """
      One line for each event, or with --json one document. It goes on until it is interrupted, or the server \
      ends it; --after then goes on where it ended.
      """)

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Option(help: "Only this customer; may be given several times.") var customer: [String] = []
  @Option(help: "Only this entitlement; may be given several times.") var entitlement: [String] = []
  @Option(help: "Begin behind the event of this number.") var after: Int64 = 0
  @Flag(help: "Begin with the first event there ever was.") var fromBeginning = false
  @Option(help: "End after so many events.") var count: Int?

  func run() async throws {
    var request = WatchRequest.with {
      $0.app = app
      $0.customerIds = customer
      $0.entitlements = entitlement
      $0.afterSequence = after
      $0.fromBeginning = fromBeginning
    }
    request.environment = try EnvironmentName.parse(environment)
    let wanted = count ?? .max
    try await client.withConnection { [request] connection in
      var seen = 0
      try await connection.watch(request) { response in
        guard case .event(let event) = response.content else { return true }
        print(client.json ? String(decoding: event.json(), as: UTF8.self) : event.line)
        // Whoever reads from a pipe reads each event when it happens.
        fflush(nil)
        seen += 1
        return seen < wanted
      }
    }
  }
}

extension EntitlementEvent {
  /// The event as one line.
  fileprivate var line: String {
    let moment = effectiveAt?.millisecondsSince1970.map { Instant(millisecondsSince1970: $0).description }
    let author = actor.isEmpty ? "" : " By \(actor)."
    return "\(sequence)  \(moment ?? "")  \(customerId) \(entitlement) \(type): \(explanation)\(author)"
  }
}

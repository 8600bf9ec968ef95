internal import ArgumentParser
internal import EntitledClient
internal import Foundation
internal import Wire

/// `entitled watch`.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Stream entitlement events.",
    discussion: """
      Prints one line for each event, or with --json one document, until it is interrupted or the server ends the \
      stream. \(EventStreamOptions.resumption)
      """)

  @OptionGroup var options: ScopedOptions

  @Option(help: "Customer id; repeatable (default: all customers).") var customer: [String] = []
  @Option(help: "Entitlement; repeatable (default: all entitlements).") var entitlement: [String] = []
  @OptionGroup var stream: EventStreamOptions

  func run() async throws {
    let request: WatchRequest = try await options.request {
      $0.customerIds = customer
      $0.entitlements = entitlement
      if stream.fromBeginning { $0.start = .fromBeginning(true) }
      if let after = stream.after { $0.start = .afterSequence(after) }
      if let position = stream.afterPosition { $0.start = .afterPosition(position) }
    }
    var position: String?
    defer { stream.printEnd(at: position) }
    try await options.withConnection { connection in
      var left = stream.limit
      try await connection.watch(request) { response in
        defer { position = response.position }
        guard case .event(let event) = response.content else { return true }
        options.printNow(event, event.line)
        left -= 1
        return left > 0
      }
    }
  }
}

/// The part of a stream of events that a command prints.
struct EventStreamOptions: ParsableArguments {
  /// The part of a help text about resuming.
  static let resumption = """
    When the server or --count ends the stream, the standard error has the position to pass to --after-position, which \
    resumes safely also after the store was restored; --after takes a sequence number.
    """

  @Option(help: "Resume after this sequence number.") var after: Int64?
  @Option(help: "Resume after this position, which an earlier stream printed at its end.")
  var afterPosition: String?
  @Flag(help: "Start with the first stored event.") var fromBeginning = false
  @Option(help: "Number of events after which to stop (default: no limit).") var count: Int?

  /// The number of events to print.
  var limit: Int { count ?? .max }

  func validate() throws {
    guard limit > 0 else { throw ValidationError("--count takes a positive number") }
    let starts = [after != nil, afterPosition != nil, fromBeginning].filter(\.self)
    guard starts.count <= 1 else {
      throw ValidationError("--after, --after-position and --from-beginning exclude each other")
    }
  }

  /// Prints how to resume a stream after its last message at `position`; nothing if it had none.
  func printEnd(at position: String?) {
    guard let position else { return }
    FileHandle.standardError.write(Data("to resume: --after-position \(position)\n".utf8))
  }
}

extension ConnectionOptions {
  /// Prints an event of a stream: its document with `--json`, otherwise `line`. A pipe is not flushed line by line, and its
  /// reader needs each event immediately.
  func printNow(_ event: some WireMessage, _ line: @autoclosure () -> String) {
    print(client.json ? String(decoding: event.json(), as: UTF8.self) : line())
    fflush(nil)
  }
}

extension EntitlementEvent {
  fileprivate var line: String {
    "\(sequence)  \(effectiveAt.text)  \(customerId) \(entitlement.isEmpty ? productId : entitlement) \(summary)"
  }
}

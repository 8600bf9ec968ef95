internal import AppStore
internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled timeline`: what happened to a customer.
struct TimelineCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "timeline", abstract: "Tell what happened to a customer, the oldest first.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Flag(help: "Tell of Apple's notifications too, those that changed nothing included.") var notifications =
    false
  @Argument(help: "The customer's id.") var customer: String

  func run() async throws {
    let environment = try EnvironmentName.parse(environment)
    try await client.withConnection { connection in
      var token = ""
      repeat {
        let request = ListTimelineRequest.with {
          $0.app = app
          $0.customerId = customer
          $0.environment = environment
          $0.pageToken = token
          $0.includeNotifications = notifications
        }
        let page = try await connection.listTimeline(request)
        if client.json || !page.rows.isEmpty { client.show(page, page.rows) }
        token = page.nextPageToken
      } while !token.isEmpty
    }
  }
}

/// `entitled explain`: why the answer is what it is.
struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Tell the facts and rules behind an answer.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Option(help: "What held at this time, in RFC 3339; else now.") var asOf: String?
  @Option(help: "With what was known at this time, in RFC 3339; else with all that is known.") var knownAt:
    String?
  @Argument(help: "The customer's id.") var customer: String
  @Argument(help: "The entitlement asked for.") var entitlement: String

  func run() async throws {
    var request = ExplainRequest.with {
      $0.app = app
      $0.customerId = customer
      $0.entitlement = entitlement
    }
    request.environment = try EnvironmentName.parse(environment)
    request.asOf = try TimeOption.parse(asOf, "--as-of")
    request.knownAt = try TimeOption.parse(knownAt, "--known-at")
    let explanation = try await client.withConnection { [request] in try await $0.explain(request) }
    let steps = explanation.steps.map { step in
      ("\(step.decisive ? "* " : "  ")\(step.rule)", step.explanation)
    }
    let contradictions = explanation.contradictions.map { ("contradiction", $0) }
    client.show(explanation, (explanation.answer?.rows ?? []) + steps + contradictions)
  }
}

/// `entitled grant`: an entitlement without a purchase.
struct GrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Give an entitlement that was not bought in the App Store.",
    discussion: "Taken back with --revoke and the grant's id in the place of the entitlement.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Option(help: "Until when, in RFC 3339; else for ever.") var until: String?
  @Option(help: "Why, for the timeline.") var note = ""
  @Option(help: "Who gives it, for the timeline.") var actor = ""
  @Option(help: "The same key again gives the same grant, not a second one.") var key = ""
  @Flag(help: "Take the grant back.") var revoke = false
  @Argument(help: "The customer's id.") var customer: String
  @Argument(help: "The entitlement, or with --revoke the grant's id.") var entitlement: String

  func run() async throws {
    if revoke {
      let response = try await client.withConnection { connection in
        try await connection.revokeGrant(
          .with {
            $0.app = app
            $0.grantId = entitlement
            $0.actor = actor
            $0.note = note
          })
      }
      return client.show(response, rows(response.grant, response.entitlement))
    }
    var request = GrantRequest.with {
      $0.app = app
      $0.customerId = customer
      $0.entitlement = entitlement
      $0.note = note
      $0.actor = actor
      $0.idempotencyKey = key
    }
    request.environment = try EnvironmentName.parse(environment)
    request.until = try TimeOption.parse(until, "--until")
    let response = try await client.withConnection { [request] in try await $0.grant(request) }
    client.show(response, rows(response.grant, response.entitlement))
  }

  private func rows(_ grant: GrantedEntitlement?, _ answer: CheckResponse?) -> [(String, String)] {
    [("grant", grant?.grantId ?? "")] + (answer?.rows ?? [])
  }
}

/// A moment as people type it.
enum TimeOption {
  static func parse(_ text: String?, _ option: String) throws -> GoogleProtobuf.Timestamp? {
    guard let text else { return nil }
    guard let moment = Instant(rfc3339: text) else {
      throw Failure("\(option) takes a time such as 2026-01-31T12:00:00Z, not '\(text)'", status: 64)
    }
    return GoogleProtobuf.Timestamp(millisecondsSince1970: moment.millisecondsSince1970)
  }
}

extension ListTimelineResponse {
  /// Events, and before each what Apple told, one a line.
  fileprivate var rows: [(String, String)] {
    var rows: [(String, String)] = []
    var waiting = notifications[...]
    for event in events {
      let recordedAt = event.recordedAt?.millisecondsSince1970 ?? .max
      while let next = waiting.first, next.receivedAt?.millisecondsSince1970 ?? .min <= recordedAt {
        rows.append(next.row)
        waiting = waiting.dropFirst()
      }
      rows.append(event.row)
    }
    return rows + waiting.map(\.row)
  }
}

extension Wire.Notification {
  /// What Apple told, as one line.
  fileprivate var row: (String, String) {
    let name = subtype.isEmpty ? notificationType : "\(notificationType)/\(subtype)"
    return ("   \(receivedAt.text)", "Apple \(name): \(explanation)")
  }
}

extension EntitlementEvent {
  /// The event as one line.
  fileprivate var row: (String, String) {
    let moment = effectiveAt?.millisecondsSince1970.map { Instant(millisecondsSince1970: $0).description }
    let author = actor.isEmpty ? "" : " By \(actor)."
    return ("\(sequence)  \(moment ?? "")", "\(entitlement) \(type): \(explanation)\(author)")
  }
}

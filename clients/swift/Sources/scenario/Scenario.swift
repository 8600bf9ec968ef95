// Performs the steps of clients/scenario.json: one JSON object a line in, one out.
import Entitled
import Foundation

struct Settings: Decodable {
  var grpc, http, app, issuer, audience: String
}

struct Step: Decodable {
  var `do`: String
  var customer, entitlement, transaction, token, stream, segment, afterPosition: String?
  var after: Int64?
  var count: Int?
}

struct InvalidStep: Error {}

/// The streams that continue while other steps are performed, by their names.
actor Streams {
  private var tasks: [String: Task<[WatchedEvent], any Error>] = [:]

  /// Receives `count` events.
  func open(_ name: String, _ events: Events, count: Int) {
    tasks[name] = Task { try await first(count, of: events) }
  }

  /// The events of a stream.
  func events(of name: String) async throws -> [WatchedEvent] { try await tasks[name]?.value ?? [] }
}

func first(_ count: Int, of events: Events) async throws -> [WatchedEvent] {
  var received: [WatchedEvent] = []
  for try await event in events {
    received.append(event)
    if received.count == count { break }
  }
  return received
}

@main
struct Scenario: Sendable {
  let settings: Settings
  let verifier: TokenVerifier
  let streams = Streams()

  static func main() async throws {
    let settings = try JSONDecoder().decode(Settings.self, from: Data(CommandLine.arguments[1].utf8))
    guard let keys = URL(string: "http://\(settings.http)/.well-known/jwks.json") else { throw InvalidStep() }
    let verifier = TokenVerifier(
      jwksURL: keys, issuer: settings.issuer, audience: settings.audience, app: settings.app)
    try await Scenario(settings: settings, verifier: verifier).run()
  }

  func run() async throws {
    let address = settings.grpc.split(separator: ":")
    guard let port = Int(address[1]) else { throw InvalidStep() }
    try await withEntitledClient(
      host: String(address[0]), port: port, app: settings.app, environment: .sandbox
    ) { client in
      while let line = readLine() {
        let result = try await outcome(
          of: JSONDecoder().decode(Step.self, from: Data(line.utf8)), with: client)
        print(String(decoding: try JSONSerialization.data(withJSONObject: result), as: UTF8.self))
        fflush(nil)
      }
    }
  }

  func outcome(of step: Step, with client: EntitledClient) async throws -> [String: Any] {
    do {
      return try await perform(step, with: client)
    } catch let error as EntitledError {
      let code = "\(error.code)".replacing(/([a-z])([A-Z])/) { "\($0.1)_\($0.2)" }.uppercased()
      return ["error": ["code": code, "reason": error.reason, "fields": error.fields.keys.sorted()]]
    } catch is InvalidTokenError {
      return ["error": ["code": "INVALID_TOKEN"]]
    }
  }

  func perform(_ step: Step, with client: EntitledClient) async throws -> [String: Any] {
    let customer = step.customer ?? ""
    switch step.do {
    case "check":
      let answer = try await client.check(customerID: customer, entitlement: step.entitlement ?? "")
      return ["entitled": answer.entitled, "productId": answer.productID, "reason": answer.reason]
    case "submit":
      let response = try await client.submit(customerID: customer, signedTransaction: step.transaction ?? "")
      return ["transactionId": response.transaction.transactionID, "position": response.position]
    case "watch":
      let events = try await first(step.count ?? 0, of: stream(of: step, with: client))
      return ["events": shown(events), "position": events.last?.position ?? ""]
    case "follow":
      await streams.open(step.stream ?? "", stream(of: step, with: client), count: step.count ?? 0)
      return [:]
    case "followed":
      return ["events": shown(try await streams.events(of: step.stream ?? ""))]
    case "issueToken":
      let request = Entitled_V1_IssueTokenRequest.with {
        $0.app = client.app
        $0.environment = client.environment
        $0.customerID = customer
        $0.audience = settings.audience
      }
      return ["token": try await client.services.entitlement.issueToken(request).token]
    case "verifyToken":
      // As several requests at a service's start, while the keys are fetched.
      let token = step.token ?? ""
      async let other = verifier.verify(token)
      let claims = try await verifier.verify(token)
      guard try await other == claims else { throw InvalidStep() }
      return ["customer": claims.customerID, "entitlements": claims.entitlements.sorted()]
    default:
      throw InvalidStep()
    }
  }

  /// The events of a step: those of a segment, or of the app.
  func stream(of step: Step, with client: EntitledClient) -> Events {
    let sequence = step.after.map { EntitledClient.Start.after($0) }
    let start = step.afterPosition.map { EntitledClient.Start.afterPosition($0) } ?? sequence ?? .next
    guard let segment = step.segment else { return client.watch(from: start) }
    return client.watchSegment(segment, from: start)
  }

  func shown(_ events: [WatchedEvent]) -> [[String: Any]] {
    events.map { ["sequence": $0.sequence, "type": $0.type, "customer": $0.customerID] }
  }
}

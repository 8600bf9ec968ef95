package import AppStoreClient
internal import JSON

/// A backend behind an adapter: four calls of JSON over HTTP (`conformance/README.md`, "The adapter"). A call without
/// an answer fails its vector; it is not repeated.
package struct HTTPAdapter: BackendUnderTest {
  /// Of one call.
  private static let timeout = Duration.seconds(30)
  private static let maxResponseBytes = 8 << 20

  private let url: String
  private let exchange: any HTTPExchange

  /// An adapter at `url`, with or without a slash at the end.
  package init(url: String, exchange: any HTTPExchange) {
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    self.exchange = exchange
  }

  package func begin(run: Int) async throws(BackendFailure) {
    _ = try await call("reset", ["run": JSONValue(Int64(run))])
  }

  package func verify(_ vector: VerificationVector) async throws(BackendFailure) -> VerificationAnswer {
    try await verify(
      kind: vector.kind, vector.document, environment: vector.environment, device: vector.device)
  }

  private func verify(kind: String, _ document: String, environment: String, device: String? = nil)
    async throws(BackendFailure) -> VerificationAnswer
  {
    let answer = try await call(
      "verify",
      JSONObject(present: [
        ("kind", .string(kind)), ("environment", .string(environment)),
        ("document", .string(document)), ("device", device.map(JSONValue.string)),
      ]))
    return try Self.verdict(answer)
  }

  /// The verdict in a response.
  private static func verdict(_ answer: JSONObject) throws(BackendFailure) -> VerificationAnswer {
    switch answer["verdict"]?.stringValue {
    case "accepted": return .accepted(payload: answer["payload"]?.objectValue)
    case "rejected": return .rejected(reason: answer["reason"]?.stringValue)
    case "unsupported": return .unsupported
    case let other: throw BackendFailure("the adapter returned the verdict '\(other ?? "none")'")
    }
  }

  package func deliver(_ step: Lifecycle.Step, of customer: String, run: Int) async throws(BackendFailure) {
    _ = try await call(
      "deliver",
      [
        "run": JSONValue(Int64(run)), "customer": .string(customer), "kind": .string(step.kind),
        "document": .string(step.document),
      ])
  }

  package func state(of customer: String, _ entitlement: String, at: Int64, run: Int)
    async throws(BackendFailure) -> StateAnswer
  {
    let answer = try await call(
      "state",
      [
        "run": JSONValue(Int64(run)), "customer": .string(customer), "entitlement": .string(entitlement),
        "at": JSONValue(at),
      ])
    guard let isEntitled = answer["entitled"]?.boolValue else {
      throw BackendFailure("the adapter returned a state without 'entitled'")
    }
    let until: StateAnswer.End =
      switch answer["until"] {
      case nil: .notStated
      case .null?: .none
      case let value?:
        if let instant = value.int64Value {
          .at(instant)
        } else {
          throw BackendFailure("the adapter returned 'until' as \(value.kind)")
        }
      }
    return StateAnswer(isEntitled: isEntitled, status: answer["status"]?.stringValue, until: until)
  }

  /// Makes a call and returns the JSON object of a response with status 200.
  ///
  /// - Throws: ``BackendFailure`` for other responses.
  private func call(_ name: String, _ request: JSONObject) async throws(BackendFailure) -> JSONObject {
    let response = try await response(name, request)
    guard response.status == 200 else {
      throw BackendFailure("\(url)/\(name) returned HTTP \(response.status)")
    }
    guard let answer = try? JSONValue(parsing: response.body, duplicates: .rejected).objectValue else {
      throw BackendFailure("\(url)/\(name) returned no JSON object")
    }
    return answer
  }

  /// Makes a call and returns its response, with any status.
  private func response(_ name: String, _ request: JSONObject) async throws(BackendFailure)
    -> IncomingResponse
  {
    let outgoing = OutgoingRequest(
      method: "POST", url: "\(url)/\(name)", headers: [("content-type", "application/json")],
      body: request.serialized())
    do {
      return try await exchange.send(outgoing, timeout: Self.timeout, limit: Self.maxResponseBytes)
    } catch {
      throw BackendFailure("cannot reach the adapter at \(url)/\(name): \(error)", isUnreachable: true)
    }
  }
}

extension HTTPAdapter: RehearsedBackend {
  package func verify(_ document: RehearsedDocument) async throws(BackendFailure) -> VerificationAnswer {
    try await verify(kind: document.kind.rawValue, document.text, environment: "Sandbox")
  }

  /// Calls `/fetch`, which an adapter need not have.
  package func fetch(transaction id: String) async throws(BackendFailure) -> VerificationAnswer {
    let request: JSONObject = ["environment": "Sandbox", "transactionId": .string(id)]
    guard try await response("fetch", request).status != 404 else { return .unsupported }
    return try Self.verdict(await call("fetch", request))
  }
}

import AppStoreClient
import Conformance
import JSON
import Testing

/// The calls of the adapter's contract, over an exchange without a network.
@Suite struct HTTPAdapterTests {
  /// Answers every request with one response.
  private struct OneAnswer: HTTPExchange {
    let status: Int
    let body: String

    func send(_ request: OutgoingRequest, timeout: Duration, limit: Int) async throws(HTTPExchangeError)
      -> IncomingResponse
    {
      guard request.method == "POST", request.url == "http://adapter/base/state" else {
        throw .unreachable("wrong URL")
      }
      let sent = try? JSONValue(parsing: request.body)
      guard sent == ["run": 2, "customer": "c", "entitlement": "pro", "at": 5] else {
        throw .unreachable("wrong body")
      }
      return IncomingResponse(status: status, headers: [], body: Array(body.utf8))
    }
  }

  private func answer(_ status: Int, _ body: String) async throws -> StateAnswer {
    let adapter = HTTPAdapter(url: "http://adapter/base/", exchange: OneAnswer(status: status, body: body))
    return try await adapter.state(of: "c", "pro", at: 5, run: 2)
  }

  @Test("A state may leave out status and end, and has no end if it is null")
  func states() async throws {
    #expect(try await answer(200, #"{"entitled": true}"#) == StateAnswer(isEntitled: true))
    #expect(
      try await answer(200, #"{"entitled": true, "status": "ACTIVE", "until": null}"#)
        == StateAnswer(isEntitled: true, status: "ACTIVE", until: .none))
    #expect(
      try await answer(200, #"{"entitled": false, "until": 7}"#)
        == StateAnswer(isEntitled: false, until: .at(7)))
  }

  @Test(
    "A response outside the contract is a failure",
    arguments: [
      (500, "{}"), (200, ""), (200, "[]"), (200, "{}"), (200, #"{"entitled": "yes"}"#),
      (200, #"{"entitled": true, "until": "soon"}"#),
    ])
  func invalid(status: Int, body: String) async {
    await #expect(throws: BackendFailure.self) { _ = try await answer(status, body) }
  }
}

import AppStore
import JSON
import Testing

@testable import AppStoreClient

@Suite struct AppStoreServerClientTests {
  private let time = ManualTime()
  private let info = #"{"signedTransactionInfo":"jws"}"#

  private func fetch(_ exchange: ScriptedExchange, timeout: Duration? = nil) async throws
    -> TransactionInfoResponse
  {
    try await client(exchange, time).send(.transactionInfo("1"), timeout: timeout)
  }

  /// The error of a call, and the number of attempts.
  private func failure(of answers: ScriptedExchange.Answer..., timeout: Duration? = nil) async throws
    -> (error: AppStoreClientError?, calls: Int)
  {
    let exchange = ScriptedExchange(answers[0])
    let many = answers.count > 1 ? ScriptedExchange(answers[0], answers[1]) : exchange
    do {
      _ = try await fetch(many, timeout: timeout)
      return (nil, many.requests.count)
    } catch let error as AppStoreClientError {
      return (error, many.requests.count)
    }
  }

  @Test("A call carries a signed token, and its response is decoded")
  func success() async throws {
    let exchange = ScriptedExchange(.status(200, info))
    #expect(try await fetch(exchange).signedTransactionInfo == "jws")
    let request = try #require(exchange.requests.first)
    #expect(request.url == "https://apple.example/inApps/v1/transactions/1")
    #expect(request.headers.first { $0.name == "authorization" }?.value.hasPrefix("Bearer ey") == true)
  }

  @Test("Ids are percent-encoded in the path")
  func escaping() {
    #expect(AppStoreRequest.transactionInfo("../x?y=z").target == "/inApps/v1/transactions/..%2Fx%3Fy%3Dz")
    #expect(AppStoreRequest.transactionInfo("..").target == "/inApps/v1/transactions/%2E%2E")
    #expect(AppStoreRequest.lookUpOrder("a b/ü").target == "/inApps/v1/lookup/a%20b%2F%C3%BC")
  }

  @Test(
    "Temporary failures are retried with exponential backoff",
    arguments: [
      ScriptedExchange.Answer.status(500, #"{"errorCode":5000001,"errorMessage":"later"}"#),
      .status(503, "<html>"), .status(404, #"{"errorCode":4040002,"errorMessage":"later"}"#),
      .status(200, ""), .status(200, "<html></html>"), .status(200, #"{"signedTransac"#),
      .failure(.unreachable("reset")), .failure(.timedOut),
    ])
  func retried(answer: ScriptedExchange.Answer) async throws {
    let exchange = ScriptedExchange(answer, answer, .status(200, info))
    #expect(try await fetch(exchange).signedTransactionInfo == "jws")
    #expect(time.sleeps == [.milliseconds(125), .milliseconds(250)])
  }

  @Test("Final errors are not retried")
  func refused() async throws {
    let notFound = try await failure(
      of: .status(404, #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#))
    #expect(notFound.error == .refused(.transactionIdNotFound, message: "Transaction id not found."))
    #expect(notFound.calls == 1)
    let noInstall = try await failure(of: .status(404, #"{"errorCode":4040019,"errorMessage":"none"}"#))
    #expect(noInstall.error == .refused(.appTransactionDoesNotExist, message: "none"))
    let unknown = try await failure(of: .status(400, #"{"errorCode":4999999,"errorMessage":"new"}"#))
    #expect(unknown.error == .refused(.unrecognized(4_999_999), message: "new"))
    #expect(try await failure(of: .status(403, "<html>")).error == .unexpectedStatus(403))
    #expect(try await failure(of: .status(302)).error == .unexpectedStatus(302))
    let blue = try await failure(of: .status(200, #"{"signedTransactionInfo":1}"#))
    #expect(blue.error == .malformed(.wrongType(member: "signedTransactionInfo", expected: "a string")))
    #expect(try await failure(of: .failure(.tooLarge)).error == .tooLarge(limit: 16 << 20))
    #expect(time.sleeps.isEmpty)
  }

  @Test("A test notification is not requested again after a broken connection")
  func notRepeatable() async throws {
    let exchange = ScriptedExchange(.failure(.unreachable("reset")), .status(200, "{}"))
    await #expect(throws: AppStoreClientError.unreachable(host: "apple.example", problem: "reset")) {
      let _: SendTestNotificationResponse = try await client(exchange, time).send(.testNotification)
    }
    #expect(exchange.requests.count == 1)
  }

  @Test(
    "A conflict after an attempt whose result was lost means that this attempt succeeded",
    arguments: [
      (AppStoreRequest.uploadImage([1], identifier: "I"), "409", 4_090_000),
      (.uploadMessage([:], identifier: "M"), "409", 4_090_001),
      (.deleteImage("I"), "404", 4_040_014), (.deleteMessage("M"), "404", 4_040_015),
      (.deleteDefaultMessage(ofProduct: "p", locale: "en-US"), "404", 4_040_020),
      (.deleteRealtimeURL, "404", 4_040_021),
    ])
  func conflictAfterLostResult(request: AppStoreRequest, status: String, code: Int) async throws {
    let conflict = ScriptedExchange.Answer.status(
      try #require(Int(status)), #"{"errorCode":\#(code),"errorMessage":"conflict"}"#)
    for lost in [.failure(.unreachable("reset")), .failure(.timedOut), .status(502, "<html>")]
      as [ScriptedExchange.Answer]
    {
      let exchange = ScriptedExchange(lost, .status(429, "{}", [("retry-after", "0")]), conflict)
      try await client(exchange, time).send(request)
      #expect(exchange.requests.count == 3)
    }
    // Of the first attempt it is an error, and so is another one.
    let error = AppStoreClientError.refused(APIErrorCode(rawValue: Int64(code)), message: "conflict")
    await #expect(throws: error) { try await client(ScriptedExchange(conflict), time).send(request) }
    let other = ScriptedExchange.Answer.status(403, #"{"errorCode":4030016,"errorMessage":"too many"}"#)
    await #expect(throws: AppStoreClientError.self) {
      try await client(ScriptedExchange(.failure(.timedOut), other), time).send(request)
    }
  }

  @Test("A performance test is not started again after a broken connection")
  func performanceTest() async throws {
    let exchange = ScriptedExchange(.failure(.unreachable("reset")), .status(200, "{}"))
    await #expect(throws: AppStoreClientError.self) {
      try await client(exchange, time).send(.performanceTest(originalTransactionID: "1"))
    }
    #expect(exchange.requests.count == 1)
  }

  @Test("Calls wait until the instant in Retry-After, unless it is after their deadline")
  func rateLimited() async throws {
    let instant = String(ManualTime.start + 30_000)
    let exchange = ScriptedExchange(
      .status(
        429, #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#, [("retry-after", instant)]),
      .status(200, info))
    #expect(try await fetch(exchange).signedTransactionInfo == "jws")
    #expect(try #require(time.sleeps.first) >= .seconds(30))
    let timedOut = try await failure(
      of: .status(429, "", [("retry-after", String(ManualTime.start + 900_000))]), timeout: .seconds(5))
    guard case .rateLimited(let wait) = timedOut.error else {
      Issue.record("\(String(describing: timedOut.error))")
      return
    }
    #expect(wait > .seconds(60))
    #expect(timedOut.calls == 1)
  }

  @Test("A Retry-After stops calls for an hour at most", arguments: ["999999999", String(Int64.max)])
  func farRetryAfter(value: String) async throws {
    let outcome = try await failure(of: .status(429, "", [("retry-after", value)]), timeout: .seconds(5))
    #expect(outcome.error == .rateLimited(retryAfter: .seconds(3_600)))
  }

  @Test("A rejected token is replaced once; clock skew is reported")
  func unauthorized() async throws {
    let once = ScriptedExchange(.status(401), .status(200, info))
    #expect(try await fetch(once).signedTransactionInfo == "jws")
    #expect(try await failure(of: .status(401), .status(401)).error == .unauthorized)
    let date = [("date", "Thu, 01 Jan 2026 01:00:00 GMT")]
    let off = try await failure(of: .status(401, "", date), .status(401, "", date))
    #expect(off.error == .clockSkew(seconds: -3_600))
  }

  @Test("No retry is made after the deadline")
  func deadline() async throws {
    let outcome = try await failure(of: .status(503), .status(503), timeout: .milliseconds(100))
    #expect(outcome.error == .serverFailed(status: 503))
    #expect(outcome.calls == 1)
  }

  private func pages(
    _ exchange: ScriptedExchange, _ options: PagingOptions = PagingOptions()
  ) async throws -> [HistoryResponse] {
    var reader = try client(exchange, time).transactionHistory(of: "1", options)
    var pages: [HistoryResponse] = []
    while let page = try await reader.next() { pages.append(page) }
    return pages
  }

  @Test("A paged read returns all pages, and fails if a page token repeats or is missing")
  func paging() async throws {
    func page(_ revision: String, more: Bool) -> ScriptedExchange.Answer {
      .status(200, #"{"revision":"\#(revision)","hasMore":\#(more),"signedTransactions":["\#(revision)"]}"#)
    }
    let exchange = ScriptedExchange(page("a", more: true), page("b", more: true), page("c", more: false))
    let read = try await pages(exchange).flatMap { $0.signedTransactions ?? [] }
    #expect(read == ["a", "b", "c"])
    #expect(
      exchange.requests.map { $0.url.split(separator: "?").dropFirst().joined() } == [
        "", "revision=a", "revision=b",
      ])

    let circle = ScriptedExchange(page("a", more: true), page("b", more: true), page("a", more: true))
    await #expect(throws: AppStoreClientError.pageLoop(token: "a")) {
      try await pages(circle)
    }
    let lost = ScriptedExchange(.status(200, #"{"hasMore":true}"#))
    await #expect(throws: AppStoreClientError.missing(field: "revision")) {
      try await pages(lost)
    }
  }

  @Test("All pages share one timeout, after which no page is requested")
  func timeoutOfPages() async throws {
    let page = ScriptedExchange.Answer.status
    let time = time
    let exchange = ScriptedExchange(
      page(200, #"{"revision":"a","hasMore":true}"#, []), page(200, #"{"revision":"b","hasMore":true}"#, []),
      page(200, #"{"revision":"c","hasMore":true}"#, []), answered: { time.advance(.seconds(4)) })
    await #expect(throws: AppStoreClientError.timedOut) {
      try await pages(exchange, PagingOptions(timeout: .seconds(10)))
    }
    #expect(exchange.timeouts == [.seconds(10), .seconds(6), .seconds(2)])
  }

  @Test("With a timeout of each page, a long list is read to its end")
  func timeoutOfEachPage() async throws {
    let time = time
    let exchange = ScriptedExchange(
      .status(200, #"{"revision":"a","hasMore":true}"#), .status(200, #"{"revision":"b","hasMore":true}"#),
      .status(200, #"{"revision":"c","hasMore":false}"#), answered: { time.advance(.seconds(9)) })
    #expect(try await pages(exchange, PagingOptions(pageTimeout: .seconds(10))).count == 3)
    #expect(exchange.timeouts == [.seconds(10), .seconds(10), .seconds(10)])
  }
}

import PostgreSQL
import PostgresSupport
import Synchronization
import Testing

extension PostgresQueryPipeline {
  /// Returns the result of a query.
  func query(_ request: PostgresRequest, generation: Int = 0) async throws -> PostgresRows {
    // The thread sanitizer sees the order of a mutex, but not that of a continuation.
    let received = Mutex<Result<PostgresRows, PostgresError>?>(nil)
    await withCheckedContinuation { continuation in
      submit(request, generation: generation) { result in
        received.withLock { $0 = result }
        continuation.resume()
      }
    }
    return try #require(received.withLock { $0 }).get()
  }

  /// Returns the error of a query.
  func failure(of request: PostgresRequest, generation: Int = 0) async -> PostgresError? {
    do {
      _ = try await query(request, generation: generation)
      return nil
    } catch {
      return error as? PostgresError
    }
  }
}

extension PostgresTests {
  @Suite struct QueryPipelineTests {
    private let database: Database

    init() throws { database = try Database() }

    /// Opens a pipeline, and waits until it is connected.
    private func open(
      _ settings: PostgresSettings, _ limits: PostgresQueryPipeline.Limits = .init(timeout: .seconds(30))
    ) async throws -> PostgresQueryPipeline {
      let (states, report) = AsyncStream.makeStream(of: PostgresError?.self)
      let pipeline = try PostgresQueryPipeline(settings, limits: limits) { report.yield($0) }
      for await state in states {
        if let state { throw state }
        break
      }
      return pipeline
    }

    @Test(
      "Queries of many tasks return their own results, directly and through PgBouncer",
      arguments: [false, true])
    func many(isPooled: Bool) async throws {
      let settings =
        isPooled ? database.server.pooledSettings(database.name) : database.server.settings(database.name)
      let pipeline = try await open(settings)
      defer { pipeline.close() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in Int64(0)..<500 {
          group.addTask {
            let keys = PostgresValue.array(PostgresArray([number, number + 1]))
            let rows = try await pipeline.query(
              PostgresRequest(
                "SELECT n FROM generate_series(0, 1000) AS n WHERE n = ANY($1) ORDER BY n", [keys]))
            #expect(rows.count == 2 && rows.number(0, 0) == number && rows.number(1, 0) == number + 1)
          }
        }
        try await group.waitForAll()
      }
    }

    @Test("A query that fails does not affect those before and after it")
    func failures() async throws {
      let pipeline = try await open(database.server.settings(database.name))
      defer { pipeline.close() }
      async let before = pipeline.query(PostgresRequest("SELECT 1"))
      async let wrong = pipeline.failure(of: PostgresRequest("SELECT * FROM missing"))
      async let divided = pipeline.failure(of: PostgresRequest("SELECT 1 / $1", [.int8(0)]))
      async let after = pipeline.query(PostgresRequest("SELECT 1 / $1", [.int8(1)]))
      #expect(try await before.number(0, 0) == 1)
      #expect(await wrong?.sqlState == "42P01")
      #expect(await divided?.sqlState == "22012")
      #expect(try await after.number(0, 0) == 1)
    }

    @Test("More queries than the limit are refused, and a session that does not answer is given up")
    func limits() async throws {
      let limits = PostgresQueryPipeline.Limits(timeout: .milliseconds(300), maxInFlight: 1)
      let pipeline = try await open(database.server.settings(database.name), limits)
      defer { pipeline.close() }
      let (results, report) = AsyncStream.makeStream(of: PostgresError.Kind?.self)
      for _ in 0..<2 {
        pipeline.submit(PostgresRequest("SELECT pg_sleep(60)")) { result in
          if case .failure(let error) = result { report.yield(error.kind) } else { report.yield(nil) }
        }
      }
      var kinds = results.makeAsyncIterator()
      #expect(await kinds.next() == .some(.overloaded))
      #expect(await kinds.next() == .some(.unavailable))
    }

    @Test("The first query of a later generation fails, and those after it run on another session")
    func generations() async throws {
      let pipeline = try await open(database.server.settings(database.name))
      defer { pipeline.close() }
      let session = PostgresRequest("SELECT pg_backend_pid()")
      let first = try await pipeline.query(session).number(0, 0)
      #expect(try await pipeline.query(session).number(0, 0) == first)
      #expect(await pipeline.failure(of: session, generation: 1)?.kind == .unavailable)
      var second: Int64?
      while second == nil {
        await Task.yield()
        second = try? await pipeline.query(session, generation: 1).number(0, 0)
      }
      #expect(second != first)
      // A query that was made before the loss is no reason to open another one.
      #expect(try await pipeline.query(session).number(0, 0) == second)
    }

    @Test("Closing a pipeline fails its queries")
    func close() async throws {
      let pipeline = try await open(database.server.settings(database.name))
      async let error = pipeline.failure(of: PostgresRequest("SELECT pg_sleep(60)"))
      pipeline.close()
      #expect(await error?.kind == .unavailable)
      #expect(!pipeline.isConnected)
    }
  }
}

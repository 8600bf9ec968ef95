internal import Platform
internal import PostgreSQL
internal import SQLStore
internal import Store
internal import Synchronization

/// Reads the stored answers of the customers that were requested during a tick of an event loop with one query, without
/// a transaction and without waiting. While two queries are in flight, later ticks share the next one, so that the
/// number of queries does not grow with the load.
final class AnswerBatcher: AnswerLoader {
  private struct Load: Sendable {
    let number: Int64
    let customer: CustomerKey
    let completion: @Sendable (Result<LoadedAnswers, StoreError>) -> Void
  }

  private struct State {
    var waiting: [Load] = []
    var inFlight = 0
  }

  /// Queries at a time: while one is answered, the next batch gathers.
  private static let maxInFlight = 2
  /// The maximum number of customers of a query.
  private static let maxBatch = 256
  /// Further requests are rejected.
  private static let capacity = 8_192

  private static let sql = """
    SELECT customer_number, identity, answers, length(facts) FROM customer WHERE customer_number = ANY($1)
    """

  private let pipeline: PostgresQueryPipeline
  private let changes: CustomerVersions
  private let feed: StoreFeed
  private let hash: CustomerIdentity.Hash
  private let state = Mutex(State())

  init(
    _ pipeline: PostgresQueryPipeline, changes: CustomerVersions, feed: StoreFeed,
    hash: @escaping CustomerIdentity.Hash
  ) {
    self.pipeline = pipeline
    self.changes = changes
    self.feed = feed
    self.hash = hash
  }

  func load(
    _ customer: CustomerKey, _ completion: @escaping @Sendable (Result<LoadedAnswers, StoreError>) -> Void
  ) {
    let load = Load(number: hash(customer), customer: customer, completion: completion)
    let waiting: Int? = state.withLock { state in
      guard state.waiting.count < Self.capacity else { return state.waiting.count }
      state.waiting.append(load)
      return nil
    }
    if let waiting { completion(.failure(.overloaded(waiting: waiting))) }
  }

  func flush() {
    while let batch = takeBatch() { submit(batch) }
  }

  private func takeBatch() -> [Load]? {
    state.withLock { state in
      guard !state.waiting.isEmpty, state.inFlight < Self.maxInFlight else { return nil }
      state.inFlight += 1
      let batch = Array(state.waiting.prefix(Self.maxBatch))
      state.waiting.removeFirst(batch.count)
      return batch
    }
  }

  /// Loads a batch with one query, and sends the next batch when the response is there.
  private func submit(_ batch: [Load]) {
    // Loaded before the query is sent, so that its snapshot is never older than this commit.
    let version = changes.lastCommit
    let numbers = PostgresArray(batch.lazy.map(\.number))
    let request = PostgresRequest(Self.sql, [.array(numbers)], isReadOnly: true)
    // After a loss the session may be one with a server that another one has replaced, and that does not know it.
    pipeline.submit(request, generation: feed.lossCount) { [self] result in
      state.withLock { $0.inFlight -= 1 }
      flush()
      // The responses of a batch are made together, beside the thread of the pipeline.
      BackgroundThreads.shared.async {
        switch result {
        case .success(let rows): Self.deliver(rows, to: batch, version)
        case .failure(let error): for load in batch { load.completion(.failure(StoreError(error))) }
        }
      }
    }
  }

  private static func deliver(_ rows: PostgresRows, to batch: [Load], _ version: UInt64) {
    var rowOfNumber: [Int64: Int] = [:]
    for row in 0..<rows.count { rowOfNumber[rows.number(row, 0)] = row }
    for load in batch {
      var found = LoadedAnswers.Content.unknownCustomer
      if let row = rowOfNumber[load.number] { found = content(rows, row, of: load.customer) }
      load.completion(.success(LoadedAnswers(found, version: version)))
    }
  }

  private static func content(
    _ rows: PostgresRows, _ row: Int, of customer: CustomerKey
  ) -> LoadedAnswers.Content {
    guard CustomerIdentity.matches(rows.borrowedBytes(row, 1).span, customer) else { return .ambiguous }
    return .answers(rows.bytes(row, 2), factBytes: rows.number(row, 3))
  }
}

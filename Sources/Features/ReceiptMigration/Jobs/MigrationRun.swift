internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Ledger
internal import Platform
internal import Store

/// A running job: reads its input, migrates several lines concurrently, and commits each line's result together with
/// its receipt. So a crash loses no result, and a resumed job migrates no line twice.
struct MigrationRun: Sendable {
  let job: MigrationJob
  private let source: any InputSource
  let intake: ReceiptIntake
  let store: any EntitlementStore
  let progress: MigrationProgress
  let sleep: @Sendable (Duration) async throws -> Void
  /// The locks of purchase lines: concurrent receipts of one Apple account are looked up one after the other.
  let lines = KeyLocks()

  /// The longest pause between two attempts.
  static let maxPause = Duration.seconds(30)
  /// The number of finished lines between two writes of the watermark.
  private static let stride: Int64 = 16

  /// `source` has the input of the job; `sleep` waits between two attempts.
  init(
    _ job: MigrationJob, _ source: any InputSource, intake: ReceiptIntake, store: any EntitlementStore,
    progress: MigrationProgress,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.job = job
    self.source = StoppableSource(base: source) { Task.isCancelled || progress.isStopped }
    self.intake = intake
    self.store = store
    self.progress = progress
    self.sleep = sleep
  }

  /// Whether the job was cancelled or the service ends.
  var isStopped: Bool { Task.isCancelled || progress.isStopped }

  /// The reason why a run ends before the end of its input.
  private enum Interruption: Error {
    /// The input cannot be read: the job fails.
    case input(InputError)
    /// The job continues after a restart, or was stopped.
    case store(StoreError)
  }

  /// Runs to the end of the input, or until the task is cancelled or the job stopped. A busy or full store pauses it.
  ///
  /// - Throws: the error of a store that is closed or damaged; the job resumes after a restart.
  func run() async throws(StoreError) {
    do throws(Interruption) {
      var reader = try await openInput()
      let done = try await doneLines()
      try await processLines(&reader, done)
    } catch {
      guard !isStopped else { return }
      switch error {
      case .input(let error): try await end(.failed, error.description)
      case .store(let error): throw error
      }
    }
  }

  /// Opens the input after the watermark of the job. It waits while the store that has an upload is unavailable.
  private func openInput() async throws(Interruption) -> InputReader {
    let format = InputFormat(job.order.format) ?? InputFormat()
    while true {
      do throws(InputError) {
        return try InputReader(source, format, after: job.doneLines, at: job.position)
      } catch {
        guard case .store(let failure) = error else { throw .input(error) }
        guard await mayRepeat(after: failure) else { throw .store(failure) }
      }
    }
  }

  /// Waits until the upload may be readable again. Returns whether it may; `false` if the job stops.
  private func mayRepeat(after failure: StoreError) async -> Bool {
    guard failure.isTemporary, !isStopped else { return false }
    try? await sleep(.seconds(1))
    return !isStopped
  }

  /// The numbers of lines beyond the watermark whose results are stored.
  private func doneLines() async throws(Interruption) -> Set<Int64> {
    let id = job.id
    do throws(StoreError) {
      return try await repeating { () async throws(StoreError) in
        try await store.read(.background) { store throws(StoreError) in try store.doneLines(of: id) }
      }
    } catch {
      throw .store(error)
    }
  }

  /// Repeats `operation` with growing pauses while the store is busy, full or out of reach.
  ///
  /// - Throws: the last error once the job stops; an error that no later attempt can resolve at once.
  func repeating<Value: Sendable>(
    _ operation: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    var pause = Duration.seconds(1)
    while true {
      do throws(StoreError) { return try await operation() } catch {
        guard error.isTemporary, !isStopped else { throw error }
      }
      try? await sleep(pause)
      pause = min(pause * 2, Self.maxPause)
    }
  }

  /// Processes the lines that are left, as many at a time as the job demands, and saves the progress. A job that is
  /// stopped meanwhile stays unfinished.
  private func processLines(
    _ reader: inout InputReader, _ done: Set<Int64>
  ) async throws(Interruption) {
    var mark = ProgressWatermark(line: job.doneLines, position: job.position)
    let outcome = await withTaskGroup(of: Result<InputLine?, StoreError>.self) {
      group -> Result<Bool, InputError> in
      var inFlight = 0
      var failure: InputError?
      reading: while failure == nil, !isStopped {
        do throws(InputError) {
          let line: InputLine
          switch try reader.step() {
          case .line(let next): line = next
          case .end: break reading
          case .more:
            await Task.yield()
            continue
          }
          mark.begin(line, lineCount: reader.lineCount, position: reader.position)
          if done.contains(line.number) {
            mark.finish(line)
            continue
          }
          group.addTask(executorPreference: BackgroundThreads.shared) { await finished(line) }
          inFlight += 1
        } catch {
          guard !isStopped else { break reading }
          if case .store(let lost) = error, await mayRepeat(after: lost) { continue }
          failure = error
        }
        guard inFlight >= job.order.concurrency else { continue }
        if let result = await group.next() { failure = await finish(result, &mark) ?? failure }
        inFlight -= 1
      }
      while let result = await group.next() { failure = await finish(result, &mark) ?? failure }
      if let failure { return .failure(failure) }
      await save(mark)
      return .success(mark.isComplete && !isStopped)
    }
    do throws(InputError) {
      guard try outcome.get() else { return }
    } catch {
      if case .store(let failure) = error { throw .store(failure) }
      throw .input(error)
    }
    do throws(StoreError) { try await end(.finished, "") } catch { throw .store(error) }
  }

  /// Processes a line; returns it if its result is stored, `nil` if the job stops.
  private func finished(_ line: InputLine) async -> Result<InputLine?, StoreError> {
    do throws(StoreError) {
      return .success(try await process(line) ? line : nil)
    } catch {
      return .failure(error)
    }
  }

  /// Moves the watermark after a line, and stores it after each ``stride`` lines. Returns the error of a line whose result
  /// cannot be stored.
  private func finish(
    _ result: Result<InputLine?, StoreError>, _ mark: inout ProgressWatermark
  ) async -> InputError? {
    switch result {
    case .failure(let error): return .store(error)
    case .success(nil): return nil
    case .success(let line?):
      let before = mark.line
      mark.finish(line)
      if mark.line / Self.stride != before / Self.stride { await save(mark) }
      return nil
    }
  }

  /// Writes the watermark. A failed write is made good by the next one.
  private func save(_ mark: ProgressWatermark) async {
    let (id, line, position) = (job.id, mark.line, mark.position)
    try? await store.write { store throws(StoreError) in
      try store.saveProgress(of: id, to: line, position: position)
    }
  }

  /// Stores the end of the job. A job that was cancelled meanwhile stays cancelled.
  private func end(_ state: MigrationJob.State, _ error: String) async throws(StoreError) {
    let (id, instant) = (job.id, intake.ledger.clocks.now(in: job.order.environment))
    try await repeating { () async throws(StoreError) in
      try await store.write { store throws(StoreError) in
        try store.end(id, as: state, error: error.listed, at: instant)
      }
    }
  }
}

extension String {
  /// The text as the state of a job can have it. An input can have any text: of any length, and with a NUL, which
  /// PostgreSQL refuses.
  var listed: String {
    String(String.UnicodeScalarView(unicodeScalars.prefix(1_000).map { $0 == "\0" ? "\u{FFFD}" : $0 }))
  }
}

extension StoreError {
  /// Whether the same operation may succeed later, without a restart.
  var isTemporary: Bool {
    switch self {
    case .overloaded, .deadlineExceeded, .diskFull, .refused, .failed, .removed, .cannotOpen, .inUse,
      .conflict, .unavailable, .outcomeUnknown:
      true
    case .cancelled, .closed, .corrupt, .newerSchema, .olderSchema, .missing: false
    }
  }
}

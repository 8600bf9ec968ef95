internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// Hands the calls that write, or that call Apple, to the leader, and waits for their outcome.
///
/// It is inside the interceptors: the replica where a call arrives authenticates, counts and audits it.
struct CallForwarder: Sendable {
  /// The longest time to wait for the outcome of a call without a deadline.
  private static let defaultTimeout = Duration.seconds(30)

  /// Methods that need the memory of the leader's workers.
  private static let others: Set<String> = [
    "/entitled.v1.ReceiptService/GetMigration", "/entitled.v1.ReceiptService/ListMigrations",
  ]

  /// Methods that call Apple, with side effects or without: the contract lists Apple's errors for them. One process calls
  /// Apple, so that the rate limits hold.
  static let callsApple = methods(withError: "APP_STORE_UNAVAILABLE")

  /// Methods that write where a call arrives: any replica appends to the table of the pieces of uploads.
  private static let local: Set<String> = ["/entitled.v1.ReceiptService/UploadMigrationInput"]

  /// Whether this replica leads.
  let leadership: Leadership
  /// The inbox of the leader, in the database.
  let replication: any Replication

  /// `nil` for a process that has the store for itself: its calls cost nothing more.
  init?(_ leadership: Leadership) {
    guard let replication = leadership.replication else { return nil }
    self.leadership = leadership
    self.replication = replication
  }

  /// Whether calls run in this process now; it may change while one runs.
  var executesWrites: Bool { leadership.executesWrites }

  /// Returns the method, forwarded while this replica is not the leader if the leader has to execute it.
  func forwarding(_ method: Method) -> Method {
    guard case .asyncUnary(let handler) = method.handler, Self.isForLeader(method.path) else { return method }
    let path = method.path
    return Method(
      path: path,
      handler: .asyncUnary { request, call throws(Status) in
        // Decoded in any case: a malformed request goes no further.
        let (work, body) = (try handler(request, call), Array(request))
        return { () async throws(Status) in try await run(path, body, call, work) }
      }, needsAddress: method.needsAddress)
  }

  /// The methods for which the contract lists an error with this reason.
  static func methods(withError reason: String) -> Set<String> {
    Set(
      MethodErrorTable.text.split(separator: "\n").filter { $0.contains(" \(reason)") }
        .compactMap { $0.split(separator: " ").first.map(String.init) })
  }

  private static func isForLeader(_ path: String) -> Bool {
    guard let method = Contract.method(named: path) else { return false }
    return !method.hasNoSideEffects && !local.contains(path) || others.contains(path)
      || callsApple.contains(path)
  }

  /// Runs a call here if this replica leads, otherwise through the leader; also if it lost the lease before the call
  /// had an effect.
  private func run(
    _ path: String, _ body: [UInt8], _ call: CallContext, _ work: UnaryWork
  ) async throws(Status) -> Reply {
    if executesWrites {
      do throws(Status) {
        return try await work()
      } catch {
        // Another replica leads by now, and this one has written nothing of the call.
        guard error.isWithoutEffect, !executesWrites else { throw error }
      }
    }
    return try await forward(path, body, call)
  }

  /// Hands a call to the leader.
  ///
  /// - Throws: the status of the leader's handler; `OUTCOME_UNKNOWN` if a call without a deadline has no outcome after
  ///   30 seconds.
  func forward(_ path: String, _ body: [UInt8], _ call: CallContext) async throws(Status) -> Reply {
    let result = try await outcome(ForwardedContext(call), within: call.remainingTime) { context in
      InboxEntry(
        kind: .call,
        appID: body.withUnsafeBytes { MethodPolicy.of(path).apps(in: $0)?.last ?? "" },
        method: path, caller: call.caller, context: context.encoded, body: body)
    }
    switch result {
    case .reply(let reply, let shown, let subject):
      if !shown.isEmpty || !subject.isEmpty { CallScope.show(shown, of: subject) }
      return reply
    case .failure(let status): throw status
    case .done, .response: throw Self.malformed
    }
  }

  /// Appends the entry that `entry` returns for the context with the key of its outcome, and waits for the outcome.
  func outcome(
    _ context: ForwardedContext, within timeout: Duration?, of entry: (ForwardedContext) -> InboxEntry
  ) async throws(Status) -> ForwardedOutcome {
    let key = OutcomeKey()
    var context = context
    context.outcomeKey = key
    let limit = min(timeout ?? Self.defaultTimeout, .seconds(3_600))
    let deadline = ContinuousClock.now + limit
    let bytes: [UInt8]
    do throws(StoreError) {
      let appended = try await replication.inbox.append(entry(context))
      bytes = try await replication.inbox.outcome(of: appended, until: deadline)
    } catch .deadlineExceeded where timeout == nil {
      throw Status(.outcomeUnknown("the leader has not executed the call within \(limit)"))
    } catch {
      throw Status(error)
    }
    guard let outcome = key.open(bytes) else { throw Self.malformed }
    return outcome
  }

  private static let malformed = Status(
    .internalError, "the outcome of the leader cannot be read; does it run another version?")
}

extension Status {
  /// Whether the leader should execute the call again: it could not write, and nothing else was wrong.
  var isTemporary: Bool {
    ["STORE_UNAVAILABLE", "STORE_OVERLOADED", "OUTCOME_UNKNOWN", "SHUTTING_DOWN", "DISK_FULL"]
      .contains(reason ?? "")
  }
}

internal import CPostgreSQL

/// A step in the sequence of results.
enum ReceivedResult {
  case rows(PostgresRows)
  case failed(PostgresError)
  /// The requests of an aborted pipeline after the failed one.
  case skipped
  /// The server expects rows of `COPY`.
  case copyIn
  /// The end of the results of one command.
  case endOfCommand
  /// The end of the results up to a sync.
  case sync
}

extension SessionHandle {
  /// Whether ``nextResult()`` would wait for the server.
  var mustWait: Bool { PQisBusy(handle) != 0 }

  /// Reads what has arrived at the socket.
  func receive() throws(PostgresError) {
    guard PQconsumeInput(handle) == 1 else { throw lost }
  }

  /// Returns the next result; call it only if it must not wait.
  ///
  /// - Throws: if the session is lost. An error of the server is a result.
  func nextResult() throws(PostgresError) -> ReceivedResult {
    guard let result = PQgetResult(handle) else {
      guard !isLost else { throw lost }
      return .endOfCommand
    }
    switch PQresultStatus(result) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return .rows(PostgresRows(result))
    case let status:
      defer { PQclear(result) }
      switch status {
      case PGRES_PIPELINE_SYNC: return .sync
      case PGRES_PIPELINE_ABORTED: return .skipped
      case PGRES_COPY_IN: return .copyIn
      default:
        let error = PostgresError(result)
        // A fatal error ends the session, so the results of other requests will not arrive.
        if isLost || Self.isFatal(result) { throw PostgresError(lostAfter: error) }
        return .failed(error)
      }
    }
  }

  private static func isFatal(_ result: OpaquePointer) -> Bool {
    ["FATAL", "PANIC"].contains(field(entitled_field_severity, of: result))
  }

  /// Returns the notifications that have arrived.
  func takeNotifications() -> [PostgresNotification] {
    var notifications: [PostgresNotification] = []
    while let next = PQnotifies(handle) {
      notifications.append(
        PostgresNotification(
          channel: String(cString: next.pointee.relname), payload: String(cString: next.pointee.extra)))
      PQfreemem(next)
    }
    return notifications
  }
}

extension PostgresError {
  /// The server and libpq disagree about what was sent; the session cannot be used again.
  static let unexpectedResult = PostgresError(.unavailable, "the server sent an unexpected result")

  fileprivate init(_ result: OpaquePointer) {
    let sqlState = field(entitled_field_sqlstate, of: result) ?? ""
    let message =
      field(entitled_field_primary_message, of: result) ?? String(cString: PQresultErrorMessage(result))
    self.init(
      sqlState: sqlState, primaryMessage: message,
      constraint: field(entitled_field_constraint, of: result))
  }

  /// The error with which the server ended the session.
  fileprivate init(lostAfter error: PostgresError) {
    self.init(.unavailable, error.message, sqlState: error.sqlState)
  }
}

/// Returns a field of an error or notice.
private func field(_ code: Int, of result: OpaquePointer) -> String? {
  PQresultErrorField(result, CInt(code)).map { String(cString: $0) }
}

/// The contents of the server's notices since they were last read.
final class NoticeLog {
  /// Whether a commit stopped waiting for the synchronous standby, because it was cancelled.
  var hasUnreplicatedCommit = false
}

/// Reads a notice by the function that sent it, since its text depends on the language of the server.
func receiveNotice(_ log: UnsafeMutableRawPointer?, _ notice: OpaquePointer?) {
  guard let log, let notice else { return }
  guard field(entitled_field_function, of: notice) == "SyncRepWaitForLSN" else { return }
  Unmanaged<NoticeLog>.fromOpaque(log).takeUnretainedValue().hasUnreplicatedCommit = true
}

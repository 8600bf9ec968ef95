/// An error of PostgreSQL or of the connection to it.
///
/// The message is the primary one of the server, without its detail, and without the values that some primary
/// messages quote, so it may be logged.
package struct PostgresError: Error, Hashable, Sendable {
  /// The causes that a caller treats differently.
  package enum Kind: Hashable, Sendable, CaseIterable {
    /// The transaction met another one (`40001`, `40P01`, `55P03`) or the row exists already (`23505`). It was rolled
    /// back.
    case conflict
    /// The server cannot be reached or has no room (`08`, `53`, `57P0x`). Nothing was committed.
    case unavailable
    /// The connection was lost after a commit was sent and before its result arrived. The caller must check whether it
    /// was committed.
    case outcomeUnknown
    /// The server accepts no writes (`25006`), such as a primary that became a standby.
    case readOnly
    /// A time limit, an interruption or the operator ended the statement (`57014`). Nothing was committed.
    case timedOut
    /// Too many requests are in flight. Nothing was sent.
    case overloaded
    /// A wrong use of this wrapper. Nothing was sent.
    case misuse
    /// Any other error, by ``PostgresError/sqlState``.
    case other
  }

  /// The kind, by which a caller decides what to do.
  package let kind: Kind
  /// The five characters of https://www.postgresql.org/docs/15/errcodes-appendix.html; empty if the server sent none.
  package let sqlState: String
  /// The text of the server, of libpq, or of this wrapper.
  package let message: String
  /// The name of the violated constraint.
  package let constraint: String?
  /// The index of the failed request, if several were sent together.
  package var requestIndex: Int?

  package init(_ kind: Kind, _ message: String, sqlState: String = "", constraint: String? = nil) {
    self.kind = kind
    self.sqlState = sqlState
    self.message = message
    self.constraint = constraint
  }

  /// Creates an error that the server reported.
  package init(sqlState: String, primaryMessage: String, constraint: String? = nil) {
    self.init(
      Kind(sqlState: sqlState), Self.withoutValues(primaryMessage, sqlState: sqlState), sqlState: sqlState,
      constraint: constraint)
  }

  /// Messages about invalid data (class 22) quote the data; those of other classes quote names.
  private static func withoutValues(_ message: String, sqlState: String) -> String {
    guard sqlState.hasPrefix("22"), let end = message.firstIndex(where: { $0 == "\"" || $0 == ":" }) else {
      return message
    }
    return message[..<end] + "…"
  }
}

extension PostgresError.Kind {
  /// The kind of an error with which the server ended a statement.
  package init(sqlState: String) {
    self =
      switch sqlState {
      case "40001", "40P01", "55P03", "23505": .conflict
      case "25006": .readOnly
      case "57014": .timedOut
      // The session ended because it was idle too long, in a transaction or not.
      case "25P03", "57P05": .unavailable
      case _ where sqlState.hasPrefix("08") || sqlState.hasPrefix("53") || sqlState.hasPrefix("57P"):
        .unavailable
      default: .other
      }
  }
}

extension PostgresError {
  /// Whether a message says that a host did not answer, or not in time. The server may work for other clients then, also
  /// if another host answers, such as a standby.
  package static func isSilence(_ message: String) -> Bool {
    let results = message.split(separator: "\n").filter { line in attempts.contains { line.contains($0) } }
    guard !results.isEmpty else { return message.contains(SocketWait.noAnswer) }
    return results.contains { result in silences.contains { result.contains($0) } }
  }

  /// The beginnings of libpq's result of an attempt to connect.
  private static let attempts = [
    "connection to server at", "connection to server on", "could not translate host name",
  ]
  /// Its own results and those of the system.
  private static let silences = [
    "timeout expired", "timed out", "No route to host", "unreachable", "Host is down",
    "could not translate host name",
  ]
}

extension PostgresError: CustomStringConvertible {
  package var description: String { sqlState.isEmpty ? message : "\(message) (SQLSTATE \(sqlState))" }
}

/// The error type of a ``PostgresConnection`` and its statements. A client converts PostgreSQL's errors to its own in
/// one place, by the initializer.
package protocol PostgresErrorConvertible: Error {
  init(_ error: PostgresError)
}

extension PostgresError: PostgresErrorConvertible {
  package init(_ error: PostgresError) { self = error }
}

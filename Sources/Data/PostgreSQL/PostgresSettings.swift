internal import Foundation

/// The settings with which sessions are opened.
package struct PostgresSettings: Hashable, Sendable {
  /// Options of libpq by keyword, such as `host`, `port`, `dbname`, `user`, `sslmode`, `target_session_attrs` and
  /// `service` (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-PARAMKEYWORDS). Several hosts are
  /// separated by commas. They take precedence over ``defaults``.
  package var options: [String: String]
  /// The file with the password, read each time a session is opened, so that it can be rotated.
  package var passwordFile: String?
  /// Whether PgBouncer in transaction mode is between. Then statements are unnamed, and nothing relies on the session.
  package var isPooled: Bool

  package init(_ options: [String: String], passwordFile: String? = nil, isPooled: Bool = false) {
    self.options = options
    self.passwordFile = passwordFile
    self.isPooled = isPooled
  }

  /// Returns a copy with one more option of libpq.
  package func with(_ option: String, _ value: String) -> PostgresSettings {
    var copy = self
    copy.options[option] = value
    return copy
  }

  /// Options for every session, unless ``options`` has others.
  private static let defaults = [
    "application_name": "entitled", "client_encoding": "UTF8", "connect_timeout": "2",
    // An attempt with Kerberos would cost each session a round trip.
    "gssencmode": "disable",
    // A server that vanished without closing its connections is noticed within about five seconds.
    "keepalives_idle": "3", "keepalives_interval": "1", "keepalives_count": "2", "tcp_user_timeout": "5000",
  ]

  /// Returns all options of a new session, with the password.
  func connectionOptions() throws(PostgresError) -> [String: String] {
    var all = Self.defaults.merging(options) { _, own in own }
    // Short statements gain nothing from compilation, and texts of statements have no escapes, whatever the database's
    // settings are. PgBouncer refuses options of the session.
    if !isPooled { all["options"] = "\(all["options"] ?? "-c jit=off") -c standard_conforming_strings=on" }
    guard let passwordFile else { return all }
    do {
      let text = try String(contentsOfFile: passwordFile, encoding: .utf8)
      all["password"] = text.trimmingCharacters(in: .newlines)
    } catch {
      throw PostgresError(.unavailable, "the password file '\(passwordFile)' cannot be read")
    }
    return all
  }
}

import PostgreSQL
import Testing

/// The messages that mean that a host did not answer.
@Suite struct SilenceTests {
  @Test(
    "A host that times out or is unreachable is silent, also if others answer",
    arguments: [
      ("the server did not answer in time", true),
      ("connection to server at \"10.0.0.1\", port 5432 failed: timeout expired", true),
      (
        """
        connection to server at "10.0.0.1", port 5432 failed: timeout expired
        connection to server at "10.0.0.2", port 5432 failed: No route to host
        \tIs the server running on that host and accepting TCP/IP connections?
        """, true
      ),
      ("could not translate host name \"db\" to address: Temporary failure in name resolution", true),
      (
        """
        connection to server at "10.0.0.1", port 5432 failed: timeout expired
        connection to server at "10.0.0.2", port 5432 failed: session is read-only
        """, true
      ),
      (
        """
        connection to server at "10.0.0.1", port 5432 failed: Connection refused
        \tIs the server running on that host and accepting TCP/IP connections?
        connection to server at "10.0.0.2", port 5432 failed: session is read-only
        """, false
      ),
      (
        """
        connection to server at "10.0.0.1", port 5432 failed: Connection refused
        \tIs the server running on that host and accepting TCP/IP connections?
        """, false
      ),
      ("connection to server on socket \"/run/.s.PGSQL.5432\" failed: No such file or directory", false),
      ("terminating connection due to administrator command (SQLSTATE 57P01)", false),
    ])
  func silence(message: String, isSilence: Bool) {
    #expect(PostgresError.isSilence(message) == isSilence)
  }
}

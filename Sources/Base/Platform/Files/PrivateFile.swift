internal import Glibc

/// Creates an empty file that only this user can read, if there is none at `path`.
///
/// SQLite takes an empty file for a new database and gives its log and index files the same rights. SQLite itself
/// would create a file that everyone can read. An error is ignored here, because opening the database reports it.
package func makePrivateFile(_ path: String) {
  let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  if file >= 0 { close(file) }
}

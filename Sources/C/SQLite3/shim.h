#include <sqlite3.h>
#include <stddef.h>

// sqlite3_config takes a variable number of arguments, which Swift cannot call.

// No mutex in connections, of which each is used by one thread at a time, and no count of allocated
// bytes, which would take a mutex of the whole process for every allocation.
static inline int sqlite_configure_for_one_thread_per_connection(void) {
  int result = sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
  return result == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) : result;
}

// Methods of a file are pointers to functions within structures, which are nothing that Swift should call.

// Waits until the disk has what was written to the database file. A checkpoint does that itself only if nothing
// was added to the log meanwhile.
static inline int sqlite_sync_database_file(sqlite3 *connection) {
  sqlite3_file *file = NULL;
  int result = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (result != SQLITE_OK || file == NULL || file->pMethods == NULL) return result;
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

#include <sqlite3.h>
#include <stddef.h>

// sqlite3_config is variadic, so Swift cannot call it.

// No mutex in connections, because each is used by one thread at a time, and no count of allocated
// bytes, which would lock a process-wide mutex for every allocation.
static inline int sqlite_configure_for_one_thread_per_connection(void) {
  int result = sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
  return result == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) : result;
}

// The methods of a file are function pointers in structures, which Swift should not call.

// Syncs the database file to disk. A checkpoint does that itself only if no frame was appended to the log
// meanwhile.
static inline int sqlite_sync_database_file(sqlite3 *connection) {
  sqlite3_file *file = NULL;
  int result = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (result != SQLITE_OK || file == NULL || file->pMethods == NULL) return result;
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

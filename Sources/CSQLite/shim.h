#include <sqlite3.h>

// sqlite3_config takes a variable number of arguments, which Swift cannot call.

// No mutex in connections, of which each is used by one thread at a time, and no count of allocated
// bytes, which would take a mutex of the whole process for every allocation.
static inline int sqlite_configure_for_one_thread_per_connection(void) {
  int result = sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
  return result == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) : result;
}

#ifndef ENTITLED_ARENA_H
#define ENTITLED_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

/// Memory of one thread for protobuf-c's structures: taken by moving a pointer, given back all at once.
typedef struct entitled_arena entitled_arena;

/// Where an arena stood; what is allocated after it goes when it is released.
typedef struct entitled_arena_mark {
  void *block;
  size_t used;
  size_t spent;
  size_t limit;
  bool exhausted;
} entitled_arena_mark;

/// The arena of the calling thread, or NULL if there is no memory for one. Freed when the thread ends.
entitled_arena *entitled_arena_of_thread(void);

/// Begins a use of the arena that may take `limit` bytes. Uses nest; each is released in turn.
entitled_arena_mark entitled_arena_begin(entitled_arena *arena, size_t limit);

/// Ends the use that began with `mark`.
void entitled_arena_end(entitled_arena *arena, entitled_arena_mark mark);

/// `size` bytes aligned for anything, or NULL if that exceeds the limit or there is no memory.
void *entitled_arena_allocate(entitled_arena *arena, size_t size);

/// Whether `size` bytes more are within the limit of the present use.
bool entitled_arena_has_room(const entitled_arena *arena, size_t size);

/// Whether an allocation of the present use was refused.
bool entitled_arena_is_exhausted(const entitled_arena *arena);

/// The arena as protobuf-c wants it; `free` does nothing.
ProtobufCAllocator *entitled_arena_allocator(entitled_arena *arena);

#endif

#include "arena.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { FIRST_BLOCK = 32 * 1024, ALIGNMENT = alignof(max_align_t) };

typedef struct block {
  struct block *previous;
  size_t size;
  alignas(max_align_t) unsigned char bytes[];
} block;

struct entitled_arena {
  ProtobufCAllocator allocator;
  block *current;
  size_t used;   /* of the current block */
  size_t spent;  /* by the present use */
  size_t limit;  /* of the present use */
  bool exhausted;
};

static block *make_block(block *previous, size_t size) {
  block *made = malloc(sizeof(block) + size);
  if (made != NULL) {
    made->previous = previous;
    made->size = size;
  }
  return made;
}

bool entitled_arena_has_room(const entitled_arena *arena, size_t size) {
  return size <= arena->limit - arena->spent;
}

void *entitled_arena_allocate(entitled_arena *arena, size_t size) {
  if (!entitled_arena_has_room(arena, size)) {
    arena->exhausted = true;
    return NULL;
  }
  size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (rounded > arena->current->size - arena->used) {
    size_t next = arena->current->size * 2;
    block *made = make_block(arena->current, next > rounded ? next : rounded);
    if (made == NULL) {
      arena->exhausted = true;
      return NULL;
    }
    arena->current = made;
    arena->used = 0;
  }
  void *allocated = arena->current->bytes + arena->used;
  arena->used += rounded;
  arena->spent += size;
  return allocated;
}

static void *allocate(void *data, size_t size) { return entitled_arena_allocate(data, size); }

static void ignore(void *data, void *pointer) {
  (void)data;
  (void)pointer;
}

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static _Thread_local entitled_arena *thread_arena;

static void destroy(void *data) {
  entitled_arena *arena = data;
  for (block *each = arena->current; each != NULL;) {
    block *previous = each->previous;
    free(each);
    each = previous;
  }
  free(arena);
}

static void make_key(void) { pthread_key_create(&key, destroy); }

static entitled_arena *make_arena(void) {
  entitled_arena *arena = calloc(1, sizeof *arena);
  if (arena == NULL) return NULL;
  arena->current = make_block(NULL, FIRST_BLOCK);
  if (arena->current == NULL) {
    free(arena);
    return NULL;
  }
  arena->allocator = (ProtobufCAllocator){allocate, ignore, arena};
  pthread_once(&key_once, make_key);
  pthread_setspecific(key, arena);
  return arena;
}

entitled_arena *entitled_arena_of_thread(void) {
  if (thread_arena == NULL) thread_arena = make_arena();
  return thread_arena;
}

entitled_arena_mark entitled_arena_begin(entitled_arena *arena, size_t limit) {
  entitled_arena_mark mark = {arena->current, arena->used, arena->spent, arena->limit, arena->exhausted};
  arena->spent = 0;
  arena->limit = limit;
  arena->exhausted = false;
  return mark;
}

void entitled_arena_end(entitled_arena *arena, entitled_arena_mark mark) {
  while (arena->current != mark.block) {
    block *previous = arena->current->previous;
    free(arena->current);
    arena->current = previous;
  }
  arena->used = mark.used;
  arena->spent = mark.spent;
  arena->limit = mark.limit;
  arena->exhausted = mark.exhausted;
}

bool entitled_arena_is_exhausted(const entitled_arena *arena) { return arena->exhausted; }

ProtobufCAllocator *entitled_arena_allocator(entitled_arena *arena) { return &arena->allocator; }

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

// zlib's initialisers are macros, which Swift cannot import. 16 + MAX_WBITS selects the gzip format
// (RFC 1952) instead of zlib's own.

static inline int entitled_inflate_init_gzip(z_stream *stream) {
  return inflateInit2(stream, 16 + MAX_WBITS);
}

static inline int entitled_deflate_init_gzip(z_stream *stream) {
  return deflateInit2(stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}

// Raw deflate (RFC 1951) without header, because the store records the format. Small tables, because clearing
// them for each short text would cost more than compressing it.
static inline int entitled_deflate_init_raw(z_stream *stream) {
  return deflateInit2(stream, 3, Z_DEFLATED, -13, 6, Z_DEFAULT_STRATEGY);
}

// Memory for the states of one compressor: taken from its start, and given back all at once. What does not fit is
// allocated.
typedef struct {
  char *memory;
  size_t size, used;
} entitled_arena;

static inline void *entitled_arena_take(void *arena, unsigned count, unsigned size) {
  entitled_arena *from = (entitled_arena *)arena;
  size_t bytes = (((size_t)count * size) + 63) & ~(size_t)63;
  if (bytes > from->size - from->used) return malloc(bytes);
  from->used += bytes;
  return from->memory + from->used - bytes;
}

static inline void entitled_arena_keep(void *arena, void *memory) {
  const entitled_arena *from = (const entitled_arena *)arena;
  uintptr_t start = (uintptr_t)from->memory, address = (uintptr_t)memory;
  if (address < start || address - start >= from->size) free(memory);
}

static inline void entitled_use_arena(z_stream *stream, entitled_arena *arena) {
  stream->zalloc = entitled_arena_take;
  stream->zfree = entitled_arena_keep;
  stream->opaque = arena;
}

static inline int entitled_inflate_init_raw(z_stream *stream) {
  return inflateInit2(stream, -MAX_WBITS);
}

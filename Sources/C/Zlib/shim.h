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

static inline int entitled_inflate_init_raw(z_stream *stream) {
  return inflateInit2(stream, -MAX_WBITS);
}

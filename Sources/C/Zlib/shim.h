#include <zlib.h>

// zlib's initialisers are macros, which Swift cannot see. 16 + MAX_WBITS asks for the gzip format
// (RFC 1952) instead of zlib's own.

static inline int entitled_inflate_init_gzip(z_stream *stream) {
  return inflateInit2(stream, 16 + MAX_WBITS);
}

static inline int entitled_deflate_init_gzip(z_stream *stream) {
  return deflateInit2(stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}

// No format of its own around the data (RFC 1951): whoever keeps it knows what it is. For short texts with a
// dictionary: small tables, because making them empty for each would cost more than packing it.
static inline int entitled_deflate_init_raw(z_stream *stream) {
  return deflateInit2(stream, 3, Z_DEFLATED, -13, 6, Z_DEFAULT_STRATEGY);
}

static inline int entitled_inflate_init_raw(z_stream *stream) {
  return inflateInit2(stream, -MAX_WBITS);
}

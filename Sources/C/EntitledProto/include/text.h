#ifndef ENTITLED_TEXT_H
#define ENTITLED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/// What is wrong with the bytes of a protobuf string.
typedef enum entitled_text_fault {
  ENTITLED_TEXT_SOUND = 0,
  /// A NUL, at which protobuf-c would cut the string off.
  ENTITLED_TEXT_NUL = 1,
  ENTITLED_TEXT_NOT_UTF8 = 2,
} entitled_text_fault;

/// Checks `count` bytes: UTF-8 without overlong forms and surrogates, and no NUL.
entitled_text_fault entitled_text_check(const void *bytes, size_t count);

/// Whether one of `count` bytes is a NUL.
static inline bool entitled_text_has_nul(const void *bytes, size_t count) {
  return memchr(bytes, 0, count) != NULL;
}

#endif

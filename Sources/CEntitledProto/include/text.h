#ifndef ENTITLED_TEXT_H
#define ENTITLED_TEXT_H

#include <stddef.h>

/// What is wrong with the bytes of a protobuf string.
typedef enum entitled_text_fault {
  ENTITLED_TEXT_SOUND = 0,
  /// A NUL, at which protobuf-c would cut the string off.
  ENTITLED_TEXT_NUL = 1,
  ENTITLED_TEXT_NOT_UTF8 = 2,
} entitled_text_fault;

/// Checks `count` bytes: UTF-8 without overlong forms and surrogates, and no NUL.
entitled_text_fault entitled_text_check(const void *bytes, size_t count);

#endif

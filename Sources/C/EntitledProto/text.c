#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the sequence at `bytes`, or 0 if it is not UTF-8 (Unicode, table 3-7). */
static size_t sequence(const uint8_t *bytes, size_t count) {
  uint8_t lead = bytes[0];
  if (lead < 0x80) return 1;
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > count) return 0;
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (bytes[1] < low || bytes[1] > high) return 0;
  for (size_t i = 2; i < length; i++)
    if ((bytes[i] & 0xC0) != 0x80) return 0;
  return length;
}

/* Whether eight bytes hold one that is not ASCII. */
static bool has_high_bit(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return (word & 0x8080808080808080u) != 0;
}

entitled_text_fault entitled_text_check(const void *start, size_t count) {
  const uint8_t *bytes = start;
  if (memchr(bytes, 0, count) != NULL) return ENTITLED_TEXT_NUL;
  for (size_t i = 0; i < count;) {
    if (count - i >= 8 && !has_high_bit(bytes + i)) {
      i += 8;
      continue;
    }
    size_t length = sequence(bytes + i, count - i);
    if (length == 0) return ENTITLED_TEXT_NOT_UTF8;
    i += length;
  }
  return ENTITLED_TEXT_SOUND;
}

#ifndef ENTITLED_CONFORMANCE_KIT_H
#define ENTITLED_CONFORMANCE_KIT_H

#include <stddef.h>

/* The files of the conformance kit: a JSON object of their contents by path, compressed with gzip. */
const unsigned char *entitled_conformance_kit(void);
size_t entitled_conformance_kit_size(void);

#endif

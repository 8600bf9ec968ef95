#include "CConformanceKit.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

/* Written by tools/conformance/generate. */
static const unsigned char kit[] = {
#embed "kit.json.gz"
};

const unsigned char *entitled_conformance_kit(void) { return kit; }

size_t entitled_conformance_kit_size(void) { return sizeof kit; }

/*
 * names.h - the codes inside instructions and what they are called.
 * Private to this folder.  Evidence for each: docs/isa.md.
 */
#ifndef NX_ISA_NAMES_H
#define NX_ISA_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Each returns NULL for a code without a known name. */
const char *nx_isa_alu_name(uint8_t code);
const char *nx_isa_fp32_mode_name(uint8_t code);
const char *nx_isa_compare_name(uint8_t code);

bool nx_isa_dtype_known(uint8_t dtype);
bool nx_isa_activation_known(uint8_t function);

#endif

/*
 * gaps.h - sentences of the table Warning that `check` knows again.
 *
 * Whoever finds the gap says it by one of these, with nx_warn(); analysis/check
 * reads the stored sentences and tells by the same texts which part of the
 * profile each is about, how bad it is and what to set.  A sentence that is not
 * here is reported all the same, under its category alone.
 *
 * In these texts %s and "%" PRIu64 are the only conversions.  A number that
 * comes first is the gap's count.
 */
#ifndef NX_BASE_GAPS_H
#define NX_BASE_GAPS_H

#include <inttypes.h>

#include "base/settings.h"

/* NEFF and NTFF */
#define NX_SAY_NO_GRAPH "the NEFF has no graph named '%s': instructions of that core have no compiler information"
#define NX_SAY_CODE_LENGTH                                                                                           \
    "%s %s: the code that ran accounts for %" PRIu64 " of the %" PRIu64 " instructions of the NEFF: names and source " \
    "lines may be those of other instructions"
#define NX_SAY_CODE_DIFFERS                                                                                      \
    "%" PRIu64 " instructions ran in the place of another one of the NEFF: their names and source lines may be " \
    "wrong"
#define NX_SAY_UUID_CUT                                                                                              \
    "the trace holds only the first %" PRIu64 " bytes of its kernel's uuid (its form ends at a zero byte): those are " \
    "equal to the NEFF's"

/* DMA */
#define NX_SAY_NO_DGE                                                                                                \
    "dynamic DMA was captured without DGE notifications: its packets cannot be told to be of an instruction or a "   \
    "tensor; capture with " NX_SET_DGE_NOTIFICATIONS " (or --enable-dge-notifs)"
#define NX_SAY_NO_PACKETS \
    "no DMA packet was captured, though %" PRIu64 " instructions that start DMA ran: all DMA figures are empty"
#define NX_SAY_PACKETS_UNFINISHED "%" PRIu64 " DMA packets lack their start or their end"
#define NX_SAY_RINGS_LEFT_OUT \
    "%" PRIu64 " DMA rings have a packet that crosses the edge of the profile and were left out"

/* the trace */
#define NX_SAY_RECORDS_UNKNOWN "%" PRIu64 " of %" PRIu64 " trace records were not understood"
#define NX_SAY_RECORDS_LOST                                                                                        \
    "%" PRIu64 " trace records carry an overflow flag (%s): the hardware lost records before them"
#define NX_SAY_BUFFER_FULL                                                                                             \
    "%s: the buffer of %s records was full (%" PRIu64 " bytes) when the trace was read: what came after it is missing"
#define NX_SAY_NO_INSTRUCTIONS "no instruction of the trace is complete: nothing was captured of what the engines ran"
#define NX_SAY_ENDS_UNMATCHED "%" PRIu64 " instruction ends have no start: records were lost"
#define NX_SAY_UNFINISHED "%" PRIu64 " instructions started but have no end"
#define NX_SAY_BACKWARDS "%" PRIu64 " rows end before they start and were left out"
#define NX_SAY_BEFORE_CLOCK                                                                                          \
    "%" PRIu64 " trace records are stamped before their clock's start: their times are not known and were set to " \
    "its start"
#define NX_SAY_NO_CODE "%" PRIu64 " instructions ran code that the trace does not hold: their opcode is not known"
#define NX_SAY_OPCODES_UNKNOWN                                                                                     \
    "%" PRIu64 " of %" PRIu64 " instructions that ran have an opcode or operand that is not known (%s)"

/* figures of the kernel */
#define NX_SAY_NO_DEVICE "the device '%s' is not known: figures that need its clocks and bandwidths are missing"
#define NX_SAY_NO_METRICS "the NEFF holds no compiler metrics: recompile with a current compiler to get them"
#define NX_SAY_NO_HLO_STATS                                                                                        \
    "the NEFF holds no HLO statistics: model_flops and mfu_hlo_estimated_percent are 0; look at hardware_flops - " \
    "transpose_flops and mfu_inst_estimated_percent instead"

/* names and source lines */
#define NX_SAY_NO_DEBUG_FILES                                                                                    \
    "files of debug information that the NEFF names are not in it: instructions lack their names and dependencies"
#define NX_SAY_NO_LINES \
    "the NEFF names no source lines (bir_debug_info_source_location): compile with " NX_SET_FRAMEWORK_DEBUG
#define NX_SAY_NO_KERNEL_LINES                                                                                        \
    "the NEFF has no debug information of a kernel (nki_source_location, KernelInstructions and its loops): compile " \
    "with " NX_SET_NKI_DEBUG
#define NX_SAY_NO_LEVELS \
    "the NEFF's debug information does not reach %s: compile with " NX_SET_XLA_IR_DEBUG " and " NX_SET_XLA_HLO_DEBUG
#define NX_SAY_NO_STACK_FRAMES \
    "the NEFF has no stack frames of the model (stack_frame_ids): compile with " NX_SET_FRAMEWORK_DEBUG

/* what is there and no table shows */
#define NX_SAY_COLLECTIVES                                                                                            \
    "%" PRIu64 " streams, %" PRIu64 " triggers and %" PRIu64 " records of collectives are in the files, and how to " \
    "read them is not known: CcOp, CcInstruction and CcStream are not written"
#define NX_SAY_BARRIERS                                                                                              \
    "%" PRIu64 " instructions of the kernel are said to be barriers between cores (opcode 0xd8), and how to read "   \
    "them is not known: CoreBarriers is not written"
#define NX_SAY_ERRORS                                                                                               \
    "%" PRIu64 " records of the trace are said to report errors, and how to read them is not known: Error is not " \
    "written; look for the runtime's own messages of this run"

#endif

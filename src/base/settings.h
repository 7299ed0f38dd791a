/*
 * settings.h - the environment variables that make a capture or a compilation
 * say more, by name and value: for every sentence that recommends one.
 */
#ifndef NX_BASE_SETTINGS_H
#define NX_BASE_SETTINGS_H

/* at the capture */
#define NX_SET_DGE_NOTIFICATIONS "NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1" /* which instruction each dynamic DMA is of */
#define NX_SET_EVENT_BUFFER "NEURON_RT_PROFILE_BUF_EVENT_MB=512" /* trace buffers: 64 or 128 MB otherwise */
#define NX_SET_INSTRUCTION_BUFFER "NEURON_RT_PROFILE_BUF_INSTRUCTION_MB=512"
#define NX_SET_DMA_BUFFER "NEURON_RT_PROFILE_BUF_DMA_MB=512"

/* at the compilation */
#define NX_SET_FRAMEWORK_DEBUG "NEURON_FRAMEWORK_DEBUG=1" /* source lines and stack frames */
#define NX_SET_XLA_IR_DEBUG "XLA_IR_DEBUG=1"              /* with the next: names of framework and HLO operations */
#define NX_SET_XLA_HLO_DEBUG "XLA_HLO_DEBUG=1"
#define NX_SET_NKI_DEBUG "NKI_DEBUG_INFO=True"            /* source lines and loops of NKI kernels */

/* for a system profile */
#define NX_SET_INSPECT "NEURON_RT_INSPECT_ENABLE=1" /* with one of the next: what is recorded */
#define NX_SET_INSPECT_SYSTEM "NEURON_RT_INSPECT_SYSTEM_PROFILE=1"
#define NX_SET_INSPECT_CPU "NEURON_RT_INSPECT_CPU_UTIL=1"
#define NX_SET_INSPECT_HOST_MEMORY "NEURON_RT_INSPECT_HOST_MEMORY=1"

#endif

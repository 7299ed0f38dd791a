#include "tables/absence.h"

#include <string.h>

#include "base/settings.h"

#define HIERARCHY                                                                                                      \
    "it needs compiler debug information that reaches up to this level: compile with " NX_SET_XLA_IR_DEBUG " and "     \
    NX_SET_XLA_HLO_DEBUG
#define KERNEL_SOURCE                                                                                                  \
    "it needs the debug information of an NKI kernel in the NEFF: compile with " NX_SET_NKI_DEBUG
#define STACK_FRAMES                                                                                                   \
    "it needs stack frames of the framework in the NEFF: compile with " NX_SET_FRAMEWORK_DEBUG
#define COLLECTIVES                                                                                                    \
    "it needs a kernel with collectives, and how traces record those is not known to this program: Warning says "      \
    "whether this profile has any"
#define EVERY_TRACE "every trace of a kernel that ran has rows of it: this one holds no complete record of the kind"
#define DMA_TRACE "it needs DMA packets in the trace: this one holds none that is complete and within the kernel's run"
#define DYNAMIC_DMA                                                                                                    \
    "static DMA can; dynamic DMA only when captured with " NX_SET_DGE_NOTIFICATIONS ", whose records no file was "      \
    "there to learn from"
#define ALWAYS "every profile of this program has it: ingest again with --force"
#define SYSTEM_PROFILE(setting)                                                                                        \
    "it comes from a system profile, which this program does not read: neither a NEFF nor an NTFF holds it (the "      \
    "runtime writes one with " NX_SET_INSPECT " " setting ")"
#define API_ANSWER "it is the form of an API's answer about a system profile, and never stored"

static const struct {
    const char *table, *reason;
} absences[] = {
    {"ActiveTime", EVERY_TRACE},
    {"AssemblyInstruction",
     "it comes from a simulated profile (perf_sim), which this program does not read; of a captured one, "
     "Instruction shows the compiler's code: compiler_pc, compiler_opcode, compiler_operands"},
    {"BirInstruction", "it needs the compiler's debug information in the NEFF: Warning says what this one lacks"},
    {"CcInstruction", COLLECTIVES},
    {"CcOp", COLLECTIVES},
    {"CcStream", COLLECTIVES},
    {"CoreBarriers",
     "it needs barriers between the cores of a logical core (PSEUDO_CORE_BARRIER), and how code holds those is not "
     "known to this program: Warning says whether this profile can have any"},
    {"CpuUsage", SYSTEM_PROFILE(NX_SET_INSPECT_CPU)},
    {"DeviceProfileList",
     "it needs the host and the process of the capture, which traces before version 6 do not name: capture with "
     "runtime 2.30 or later"},
    {"DmaPacket", DMA_TRACE},
    {"DmaPacketAggregated", "it needs packets that can be told to be of a transfer: " DYNAMIC_DMA},
    {"DmaQueuesInfo", "it needs DMA rings in the trace's metadata: this kernel was given none"},
    {"DmaUsage", DMA_TRACE},
    {"DmaUsageSummary", DMA_TRACE},
    {"Error",
     "it needs faults that the hardware reported, and how traces record those is not known to this program: Warning "
     "says whether this profile has any"},
    {"ExecutionInfo", ALWAYS},
    {"Flow",
     "it needs instructions that depend on others: waits for semaphores, triggers of DMA, or dependencies in the "
     "compiler's debug information"},
    {"FrameworkInstruction", HIERARCHY},
    {"FrameworkNode", EVERY_TRACE},
    {"HbmUsage", "it needs cores of which all packets can be told to be of a transfer: " DYNAMIC_DMA},
    {"HbmUsageSummaryByType", "it needs the use of device memory in the trace's metadata: this one has none"},
    {"HloInstruction", HIERARCHY},
    {"HostMemUsage", SYSTEM_PROFILE(NX_SET_INSPECT_HOST_MEMORY)},
    {"Instruction", EVERY_TRACE},
    {"KernelInstructions", KERNEL_SOURCE},
    {"KernelIterationVariables", KERNEL_SOURCE},
    {"KernelStackFrames", KERNEL_SOURCE},
    {"MemoryBandwidthPoint", API_ANSWER},
    {"MemoryBandwidthResponse", API_ANSWER},
    {"MemoryBandwidthSeries", API_ANSWER},
    {"Metadata", ALWAYS},
    {"NeffHeader", ALWAYS},
    {"OpcodeSummary", EVERY_TRACE},
    {"PendingDma",
     "it needs transfers that the trace shows to be started: triggers of static DMA blocks, or DMA_DIRECT2D "
     "instructions"},
    {"PenguinInstruction", "it needs the compiler's debug information in the NEFF: Warning says what this one lacks"},
    {"PsumUsage", "it needs instructions of the kernel that write PSUM, such as MATMUL: this one ran none"},
    {"SbufAllocation", "it needs instructions or static DMA of the kernel that write SBUF: this one ran none"},
    {"SbufUsage",
     "it needs instructions of the kernel that write SBUF, and a device whose memory size is known: Warning says if "
     "it is not"},
    {"SchemaFields", ALWAYS},
    {"SemaphoreUpdate", EVERY_TRACE},
    {"StackFrame", STACK_FRAMES},
    {"StackFrameFileLocation", STACK_FRAMES},
    {"StackFrameFileName", STACK_FRAMES},
    {"StackFrameFunctionName", STACK_FRAMES},
    {"Summary", ALWAYS},
    {"SystemProfileEvents", SYSTEM_PROFILE(NX_SET_INSPECT_SYSTEM)},
    {"SystemProfileHbmUsage", SYSTEM_PROFILE(NX_SET_INSPECT_SYSTEM)},
    {"SystemProfileMetadata", SYSTEM_PROFILE(NX_SET_INSPECT_SYSTEM)},
    {"TensorInfo", "it needs tensors or a kernel node in the NEFF: this one names none"},
    {"Throttle",
     "it needs records of throttling, which traces of trn1 and of cores that run no MATMUL do not have"},
    {"ThrottleSummary",
     "it needs records of throttling, which traces of trn1 and of cores that run no MATMUL do not have"},
    {"Warning", "nothing was found missing or not understood"},
};

const char *nx_table_absence(const struct nx_table_schema *table)
{
    for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++)
        if (strcmp(absences[i].table, table->name) == 0)
            return absences[i].reason;
    return "the inputs hold nothing of this kind"; /* no table of the schema: test_schema goes through all */
}

#include "tables/table.h"

/* One line a table: its file defines nx_table_NAME. */
#define TABLES(TABLE)                                                                                                  \
    TABLE(ActiveTime)                                                                                                  \
    TABLE(BirInstruction)                                                                                              \
    TABLE(DeviceProfileList)                                                                                           \
    TABLE(DmaPacket)                                                                                                   \
    TABLE(DmaPacketAggregated)                                                                                         \
    TABLE(DmaQueuesInfo)                                                                                               \
    TABLE(DmaUsage)                                                                                                    \
    TABLE(DmaUsageSummary)                                                                                             \
    TABLE(ExecutionInfo)                                                                                               \
    TABLE(Flow)                                                                                                        \
    TABLE(FrameworkInstruction)                                                                                        \
    TABLE(FrameworkNode)                                                                                               \
    TABLE(HbmUsage)                                                                                                    \
    TABLE(HbmUsageSummaryByType)                                                                                       \
    TABLE(HloInstruction)                                                                                              \
    TABLE(Instruction)                                                                                                 \
    TABLE(KernelInstructions)                                                                                          \
    TABLE(KernelIterationVariables)                                                                                    \
    TABLE(KernelStackFrames)                                                                                           \
    TABLE(Metadata)                                                                                                    \
    TABLE(NeffHeader)                                                                                                  \
    TABLE(OpcodeSummary)                                                                                               \
    TABLE(PendingDma)                                                                                                  \
    TABLE(PenguinInstruction)                                                                                          \
    TABLE(PsumUsage)                                                                                                   \
    TABLE(SbufAllocation)                                                                                              \
    TABLE(SbufUsage)                                                                                                   \
    TABLE(SchemaFields)                                                                                                \
    TABLE(SemaphoreUpdate)                                                                                             \
    TABLE(StackFrame)                                                                                                  \
    TABLE(StackFrameFileLocation)                                                                                      \
    TABLE(StackFrameFileName)                                                                                          \
    TABLE(StackFrameFunctionName)                                                                                      \
    TABLE(Summary)                                                                                                     \
    TABLE(TensorInfo)                                                                                                  \
    TABLE(Throttle)                                                                                                    \
    TABLE(ThrottleSummary)                                                                                             \
    TABLE(Warning)

#define DECLARE(name) extern const struct nx_table nx_table_##name;
TABLES(DECLARE)

#define LIST(name) &nx_table_##name,
const struct nx_table *const nx_tables[] = {TABLES(LIST) NULL};

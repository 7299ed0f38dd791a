#include "tables/table.h"

extern const struct nx_table nx_table_ActiveTime, nx_table_DmaPacket, nx_table_DmaPacketAggregated,
    nx_table_DmaQueuesInfo, nx_table_Instruction, nx_table_Metadata, nx_table_NeffHeader, nx_table_PendingDma,
    nx_table_SchemaFields, nx_table_SemaphoreUpdate, nx_table_Summary, nx_table_TensorInfo, nx_table_Throttle,
    nx_table_Warning;

const struct nx_table *const nx_tables[] = {
    &nx_table_ActiveTime,
    &nx_table_DmaPacket,
    &nx_table_DmaPacketAggregated,
    &nx_table_DmaQueuesInfo,
    &nx_table_Instruction,
    &nx_table_Metadata,
    &nx_table_NeffHeader,
    &nx_table_PendingDma,
    &nx_table_SchemaFields,
    &nx_table_SemaphoreUpdate,
    &nx_table_Summary,
    &nx_table_TensorInfo,
    &nx_table_Throttle,
    &nx_table_Warning,
    NULL,
};

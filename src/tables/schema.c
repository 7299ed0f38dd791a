#include "tables/schema.h"

#include <string.h>
#include <strings.h>

/* What a type of schema.def is stored as, and its OpenAPI format. */
#define STORED_INT64 NX_TYPE_INT64
#define STORED_INT32 NX_TYPE_INT32
#define STORED_FLOAT NX_TYPE_DOUBLE
#define STORED_DOUBLE NX_TYPE_DOUBLE
#define STORED_BOOL NX_TYPE_BOOL
#define STORED_TEXT NX_TYPE_TEXT
#define FORMAT_INT64 "int64"
#define FORMAT_INT32 "int32"
#define FORMAT_FLOAT "float"
#define FORMAT_DOUBLE "double"
#define FORMAT_BOOL NULL
#define FORMAT_TEXT NULL
#define NEED_REQUIRED true
#define NEED_OPTIONAL false

/* clang-format off */
#define NX_ENUM(enumeration, describe) static const char *const values_##enumeration[] = {
#define NX_VALUE(enumeration, text) text,
#define NX_ENUM_END(enumeration) };
#include "tables/schema.def"

#define NX_ENUM(enumeration, describe)             \
    {#enumeration, describe, values_##enumeration, \
     sizeof(values_##enumeration) / sizeof(values_##enumeration[0])},
const struct nx_enum nx_enums[] = {
#include "tables/schema.def"
};
const size_t nx_enum_count = sizeof(nx_enums) / sizeof(nx_enums[0]);

#define NX_TABLE(table, reach, describe) static const struct nx_column columns_##table[] = {
#define NX_COLUMN(table, column, kind, need, measure, enumeration, describe, sample) \
    {.name = #column,                                                                \
     .type = STORED_##kind,                                                          \
     .format = FORMAT_##kind,                                                        \
     .required = NEED_##need,                                                        \
     .unit = measure,                                                                \
     .enum_name = enumeration,                                                       \
     .description = describe,                                                        \
     .example = sample},
#define NX_ARRAY(table, column, need, measure, of, describe, sample) \
    {.name = #column,                                                \
     .type = NX_TYPE_ARRAY,                                          \
     .required = NEED_##need,                                        \
     .unit = measure,                                                \
     .items = of,                                                    \
     .description = describe,                                        \
     .example = sample},
#define NX_TABLE_END(table) };
#include "tables/schema.def"

#define NX_TABLE(table, reach, describe) \
    {#table, NX_SCOPE_##reach, describe, columns_##table, NX_##table##_COUNT},
const struct nx_table_schema nx_schema[] = {
#include "tables/schema.def"
};
/* clang-format on */
const size_t nx_schema_count = sizeof(nx_schema) / sizeof(nx_schema[0]);

const struct nx_table_schema *nx_schema_find(const char *table, bool fold_case)
{
    for (size_t i = 0; i < nx_schema_count; i++)
        if (strcmp(nx_schema[i].name, table) == 0)
            return &nx_schema[i];
    for (size_t i = 0; fold_case && i < nx_schema_count; i++)
        if (strcasecmp(nx_schema[i].name, table) == 0)
            return &nx_schema[i];
    return NULL;
}

const struct nx_enum *nx_enum_find(const char *name)
{
    for (size_t i = 0; name && i < nx_enum_count; i++)
        if (strcmp(nx_enums[i].name, name) == 0)
            return &nx_enums[i];
    return NULL;
}

const char *nx_type_name(enum nx_column_type type)
{
    switch (type) {
    case NX_TYPE_INT64:
    case NX_TYPE_INT32:
        return "integer";
    case NX_TYPE_DOUBLE:
        return "number";
    case NX_TYPE_BOOL:
        return "boolean";
    case NX_TYPE_TEXT:
        return "string";
    case NX_TYPE_ARRAY:
        break;
    }
    return "array";
}

const char *nx_type_format(enum nx_column_type type)
{
    switch (type) {
    case NX_TYPE_INT64:
        return "int64";
    case NX_TYPE_INT32:
        return "int32";
    case NX_TYPE_DOUBLE:
        return "float";
    case NX_TYPE_BOOL:
    case NX_TYPE_TEXT:
    case NX_TYPE_ARRAY:
        break;
    }
    return NULL;
}

const char *nx_scope_name(enum nx_table_scope scope)
{
    switch (scope) {
    case NX_SCOPE_DEVICE:
        return "device";
    case NX_SCOPE_SYSTEM:
        return "system";
    case NX_SCOPE_TRANSIENT:
        break;
    }
    return "transient";
}

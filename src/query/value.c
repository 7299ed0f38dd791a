#include "query/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct nx_value_type {
    duckdb_type id;
    char *name;
    uint8_t scale;            /* DECIMAL */
    duckdb_type internal;     /* DECIMAL, ENUM: what the vector holds */
    char **labels;            /* ENUM */
    uint32_t label_count;
    uint64_t array_size;      /* ARRAY */
    struct nx_value_type **children; /* LIST, ARRAY: one; MAP: key, value; STRUCT: all */
    char **child_names;              /* STRUCT */
    size_t child_count;
};

static const struct {
    duckdb_type id;
    const char *name;
} names[] = {
    {DUCKDB_TYPE_BOOLEAN, "BOOLEAN"},   {DUCKDB_TYPE_TINYINT, "TINYINT"},     {DUCKDB_TYPE_SMALLINT, "SMALLINT"},
    {DUCKDB_TYPE_INTEGER, "INTEGER"},   {DUCKDB_TYPE_BIGINT, "BIGINT"},       {DUCKDB_TYPE_UTINYINT, "UTINYINT"},
    {DUCKDB_TYPE_USMALLINT, "USMALLINT"}, {DUCKDB_TYPE_UINTEGER, "UINTEGER"}, {DUCKDB_TYPE_UBIGINT, "UBIGINT"},
    {DUCKDB_TYPE_HUGEINT, "HUGEINT"},   {DUCKDB_TYPE_UHUGEINT, "UHUGEINT"},   {DUCKDB_TYPE_FLOAT, "FLOAT"},
    {DUCKDB_TYPE_DOUBLE, "DOUBLE"},     {DUCKDB_TYPE_VARCHAR, "VARCHAR"},     {DUCKDB_TYPE_BLOB, "BLOB"},
    {DUCKDB_TYPE_DATE, "DATE"},         {DUCKDB_TYPE_TIME, "TIME"},           {DUCKDB_TYPE_TIMESTAMP, "TIMESTAMP"},
    {DUCKDB_TYPE_TIMESTAMP_S, "TIMESTAMP_S"}, {DUCKDB_TYPE_TIMESTAMP_MS, "TIMESTAMP_MS"},
    {DUCKDB_TYPE_TIMESTAMP_NS, "TIMESTAMP_NS"}, {DUCKDB_TYPE_TIMESTAMP_TZ, "TIMESTAMP WITH TIME ZONE"},
    {DUCKDB_TYPE_INTERVAL, "INTERVAL"}, {DUCKDB_TYPE_UUID, "UUID"},           {DUCKDB_TYPE_ENUM, "ENUM"},
    {DUCKDB_TYPE_DECIMAL, "DECIMAL"},   {DUCKDB_TYPE_LIST, "LIST"},           {DUCKDB_TYPE_ARRAY, "ARRAY"},
    {DUCKDB_TYPE_STRUCT, "STRUCT"},     {DUCKDB_TYPE_MAP, "MAP"},             {DUCKDB_TYPE_SQLNULL, "NULL"},
};

static const char *simple_name(duckdb_type id)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].id == id)
            return names[i].name;
    return NULL;
}

static bool add_child(struct nx_value_type *type, duckdb_logical_type child, const char *name)
{
    type->children = nx_resize(type->children, type->child_count + 1, sizeof(*type->children));
    type->child_names = nx_resize(type->child_names, type->child_count + 1, sizeof(*type->child_names));
    type->children[type->child_count] = nx_value_type_new(child);
    type->child_names[type->child_count] = nx_strdup(name ? name : "");
    duckdb_destroy_logical_type(&child);
    return type->children[type->child_count++] != NULL;
}

static bool open_struct(struct nx_value_type *type, duckdb_logical_type logical)
{
    for (idx_t i = 0; i < duckdb_struct_type_child_count(logical); i++) {
        char *name = duckdb_struct_type_child_name(logical, i);
        bool ok = add_child(type, duckdb_struct_type_child_type(logical, i), name);

        duckdb_free(name);
        if (!ok)
            return false;
    }
    return true;
}

static void open_enum(struct nx_value_type *type, duckdb_logical_type logical)
{
    type->internal = duckdb_enum_internal_type(logical);
    type->label_count = duckdb_enum_dictionary_size(logical);
    type->labels = nx_zalloc(type->label_count, sizeof(*type->labels));
    for (uint32_t i = 0; i < type->label_count; i++) {
        char *label = duckdb_enum_dictionary_value(logical, i);

        type->labels[i] = nx_strdup(label);
        duckdb_free(label);
    }
}

static bool open_type(struct nx_value_type *type, duckdb_logical_type logical)
{
    char buffer[64];
    const char *name = simple_name(type->id);

    if (!name)
        return false;
    switch (type->id) {
    case DUCKDB_TYPE_DECIMAL:
        type->scale = duckdb_decimal_scale(logical);
        type->internal = duckdb_decimal_internal_type(logical);
        snprintf(buffer, sizeof(buffer), "DECIMAL(%u,%u)", duckdb_decimal_width(logical), type->scale);
        type->name = nx_strdup(buffer);
        return true;
    case DUCKDB_TYPE_ENUM:
        open_enum(type, logical);
        break;
    case DUCKDB_TYPE_LIST:
        if (!add_child(type, duckdb_list_type_child_type(logical), NULL))
            return false;
        break;
    case DUCKDB_TYPE_ARRAY:
        type->array_size = duckdb_array_type_array_size(logical);
        if (!add_child(type, duckdb_array_type_child_type(logical), NULL))
            return false;
        break;
    case DUCKDB_TYPE_MAP:
        if (!add_child(type, duckdb_map_type_key_type(logical), NULL) ||
            !add_child(type, duckdb_map_type_value_type(logical), NULL))
            return false;
        break;
    case DUCKDB_TYPE_STRUCT:
        if (!open_struct(type, logical))
            return false;
        break;
    default:
        break;
    }
    if ((type->id == DUCKDB_TYPE_LIST || type->id == DUCKDB_TYPE_ARRAY) &&
        asprintf(&type->name, "%s[]", type->children[0]->name) >= 0)
        return true;
    type->name = nx_strdup(name);
    return true;
}

struct nx_value_type *nx_value_type_new(duckdb_logical_type logical)
{
    struct nx_value_type *type = nx_zalloc(1, sizeof(*type));

    type->id = duckdb_get_type_id(logical);
    if (open_type(type, logical))
        return type;
    nx_value_type_free(type);
    return NULL;
}

void nx_value_type_free(struct nx_value_type *type)
{
    if (!type)
        return;
    for (size_t i = 0; i < type->child_count; i++) {
        nx_value_type_free(type->children[i]);
        free(type->child_names[i]);
    }
    for (uint32_t i = 0; i < type->label_count; i++)
        free(type->labels[i]);
    free(type->children);
    free(type->child_names);
    free(type->labels);
    free(type->name);
    free(type);
}

const char *nx_value_type_name(const struct nx_value_type *type)
{
    return type->name;
}

bool nx_value_is_number(const struct nx_value_type *type)
{
    switch (type->id) {
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT:
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_DECIMAL:
        return true;
    default:
        return false;
    }
}

bool nx_value_is_bare(const struct nx_value_type *type)
{
    return nx_value_is_number(type) || type->id == DUCKDB_TYPE_BOOLEAN || type->child_count > 0;
}

bool nx_value_is_null(duckdb_vector vector, uint64_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);

    return validity && !duckdb_validity_row_is_valid(validity, row);
}

/* ------------------------------------------------------------------ numbers */

static void put_unsigned128(struct nx_text *out, unsigned __int128 value)
{
    char digits[40];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    nx_text_append(out, digits + at, sizeof(digits) - at);
}

static __int128 hugeint_value(duckdb_hugeint value)
{
    return (__int128)((unsigned __int128)(uint64_t)value.upper << 64 | value.lower);
}

static void put_signed128(struct nx_text *out, __int128 value)
{
    if (value < 0)
        nx_text_puts(out, "-");
    put_unsigned128(out, value < 0 ? -(unsigned __int128)value : (unsigned __int128)value);
}

static void put_decimal(struct nx_text *out, __int128 value, unsigned scale)
{
    unsigned __int128 magnitude = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value, unit = 1;
    char fraction[48];

    for (unsigned i = 0; i < scale; i++)
        unit *= 10;
    if (value < 0)
        nx_text_puts(out, "-");
    put_unsigned128(out, magnitude / unit);
    if (!scale)
        return;
    magnitude %= unit;
    for (unsigned i = scale; i-- > 0; magnitude /= 10)
        fraction[i] = (char)('0' + (int)(magnitude % 10));
    nx_text_puts(out, ".");
    nx_text_append(out, fraction, scale);
}

/* The fewest digits that read back as the same value. */
static bool put_double(struct nx_text *out, double value, bool is_float)
{
    char text[40];
    int least = is_float ? 6 : 15, most = is_float ? 9 : 17;

    if (!isfinite(value))
        return false;
    for (int digits = least; digits <= most; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    nx_text_puts(out, text);
    if (!strpbrk(text, ".e"))
        nx_text_puts(out, ".0"); /* so that it reads back as a number with a fraction */
    return true;
}

static __int128 decimal_value(const struct nx_value_type *type, const void *data, uint64_t row)
{
    switch (type->internal) {
    case DUCKDB_TYPE_SMALLINT: return ((const int16_t *)data)[row];
    case DUCKDB_TYPE_INTEGER: return ((const int32_t *)data)[row];
    case DUCKDB_TYPE_BIGINT: return ((const int64_t *)data)[row];
    default: return hugeint_value(((const duckdb_hugeint *)data)[row]);
    }
}

/* ------------------------------------------------------------------ dates */

/* Which of the two dates or times without end it is, or NULL; the engine's conversions do not take them. */
static const char *endless(bool is_finite, int64_t value)
{
    return is_finite ? NULL : value < 0 ? "-infinity" : "infinity";
}

static void put_date(struct nx_text *out, duckdb_date date)
{
    const char *word = endless(duckdb_is_finite_date(date), date.days);
    duckdb_date_struct d;

    if (word) {
        nx_text_puts(out, word);
        return;
    }
    d = duckdb_from_date(date);
    nx_text_printf(out, "%04d-%02d-%02d", d.year, d.month, d.day);
}

static void put_time(struct nx_text *out, duckdb_time_struct t)
{
    nx_text_printf(out, "%02d:%02d:%02d", t.hour, t.min, t.sec);
    if (t.micros)
        nx_text_printf(out, ".%06d", t.micros);
}

/* `units` of which a second has `per_second`, with as many digits as that gives. */
static void put_timestamp(struct nx_text *out, int64_t units, int64_t per_second)
{
    int64_t seconds = units / per_second, rest = units % per_second, micros;
    const char *word = endless(units != INT64_MAX && units != -INT64_MAX, units);
    duckdb_timestamp_struct t;
    int nanos = 0;

    if (rest < 0) {
        rest += per_second;
        seconds--;
    }
    if (per_second == 1000000000) {
        nanos = (int)(rest % 1000);
        rest /= 1000;
    } else {
        rest *= 1000000 / per_second;
    }
    if (!word && (__builtin_mul_overflow(seconds, 1000000, &micros) || __builtin_add_overflow(micros, rest, &micros)))
        word = endless(false, units); /* beyond what the engine itself can show */
    if (word) {
        nx_text_puts(out, word);
        return;
    }
    t = duckdb_from_timestamp((duckdb_timestamp){micros});
    nx_text_printf(out, "%04d-%02d-%02d ", t.date.year, t.date.month, t.date.day);
    if (nanos)
        nx_text_printf(out, "%02d:%02d:%02d.%06d%03d", t.time.hour, t.time.min, t.time.sec, t.time.micros, nanos);
    else
        put_time(out, t.time);
}

static void put_interval(struct nx_text *out, duckdb_interval v)
{
    uint64_t micros = v.micros < 0 ? -(uint64_t)v.micros : (uint64_t)v.micros;

    if (v.months)
        nx_text_printf(out, "%" PRId32 " months ", v.months);
    if (v.days)
        nx_text_printf(out, "%" PRId32 " days ", v.days);
    nx_text_printf(out, "%s%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, v.micros < 0 ? "-" : "", micros / 3600000000,
                   micros / 60000000 % 60, micros / 1000000 % 60);
    if (micros % 1000000)
        nx_text_printf(out, ".%06" PRIu64, micros % 1000000);
}

/* ------------------------------------------------------------------ the rest */

static void put_bytes(struct nx_text *out, const char *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        nx_text_printf(out, "\\x%02X", (unsigned char)bytes[i]);
}

static void put_uuid(struct nx_text *out, duckdb_hugeint value)
{
    /* stored with its highest bit flipped, so that it sorts as unsigned */
    uint64_t upper = (uint64_t)value.upper ^ (uint64_t)1 << 63;

    nx_text_printf(out, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64, upper >> 32,
                   upper >> 16 & 0xffff, upper & 0xffff, value.lower >> 48, value.lower & 0xffffffffffff);
}

static const char *label(const struct nx_value_type *type, const void *data, uint64_t row)
{
    uint32_t number = type->internal == DUCKDB_TYPE_UTINYINT    ? ((const uint8_t *)data)[row]
                      : type->internal == DUCKDB_TYPE_USMALLINT ? ((const uint16_t *)data)[row]
                                                                : ((const uint32_t *)data)[row];

    return number < type->label_count ? type->labels[number] : "";
}

static void put_elements(const struct nx_value_type *type, duckdb_vector child, uint64_t first, uint64_t count,
                         struct nx_text *out)
{
    nx_text_puts(out, "[");
    for (uint64_t i = 0; i < count; i++) {
        nx_text_puts(out, i ? "," : "");
        nx_value_put_json(type->children[0], child, first + i, out);
    }
    nx_text_puts(out, "]");
}

static void put_struct(const struct nx_value_type *type, duckdb_vector vector, uint64_t row, struct nx_text *out)
{
    nx_text_puts(out, "{");
    for (size_t i = 0; i < type->child_count; i++) {
        nx_text_puts(out, i ? "," : "");
        nx_text_json_string(out, type->child_names[i], strlen(type->child_names[i]));
        nx_text_puts(out, ":");
        nx_value_put_json(type->children[i], duckdb_struct_vector_get_child(vector, i), row, out);
    }
    nx_text_puts(out, "}");
}

/* A map is a list of (key, value) structs; its JSON is an object whose keys are the keys' text. */
static void put_map(const struct nx_value_type *type, duckdb_vector vector, uint64_t row, struct nx_text *out)
{
    duckdb_list_entry entry = ((duckdb_list_entry *)duckdb_vector_get_data(vector))[row];
    duckdb_vector pairs = duckdb_list_vector_get_child(vector);
    struct nx_text key = {0};

    nx_text_puts(out, "{");
    for (uint64_t i = 0; i < entry.length; i++) {
        nx_text_clear(&key);
        nx_value_put(type->children[0], duckdb_struct_vector_get_child(pairs, 0), entry.offset + i, &key);
        nx_text_puts(out, i ? "," : "");
        nx_text_json_string(out, nx_text_string(&key), key.size);
        nx_text_puts(out, ":");
        nx_value_put_json(type->children[1], duckdb_struct_vector_get_child(pairs, 1), entry.offset + i, out);
    }
    nx_text_puts(out, "}");
    nx_text_free(&key);
}

bool nx_value_put(const struct nx_value_type *type, duckdb_vector vector, uint64_t row, struct nx_text *out)
{
    const void *data = duckdb_vector_get_data(vector);

    if (type->id == DUCKDB_TYPE_SQLNULL || nx_value_is_null(vector, row))
        return false;
    switch (type->id) {
    case DUCKDB_TYPE_BOOLEAN: nx_text_puts(out, ((const bool *)data)[row] ? "true" : "false"); break;
    case DUCKDB_TYPE_TINYINT: nx_text_printf(out, "%d", ((const int8_t *)data)[row]); break;
    case DUCKDB_TYPE_SMALLINT: nx_text_printf(out, "%d", ((const int16_t *)data)[row]); break;
    case DUCKDB_TYPE_INTEGER: nx_text_printf(out, "%" PRId32, ((const int32_t *)data)[row]); break;
    case DUCKDB_TYPE_BIGINT: nx_text_printf(out, "%" PRId64, ((const int64_t *)data)[row]); break;
    case DUCKDB_TYPE_UTINYINT: nx_text_printf(out, "%u", ((const uint8_t *)data)[row]); break;
    case DUCKDB_TYPE_USMALLINT: nx_text_printf(out, "%u", ((const uint16_t *)data)[row]); break;
    case DUCKDB_TYPE_UINTEGER: nx_text_printf(out, "%" PRIu32, ((const uint32_t *)data)[row]); break;
    case DUCKDB_TYPE_UBIGINT: nx_text_printf(out, "%" PRIu64, ((const uint64_t *)data)[row]); break;
    case DUCKDB_TYPE_HUGEINT: put_signed128(out, hugeint_value(((const duckdb_hugeint *)data)[row])); break;
    case DUCKDB_TYPE_UHUGEINT: {
        duckdb_uhugeint v = ((const duckdb_uhugeint *)data)[row];

        put_unsigned128(out, (unsigned __int128)v.upper << 64 | v.lower);
        break;
    }
    case DUCKDB_TYPE_DECIMAL: put_decimal(out, decimal_value(type, data, row), type->scale); break;
    case DUCKDB_TYPE_FLOAT: return put_double(out, (double)((const float *)data)[row], true);
    case DUCKDB_TYPE_DOUBLE: return put_double(out, ((const double *)data)[row], false);
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_BLOB: {
        duckdb_string_t *text = &((duckdb_string_t *)(uintptr_t)data)[row];

        if (type->id == DUCKDB_TYPE_BLOB)
            put_bytes(out, duckdb_string_t_data(text), duckdb_string_t_length(*text));
        else
            nx_text_append(out, duckdb_string_t_data(text), duckdb_string_t_length(*text));
        break;
    }
    case DUCKDB_TYPE_ENUM: nx_text_puts(out, label(type, data, row)); break;
    case DUCKDB_TYPE_UUID: put_uuid(out, ((const duckdb_hugeint *)data)[row]); break;
    case DUCKDB_TYPE_DATE: put_date(out, ((const duckdb_date *)data)[row]); break;
    case DUCKDB_TYPE_TIME: put_time(out, duckdb_from_time(((const duckdb_time *)data)[row])); break;
    case DUCKDB_TYPE_TIMESTAMP_TZ:
        put_timestamp(out, ((const int64_t *)data)[row], 1000000);
        if (out->data[out->size - 1] != 'y')  /* infinity is in no zone */
            nx_text_puts(out, "+00"); /* the worker's time zone is UTC */
        break;
    case DUCKDB_TYPE_TIMESTAMP: put_timestamp(out, ((const int64_t *)data)[row], 1000000); break;
    case DUCKDB_TYPE_TIMESTAMP_S: put_timestamp(out, ((const int64_t *)data)[row], 1); break;
    case DUCKDB_TYPE_TIMESTAMP_MS: put_timestamp(out, ((const int64_t *)data)[row], 1000); break;
    case DUCKDB_TYPE_TIMESTAMP_NS: put_timestamp(out, ((const int64_t *)data)[row], 1000000000); break;
    case DUCKDB_TYPE_INTERVAL: put_interval(out, ((const duckdb_interval *)data)[row]); break;
    case DUCKDB_TYPE_LIST: {
        duckdb_list_entry entry = ((const duckdb_list_entry *)data)[row];

        put_elements(type, duckdb_list_vector_get_child(vector), entry.offset, entry.length, out);
        break;
    }
    case DUCKDB_TYPE_ARRAY:
        put_elements(type, duckdb_array_vector_get_child(vector), row * type->array_size, type->array_size, out);
        break;
    case DUCKDB_TYPE_MAP: put_map(type, vector, row, out); break;
    default: put_struct(type, vector, row, out); break;
    }
    return true;
}

void nx_value_put_json(const struct nx_value_type *type, duckdb_vector vector, uint64_t row, struct nx_text *out)
{
    struct nx_text text = {0};

    if (nx_value_is_bare(type)) {
        if (!nx_value_put(type, vector, row, out))
            nx_text_puts(out, "null");
        return;
    }
    if (type->id == DUCKDB_TYPE_VARCHAR && !nx_value_is_null(vector, row)) { /* the common case, without a copy */
        duckdb_string_t *value = &((duckdb_string_t *)duckdb_vector_get_data(vector))[row];

        nx_text_json_string(out, duckdb_string_t_data(value), duckdb_string_t_length(*value));
        return;
    }
    if (nx_value_put(type, vector, row, &text))
        nx_text_json_string(out, nx_text_string(&text), text.size);
    else
        nx_text_puts(out, "null");
    nx_text_free(&text);
}

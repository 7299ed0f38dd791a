#include <inttypes.h>

#include "base/text.h"
#include "ntff/metadata.h"

static void note_unknown(struct nx_ntff_reader *r, const struct nx_ntff_message *kind, uint32_t number)
{
    r->unknown_fields++;
    for (size_t i = 0; i < r->unknown_shown; i++)
        if (r->unknown[i].message == kind->name && r->unknown[i].number == number)
            return;
    if (r->unknown_shown == NX_NTFF_UNKNOWN_SHOWN)
        return;
    r->unknown[r->unknown_shown].message = kind->name;
    r->unknown[r->unknown_shown++].number = number;
}

bool nx_ntff_next(struct nx_ntff_reader *r, struct nx_pb *pb, struct nx_pb_field *f,
                  const struct nx_ntff_message *kind)
{
    while (nx_pb_next(pb, f)) {
        uint32_t bit = f->number < 32 ? NX_FIELD(f->number) : 0;

        if ((f->wire == NX_PB_VARINT && kind->numbers & bit) || (f->wire == NX_PB_BYTES && kind->bytes & bit))
            return true;
        if (!(kind->ignored & bit))
            note_unknown(r, kind, f->number);
    }
    return false;
}

enum nx_status nx_ntff_walked(const struct nx_ntff_reader *r, const struct nx_pb *pb)
{
    if (!pb->problem)
        return NX_OK;
    return nx_fail_at(r->error, r->path, nx_ntff_offset(r, pb->message) + pb->offset, "%s", pb->problem);
}

/* A message that is malformed is counted up to there: the walk that reads it reports it. */
enum nx_status nx_ntff_list(struct nx_ntff_reader *r, struct nx_bytes message, uint32_t number, size_t limit,
                            size_t size, void *list)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    size_t count = 0;

    while (nx_pb_next(&pb, &f))
        count += f.number == number && f.wire == NX_PB_BYTES;
    if (count > limit)
        return nx_fail_at(r->error, r->path, nx_ntff_offset(r, message),
                          "%zu entries of field %" PRIu32 ": at most %zu are expected", count, number, limit);
    *(void **)list = nx_arena_alloc(&r->ntff->arena, count, size);
    return NX_OK;
}

const char *nx_ntff_text(struct nx_ntff_reader *r, const struct nx_pb_field *f)
{
    return nx_arena_text(&r->ntff->arena, f->bytes.data, f->bytes.size);
}

uint32_t nx_ntff_u32(const struct nx_pb_field *f)
{
    return f->value > UINT32_MAX ? UINT32_MAX : (uint32_t)f->value;
}

uint64_t nx_ntff_offset(const struct nx_ntff_reader *r, struct nx_bytes piece)
{
    return (uint64_t)(piece.data - r->file.data);
}

void nx_ntff_warn_unknown(struct nx_ntff_reader *r)
{
    struct nx_text list = {0};

    if (!r->unknown_fields)
        return;
    for (size_t i = 0; i < r->unknown_shown; i++)
        nx_text_printf(&list, "%s%s field %" PRIu32, i ? ", " : "", r->unknown[i].message,
                       r->unknown[i].number);
    nx_warn(&r->ntff->warnings, NX_WARN_UNKNOWN,
            "%" PRIu64 " fields of the trace's metadata are not known: %s%s", r->unknown_fields,
            nx_text_string(&list), r->unknown_shown == NX_NTFF_UNKNOWN_SHOWN ? ", perhaps others" : "");
    nx_text_free(&list);
}

#include "base/protobuf.h"

struct nx_pb nx_pb_open(struct nx_bytes message)
{
    return (struct nx_pb){.message = message};
}

/* false, and *problem says why, when the varint is cut or longer than 64 bits */
static bool read_varint(struct nx_bytes bytes, size_t *offset, uint64_t *value, const char **problem)
{
    uint64_t result = 0;
    unsigned shift = 0;
    size_t at = *offset;

    for (;;) {
        uint8_t byte;

        if (at >= bytes.size) {
            *problem = "protobuf varint runs past the end of its message";
            return false;
        }
        byte = bytes.data[at++];
        if (shift == 63 && byte > 1) {
            *problem = "protobuf varint is longer than 64 bits";
            return false;
        }
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
        shift += 7;
    }
    *offset = at;
    *value = result;
    return true;
}

bool nx_pb_next(struct nx_pb *pb, struct nx_pb_field *field)
{
    uint64_t key, length;
    size_t left;

    if (pb->problem || pb->offset >= pb->message.size)
        return false;
    if (!read_varint(pb->message, &pb->offset, &key, &pb->problem))
        return false;
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff) {
        pb->problem = "protobuf field number is out of range";
        return false;
    }
    *field = (struct nx_pb_field){.number = (uint32_t)(key >> 3), .wire = (enum nx_pb_wire)(key & 7)};
    left = pb->message.size - pb->offset;
    switch (key & 7) {
    case NX_PB_VARINT:
        return read_varint(pb->message, &pb->offset, &field->value, &pb->problem);
    case NX_PB_FIXED64:
        if (left < 8)
            break;
        field->value = nx_load_u64(pb->message.data + pb->offset);
        pb->offset += 8;
        return true;
    case NX_PB_FIXED32:
        if (left < 4)
            break;
        field->value = nx_load_u32(pb->message.data + pb->offset);
        pb->offset += 4;
        return true;
    case NX_PB_BYTES:
        if (!read_varint(pb->message, &pb->offset, &length, &pb->problem))
            return false;
        if (!nx_bytes_slice(pb->message, pb->offset, length, &field->bytes))
            break;
        pb->offset += (size_t)length;
        return true;
    default:
        pb->problem = "protobuf wire type is not 0, 1, 2 or 5";
        return false;
    }
    pb->problem = "protobuf field runs past the end of its message";
    return false;
}

bool nx_pb_next_packed(struct nx_pb *pb, const struct nx_pb_field *field, size_t *at, uint64_t *value)
{
    if (field->wire != NX_PB_BYTES) {
        *value = field->value;
        return (*at)++ == 0;
    }
    if (*at >= field->bytes.size)
        return false;
    return read_varint(field->bytes, at, value, &pb->problem);
}

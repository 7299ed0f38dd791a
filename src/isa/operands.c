/*
 * Operand text, as the closed tool prints it: spaces included, since its users
 * take it apart with regular expressions.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/queue_name.h"
#include "isa/isa.h"
#include "isa/names.h"

/* Numbers make up most of the text of a large kernel: printf's parsing of formats would be most of the time.
 */
static void put_number(struct nx_text *out, uint32_t value)
{
    char digits[10], *p = digits + sizeof(digits);

    do {
        *--p = (char)('0' + value % 10);
    } while (value /= 10);
    nx_text_append(out, p, (size_t)(digits + sizeof(digits) - p));
}

static void put_signed(struct nx_text *out, int32_t value)
{
    if (value < 0)
        nx_text_append(out, "-", 1);
    put_number(out, value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
}

static void put_address(struct nx_text *out, uint32_t value)
{
    char digits[10], *p = digits + sizeof(digits);

    do {
        *--p = "0123456789abcdef"[value & 15];
    } while (value >>= 4);
    *--p = 'x';
    *--p = '0';
    nx_text_append(out, p, (size_t)(digits + sizeof(digits) - p));
}

/* "name=12 " */
static void put_field(struct nx_text *out, const char *label, uint32_t value)
{
    nx_text_puts(out, label);
    put_number(out, value);
    nx_text_append(out, " ", 1);
}

/* C prints the sign of a NaN, other languages do not. */
static void put_float(struct nx_text *out, const char *label, uint32_t bits, bool shortest)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    nx_text_puts(out, label);
    if (isnan(value))
        nx_text_puts(out, "nan");
    else if (bits == 0)
        nx_text_puts(out, shortest ? "0" : "0.000000");
    else if (shortest)
        nx_text_printf(out, "%g", (double)value);
    else
        nx_text_printf(out, "%f", (double)value);
}

/* A name out of the file, which may hold anything: what is not ASCII becomes U+FFFD, so that the text is
 * UTF-8. */
static void put_ascii(struct nx_text *out, const char *name)
{
    size_t plain = 0, size = strlen(name);

    for (size_t i = 0; i < size; i++) {
        if (!((unsigned char)name[i] & 0x80))
            continue;
        nx_text_append(out, name + plain, i - plain);
        nx_text_puts(out, "\xef\xbf\xbd");
        plain = i + 1;
    }
    nx_text_append(out, name + plain, size - plain);
}

static void put_semaphore(struct nx_text *out, const char *const *names, uint8_t index)
{
    const char *name = names ? names[index] : NULL;

    nx_text_puts(out, name ? "S[" : "$S[");
    put_number(out, index);
    nx_text_puts(out, "]");
    if (name) {
        nx_text_puts(out, " (");
        nx_text_puts(out, name);
        nx_text_puts(out, ")");
    }
}

/* False: nothing to wait for, nothing printed. */
static bool put_wait(struct nx_text *out, const char *const *names, struct nx_sync wait)
{
    static const char *const compare[] = {NULL, "==", "<", "<=", ">", ">="};

    if ((wait.mode & 0x3f) == 0)
        return false;
    if (wait.mode <= 5) {
        put_semaphore(out, names, wait.index);
        nx_text_puts(out, compare[wait.mode]);
        put_number(out, wait.value);
    } else if (wait.mode == 6 || wait.mode == 7) {
        nx_text_printf(out, "$E[%u]==1%s", wait.index, wait.mode == 7 ? "-" : "");
    } else {
        nx_text_printf(out, "wait(mode=0x%x,%u,%" PRIu32 ")", wait.mode, wait.index, wait.value);
    }
    return true;
}

static bool put_update(struct nx_text *out, const char *const *names, struct nx_sync update)
{
    const char *at = update.mode & 0x10 ? "@complete" : "";

    switch (update.mode ? update.mode & 0xf : -1) {
    case -1:
        return false;
    case 1:
        nx_text_printf(out, "$E[%u]+%s", update.index, at);
        break;
    case 3:
        put_semaphore(out, names, update.index);
        nx_text_puts(out, "++");
        nx_text_puts(out, at);
        break;
    case 4:
        put_semaphore(out, names, update.index);
        nx_text_puts(out, "--");
        nx_text_puts(out, at);
        break;
    case 5:
        put_semaphore(out, names, update.index);
        nx_text_printf(out, "+=%" PRIu32 "%s", update.value, at);
        break;
    case 9:
        put_semaphore(out, names, update.index);
        nx_text_printf(out, "=%" PRIu32 "%s", update.value, at);
        break;
    default:
        nx_text_printf(out, "update(mode=0x%x,%u,%" PRIu32 ")", update.mode, update.index, update.value);
        break;
    }
    return true;
}

/* "0x4800[1,1,1][512,1,1]" */
static void put_ap(struct nx_text *out, const struct nx_ap *ap)
{
    put_address(out, ap->address);
    for (unsigned i = 0; i < ap->rank; i++) {
        nx_text_append(out, i ? "," : "[", 1);
        put_signed(out, ap->step[i]);
    }
    nx_text_append(out, "]", 1);
    for (unsigned i = 0; i < ap->rank; i++) {
        nx_text_append(out, i ? "," : "[", 1);
        put_number(out, ap->count[i]);
    }
    nx_text_append(out, "]", 1);
}

/* "src=fp32@0x4800[1,1,1][512,1,1] " */
static void put_typed_ap(struct nx_text *out, const char *label, const struct nx_ap *ap)
{
    char buffer[16];

    nx_text_puts(out, label);
    nx_text_puts(out, nx_isa_dtype_name(ap->dtype, buffer));
    nx_text_append(out, "@", 1);
    put_ap(out, ap);
    nx_text_puts(out, " ");
}

/* The name of a code, or its number. */
static void put_code(struct nx_text *out, const char *name, unsigned code)
{
    if (name)
        nx_text_puts(out, name);
    else
        put_number(out, code);
}

static void put_hex(struct nx_text *out, const char *label, const uint8_t *bytes, size_t size)
{
    static const char digit[] = "0123456789abcdef";

    nx_text_puts(out, label);
    for (size_t i = 0; i < size; i++)
        nx_text_append(out, (char[]){digit[bytes[i] >> 4], digit[bytes[i] & 15]}, 2);
}

static void put_matrix(struct nx_text *out, const struct nx_inst *inst)
{
    const uint8_t *raw = inst->raw;

    if (inst->opcode == NX_OP_MATMUL)
        put_field(out, "acc_flags=", raw[43]);
    if (inst->fp32_mode) {
        nx_text_puts(out, "fp32_mode=");
        nx_text_puts(out, nx_isa_fp32_mode_name(inst->fp32_mode));
        nx_text_puts(out, " ");
    }
    if (inst->opcode == NX_OP_LDWEIGHTS)
        nx_text_puts(out, raw[34] ? "transpose_mode=ENABLED " : "transpose_mode=DISABLED ");
    put_typed_ap(out, "src=", &inst->src[0]);
    if (inst->opcode == NX_OP_MATMUL) {
        nx_text_puts(out, "dst=");
        put_ap(out, &inst->dst);
        nx_text_puts(out, " ");
    }
    put_number(out, inst->rows);
    put_field(out, "*", inst->cols);
}

static void put_activate(struct nx_text *out, const struct nx_inst *inst)
{
    const uint8_t *raw = inst->raw;
    char buffer[16];

    nx_text_printf(out, "%s ", nx_isa_activation_name(inst->activation, buffer));
    if (raw[12] == 0)
        nx_text_printf(out, "bias_ptr=%s@0x%x ", nx_isa_dtype_name(raw[32] >> 4, buffer),
                       nx_load_u32(raw + 40));
    else
        nx_text_puts(out, "bias_imm ");
    put_typed_ap(out, "src=", &inst->src[0]);
    put_typed_ap(out, "dst=", &inst->dst);
    put_field(out, "channels=", raw[34]);
    put_float(out, "scale=", nx_load_u32(raw + 36), false);
    put_float(out, " imm=", nx_load_u32(raw + 44), false);
    nx_text_puts(out, " accumulator_cmd=IDLE");
}

static void put_tensor_scalar(struct nx_text *out, const struct nx_inst *inst)
{
    const uint8_t *raw = inst->raw;

    nx_text_puts(out, "ops=");
    put_code(out, nx_isa_alu_name(raw[36]), raw[36]);
    nx_text_puts(out, ",");
    put_code(out, nx_isa_alu_name(raw[37]), raw[37]);
    nx_text_puts(out, " imm=");
    for (unsigned k = 0; k < 2; k++) {
        nx_text_puts(out, k ? "," : "");
        if (raw[35] >> k & 1)
            nx_text_printf(out, "0x%x", nx_load_u32(raw + 40 + 4 * k));
        else
            put_float(out, "", nx_load_u32(raw + 40 + 4 * k), true);
    }
    nx_text_printf(out, " imm_src=%s,%s ", raw[35] & 1 ? "PTR" : "INSTRUCTION",
                   raw[35] & 2 ? "PTR" : "INSTRUCTION");
    put_typed_ap(out, "src=", &inst->src[0]);
    put_typed_ap(out, "dst=", &inst->dst);
    put_field(out, "channels=", raw[34]);
}

static void put_unary(struct nx_text *out, const struct nx_inst *inst)
{
    const uint8_t *raw = inst->raw;

    if (inst->opcode == NX_OP_TENSOR_REDUCE) {
        nx_text_puts(out, "op=");
        put_code(out, nx_isa_alu_name(raw[36]), raw[36]);
        nx_text_puts(out, " dim=");
        put_code(out, raw[37] == 2 ? "X" : NULL, raw[37]);
        nx_text_puts(out, raw[35] ? " negated=1 " : " ");
    }
    put_typed_ap(out, "src=", &inst->src[0]);
    put_typed_ap(out, "dst=", &inst->dst);
    put_field(out, "channels=", raw[34]);
}

static void put_write(struct nx_text *out, const uint8_t *raw)
{
    bool two = raw[13] != 0;

    nx_text_printf(out, "data=0x%" PRIx64, nx_load_u64(raw + 32));
    if (two)
        nx_text_printf(out, ",0x%" PRIx64, nx_load_u64(raw + 40));
    nx_text_printf(out, " size=%u", raw[12]);
    if (two)
        nx_text_printf(out, ",%u", raw[13]);
    nx_text_printf(out, " dst=0x%" PRIx64, nx_load_u64(raw + 16));
    if (two)
        nx_text_printf(out, ",0x%" PRIx64, nx_load_u64(raw + 24));
    nx_text_puts(out, " ");
}

static void put_branch(struct nx_text *out, const struct nx_inst *inst)
{
    const uint8_t *raw = inst->raw;
    const char *compare = nx_isa_compare_name(raw[12]);
    char buffer[16];

    nx_text_puts(out, "cmp_op=");
    if (compare)
        nx_text_puts(out, compare);
    else
        nx_text_printf(out, "op%u", raw[12]);
    nx_text_puts(out, " ");
    if (raw[12] != 0)
        nx_text_printf(out, "dtype=%s cmp0=$R[%u] cmp1=%" PRId32 " ", nx_isa_dtype_name(raw[13], buffer),
                       raw[16], (int32_t)nx_load_u32(raw + 24));
    nx_text_printf(out, "label_id=%" PRIu32 " ", nx_load_u32(raw + 48));
    if (inst->hint)
        nx_text_printf(out, "debugHint=%u", inst->hint);
}

static void put_tensor_load(struct nx_text *out, const struct nx_inst *inst)
{
    const uint8_t *raw = inst->raw;
    unsigned count = (unsigned)raw[14] * raw[15];
    char buffer[16];

    nx_text_printf(out, "addr=%s@0x%" PRIx64 "[%" PRIu32 ",%" PRIu32 "][%u,%u] ",
                   nx_isa_dtype_name(raw[12], buffer), nx_load_u64(raw + 16), nx_load_u32(raw + 24),
                   nx_load_u32(raw + 28), raw[14], raw[15]);
    if (inst->opcode != NX_OP_TENSOR_LOAD) {
        put_hex(out, "imm=", raw + 32, 32);
    } else {
        nx_text_puts(out, "data=");
        for (unsigned i = 0; i < count && i < 32; i++)
            nx_text_printf(out, "%s$R[%u]", i ? "," : "", raw[32 + i]);
    }
    nx_text_puts(out, " ");
}

/* Address of one side: in a table of tensors, of a variable, or absolute. */
static void put_dge_address(struct nx_text *out, const struct nx_inst *inst, const char *side,
                            uint64_t address)
{
    uint32_t offset = (uint32_t)address;
    unsigned number = (unsigned)(address >> 32) & 0xffffff;
    bool pseudo = inst->opcode == NX_OP_PSEUDO_DMA_DIRECT2D;

    if (address >> 56 == 0x20)
        nx_text_printf(out, pseudo ? "%s_table_offset_imm=%" PRIu32 : "%s_table_offset_imm=0x%" PRIx32, side,
                       offset);
    if (address >> 56 == 0x20)
        nx_text_printf(out, " %s_table_index=%u", side, number);
    else if (pseudo)
        nx_text_printf(out, "%s_var_id=%u %s_var_offset=%" PRIu32, side, number, side, offset);
    else
        nx_text_printf(out, "%s_addr_imm=0x%" PRIx64, side, address);
}

static void put_dge(struct nx_text *out, const struct nx_inst *inst)
{
    const struct nx_dge_side *s = &inst->dge_src, *d = &inst->dge_dst;
    bool pseudo = inst->opcode == NX_OP_PSEUDO_DMA_DIRECT2D;
    char in[16], to[16];

    nx_text_printf(out,
                   "%ssemaphore=%u sem_increment=%u  src_elem_size=%u dst_elem_size=%u "
                   "src_pattern=[%" PRId32 ",%" PRId32 "][%u,%u] dst_pattern=[%" PRId32 ",%" PRId32
                   "][%u,%u] ",
                   pseudo ? "dge_op=DIRECT2D " : "", inst->dge_semaphore, inst->dge_increment,
                   s->element_size, d->element_size, s->step[0], s->step[1], s->count[0], s->count[1],
                   d->step[0], d->step[1], d->count[0], d->count[1]);
    put_dge_address(out, inst, "src", s->address);
    nx_text_puts(out, " src_shape_reg=0 ");
    put_dge_address(out, inst, "dst", d->address);
    nx_text_puts(out, " dst_shape_reg=0 ");
    if (inst->raw[62] != inst->raw[63])
        nx_text_printf(out, "in_dtype=%s out_dtype=%s ", nx_isa_dtype_name(inst->raw[62], in),
                       nx_isa_dtype_name(inst->raw[63], to));
    nx_text_puts(out, pseudo ? "  " : "compute_op=NONE ");
}

static void put_body(struct nx_text *out, const struct nx_inst *inst, const char *const *names)
{
    const uint8_t *raw = inst->raw;
    char queue[64];

    switch (inst->opcode) {
    case NX_OP_LDWEIGHTS:
    case NX_OP_MATMUL:
        put_matrix(out, inst);
        break;
    case NX_OP_ACTIVATE:
        put_activate(out, inst);
        break;
    case NX_OP_ACT_TABLE_LOAD:
        put_field(out, "table_sel=", raw[12]);
        break;
    case NX_OP_TENSOR_TENSOR:
        nx_text_puts(out, "op=");
        put_code(out, nx_isa_alu_name(raw[14]), raw[14]);
        nx_text_puts(out, " ");
        put_typed_ap(out, "src0=", &inst->src[0]);
        put_typed_ap(out, "src1=", &inst->src[1]);
        put_typed_ap(out, "dst=", &inst->dst);
        put_field(out, "channels=", raw[15]);
        break;
    case NX_OP_TENSOR_SCALAR:
        put_tensor_scalar(out, inst);
        break;
    case NX_OP_TENSOR_REDUCE:
    case NX_OP_COPY:
    case NX_OP_CAST:
    case NX_OP_RECIPROCAL:
        put_unary(out, inst);
        break;
    case NX_OP_MEMSET:
        put_typed_ap(out, "dst=", &inst->dst);
        put_field(out, "channels=", raw[34]);
        break;
    case NX_OP_EVENT_SEMAPHORE:
        nx_text_puts(out, "setter=0 ");
        put_wait(out, names, inst->set_wait);
        nx_text_puts(out, " ");
        put_update(out, names, inst->set_update);
        nx_text_puts(out, " ");
        break;
    case NX_OP_NOP:
        put_field(out, "cycle=", nx_load_u32(raw + 12));
        break;
    case NX_OP_WRITE:
        put_write(out, raw);
        break;
    case NX_OP_NOTIFY:
        nx_text_printf(out, " hint=%u notification=EXPLICIT  trace=START ", inst->notification);
        break;
    case NX_OP_COMPARE_BRANCH:
        put_branch(out, inst);
        break;
    case NX_OP_TENSOR_LOAD:
    case 0xab: /* writes immediates or registers where TENSOR_LOAD reads; its name is not known */
        put_tensor_load(out, inst);
        break;
    case NX_OP_EVENT_SEMAPHORE_RANGE_CLEAR:
        nx_text_puts(out, "mode=");
        put_code(out, raw[12] == 1 ? "SEMAPHORE_ZERO" : NULL, raw[12]);
        nx_text_printf(out, " first=%u last=%u ", raw[13], raw[14]);
        break;
    case NX_OP_SET_ORDERING_MODE:
        nx_text_puts(out, "ordering_mode=");
        put_code(out, raw[12] == 0 ? "relaxed" : raw[12] == 1 ? "strict" : NULL, raw[12]);
        nx_text_puts(out, " ");
        break;
    case NX_OP_DMA_DIRECT2D:
    case NX_OP_PSEUDO_DMA_DIRECT2D:
        put_dge(out, inst);
        break;
    case NX_OP_PSEUDO_DMA_TRIGGER:
        nx_display_queue(inst->queue, queue, sizeof(queue));
        put_ascii(out, queue);
        nx_text_puts(out, " block_id=");
        put_number(out, inst->block);
        break;
    case NX_OP_DRAIN:
    case NX_OP_LABEL:
    case 0xa1: /* nothing but zeros behind its head, wherever it was seen */
        break;
    default:
        put_hex(out, "raw=", raw + 12, NX_ISA_SIZE - 12);
        break;
    }
}

void nx_isa_operands(const struct nx_inst *inst, const char *const semaphore_names[256], struct nx_text *out)
{
    /* An update's value is not encoded in the head: it counts by one. */
    struct nx_sync update = {inst->update.mode, inst->update.index, 1};

    if (put_wait(out, semaphore_names, inst->wait) && update.mode)
        nx_text_puts(out, " ");
    put_update(out, semaphore_names, update);
    nx_text_puts(out, " ");
    put_body(out, inst, semaphore_names);
}

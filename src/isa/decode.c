#include <string.h>

#include "base/bytes.h"
#include "isa/isa.h"
#include "isa/names.h"

/* Access pattern at `offset`: u32 address, then `rank` steps (i16), then `rank` counts (u16). */
static struct nx_ap read_ap(const uint8_t *raw, unsigned offset, uint8_t rank, uint8_t dtype)
{
    struct nx_ap ap = {.address = nx_load_u32(raw + offset), .rank = rank, .dtype = dtype};

    for (unsigned i = 0; i < rank; i++) {
        ap.step[i] = (int16_t)nx_load_u16(raw + offset + 4 + 2 * i);
        ap.count[i] = nx_load_u16(raw + offset + 4 + 2 * rank + 2 * i);
    }
    return ap;
}

static struct nx_dge_side read_dge_side(const uint8_t *p)
{
    return (struct nx_dge_side){.address = nx_load_u64(p),
                                .step = {(int32_t)nx_load_u32(p + 8), (int32_t)nx_load_u32(p + 12)},
                                .count = {nx_load_u16(p + 16), nx_load_u16(p + 18)},
                                .element_size = nx_load_u16(p + 20)};
}

static bool ap_known(const struct nx_ap *ap)
{
    return ap->rank == 0 || nx_isa_dtype_known(ap->dtype);
}

/* 2, 3 and 6 are printed by analogy with their neighbours, but no file holds one: not understood. */
static bool wait_known(struct nx_sync wait)
{
    return wait.mode == 0 || wait.mode == 1 || wait.mode == 4 || wait.mode == 5 || wait.mode == 7;
}

/* Bit 4: at completion.  The bits above it were never seen. */
static bool update_known(struct nx_sync update)
{
    uint8_t kind = update.mode & 0xf;

    return update.mode == 0 ||
           (update.mode <= 0x1f && (kind == 1 || kind == 3 || kind == 4 || kind == 5 || kind == 9));
}

static bool sync_known(const struct nx_inst *inst)
{
    return wait_known(inst->wait) && update_known(inst->update) && wait_known(inst->set_wait) &&
           update_known(inst->set_update);
}

/* Of a byte that holds one type, or one of two in each half. */
static uint8_t low(uint8_t byte)
{
    return byte & 15;
}

/* Rounds down, also below zero: the instruction that a displacement points into. */
static int32_t instructions(int32_t bytes)
{
    return bytes / NX_ISA_SIZE - (bytes % NX_ISA_SIZE < 0);
}

static void decode_unary(const uint8_t *raw, struct nx_inst *inst)
{
    inst->src[0] = read_ap(raw, 12, 4, low(raw[32]));
    inst->dst = read_ap(raw, 44, 4, low(raw[33]));
}

static void decode_matrix(const uint8_t *raw, struct nx_inst *inst)
{
    inst->src[0] = read_ap(raw, 16, 3, low(raw[32]));
    inst->fp32_mode = nx_isa_fp32_mode_name(raw[33]) ? raw[33] : 0;
    inst->rows = raw[38];
    inst->cols = raw[39];
    inst->understood = raw[33] == 0 || inst->fp32_mode != 0;
    if (inst->opcode == NX_OP_MATMUL)
        inst->dst = read_ap(raw, 48, 3, inst->src[0].dtype);
}

void nx_isa_decode(const uint8_t raw[NX_ISA_SIZE], struct nx_inst *inst)
{
    memset(inst, 0, sizeof(*inst));
    inst->raw = raw;
    inst->opcode = raw[0];
    inst->hint = raw[3];
    inst->wait = (struct nx_sync){raw[4], raw[5], nx_load_u32(raw + 8)};
    inst->update = (struct nx_sync){raw[6], raw[7], 0};
    inst->understood = true;

    switch (inst->opcode) {
    case NX_OP_LDWEIGHTS:
    case NX_OP_MATMUL:
        decode_matrix(raw, inst);
        break;
    case NX_OP_ACTIVATE:
        inst->src[0] = read_ap(raw, 16, 3, low(raw[32]));
        inst->dst = read_ap(raw, 48, 3, low(raw[33]));
        inst->activation = raw[35];
        inst->understood =
            nx_isa_activation_known(raw[35]) && (raw[12] != 0 || nx_isa_dtype_known(raw[32] >> 4));
        break;
    case NX_OP_TENSOR_TENSOR:
        inst->src[0] = read_ap(raw, 16, 3, low(raw[12]));
        inst->src[1] = read_ap(raw, 32, 3, raw[12] >> 4);
        inst->dst = read_ap(raw, 48, 3, raw[13]);
        inst->understood = nx_isa_alu_name(raw[14]) != NULL;
        break;
    case NX_OP_TENSOR_SCALAR:
        inst->src[0] = read_ap(raw, 16, 3, low(raw[32]));
        inst->dst = read_ap(raw, 48, 3, low(raw[33]));
        inst->understood = nx_isa_alu_name(raw[36]) && nx_isa_alu_name(raw[37]);
        break;
    case NX_OP_TENSOR_REDUCE:
        decode_unary(raw, inst);
        inst->understood = nx_isa_alu_name(raw[36]) && raw[37] == 2;
        break;
    case NX_OP_COPY:
    case NX_OP_CAST:
    case NX_OP_RECIPROCAL:
        decode_unary(raw, inst);
        break;
    case NX_OP_MEMSET:
        inst->dst = read_ap(raw, 44, 4, low(raw[32]));
        break;
    case NX_OP_EVENT_SEMAPHORE:
        inst->set_wait = (struct nx_sync){raw[32], raw[33], nx_load_u32(raw + 36)};
        inst->set_update = (struct nx_sync){raw[34], raw[35], nx_load_u32(raw + 40)};
        break;
    case NX_OP_NOTIFY:
        inst->notification = raw[36];
        break;
    case NX_OP_COMPARE_BRANCH:
        inst->has_branch = raw[14] == 3;
        inst->branch = instructions((int32_t)nx_load_u32(raw + 48));
        inst->understood = nx_isa_compare_name(raw[12]) && (raw[12] == 0 || nx_isa_dtype_known(raw[13]));
        break;
    case NX_OP_PSEUDO_DMA_TRIGGER:
        memcpy(inst->queue, raw + 12, sizeof(inst->queue) - 1);
        inst->block = nx_load_u32(raw + 48);
        break;
    case NX_OP_DMA_DIRECT2D:
    case NX_OP_PSEUDO_DMA_DIRECT2D:
        inst->dge_semaphore = raw[13];
        inst->dge_increment = raw[14];
        inst->dge_src = read_dge_side(raw + 16);
        inst->dge_dst = read_dge_side(raw + 40);
        inst->understood = raw[62] == raw[63] || (nx_isa_dtype_known(raw[62]) && nx_isa_dtype_known(raw[63]));
        break;
    case NX_OP_TENSOR_LOAD:
        inst->understood = nx_isa_dtype_known(raw[12]);
        break;
    case NX_OP_EVENT_SEMAPHORE_RANGE_CLEAR:
        inst->understood = raw[12] == 1;
        break;
    case NX_OP_SET_ORDERING_MODE:
        inst->understood = raw[12] <= 1;
        break;
    case NX_OP_ACT_TABLE_LOAD:
    case NX_OP_DRAIN:
    case NX_OP_NOP:
    case NX_OP_WRITE:
    case NX_OP_LABEL:
        break;
    default:
        inst->understood = false;
        break;
    }
    inst->understood &=
        sync_known(inst) && ap_known(&inst->src[0]) && ap_known(&inst->src[1]) && ap_known(&inst->dst);
}

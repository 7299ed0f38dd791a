/* Options in, pair and truth out: the order of the steps. */
#include "generate.h"
#include "generate_plan.h"

enum nx_status nx_generate(const struct nx_generate_options *options, const char *neff_path,
                           const char *ntff_path, struct nx_generated *truth, struct nx_error *error)
{
    struct gen_plan plan;
    struct gen_schedule schedule;
    struct gen_window window;
    enum nx_status status = gen_plan_make(options, &plan, error);

    if (status)
        return status;
    status = gen_schedule_make(&plan, &schedule, error);
    if (!status) {
        window = gen_window_make(&plan, &schedule);
        if (neff_path)
            status = gen_neff_write(&plan, neff_path, error);
        if (!status && ntff_path)
            status = gen_ntff_write(&plan, &schedule, &window, ntff_path, error);
        if (!status && (truth || options->row)) {
            struct nx_generated unused;

            gen_truth_make(&plan, &schedule, &window, truth ? truth : &unused);
        }
        gen_schedule_free(&schedule);
    }
    gen_plan_free(&plan);
    return status;
}

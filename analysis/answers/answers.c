/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/integer_answer.h"
#include "analysis/answers/answers.h"

#include "analysis/accuracy/attention_answer.h"
#include "analysis/accuracy/attention_judge.h"
#include "analysis/fit/fit_fields.h"
#include "analysis/fp64/bound_check.h"
#include "analysis/fp64/scheme_advice.h"
#include "analysis/fp64/scheme_search.h"
#include "analysis/identify/attention_search.h"
#include "analysis/identify/result_pair.h"
#include "analysis/identify/statistic_search.h"
#include "analysis/predict/row_sweep.h"
#include "analysis/sampling/attention_tolerance.h"
#include "analysis/sampling/advise.h"
#include "analysis/sampling/checked_result.h"
#include "analysis/sampling/judged.h"
#include "analysis/sampling/power.h"
#include "analysis/sampling/quantization_error.h"
#include "analysis/split/split_retention.h"
#include "emu/gemm.h"
#include "emu/gemm_fields.h"
#include "lib/base/table.h"
#include "lib/number/quantizer.h"

#include <stdio.h>

/* A struct of the public API, and an internal one. */
#define ANSWER(type, keys, what, fields)                                                 \
    {                                                                                    \
        #type, what, keys, fields, sizeof(struct type)                                   \
    }
#define INNER(type, keys, what, fields)                                                  \
    {                                                                                    \
        #type, what, keys, fields, 0                                                     \
    }

const struct record answers[] = {
    /* clang-format off */
    INNER(bound_result, "bound", "result of one bound", bound_fields),
    ANSWER(bitcut_difference, "verify", "part of D with differences", difference_fields),
    INNER(attention_answer, "attention", "an attention, its errors and its comparison", attention_fields),
    INNER(attention_bound_result, "attention.bounds", "a bound of attention, compared with the errors of O", attention_bound_fields),
    INNER(attention_part_line, "attention.budget.parts", "a part of the error budget of attention", attention_part_fields),
    INNER(attention_output_part, "attention.output.parts", "a part of the error of one output", attention_output_part_fields),
    ANSWER(bitcut_attention_errors, "attention.errors", "errors of O", attention_error_fields),
    ANSWER(bitcut_attention_explanation, "explain of attention", "what computed an O", attention_explain_fields),
    ANSWER(bitcut_explanation, "explain", "result of the search for what computed D", explain_fields),
    INNER(explanation, "explain", "the hypothesis that gives most of D", explain_best_fields),
    INNER(explanation, "explain", "the GEMMs of a batch", explain_batch_fields),
    ANSWER(bitcut_finding, "explain.findings", "what a check of D found", ladder_finding_fields),
    INNER(box, "explain.parts", "a region that differs", explain_part_fields),
    INNER(placed, "explain.equal", "another hypothesis that gives the sample", explain_equal_fields),
    INNER(bin, "explain.ulps", "outputs by their distance", explain_bin_fields),
    INNER(differing, "explain.differing", "an output that differs", differing_fields),
    INNER(distance, "explain.distances", "a recipe", explain_distance_fields),
    INNER(diagnosis, "explain.diagnosis", "what the error of D consists of", diagnosis_fields),
    INNER(diagnosed_fault, "explain.diagnosis.faults", "a fault", diagnosed_fault_fields),
    ANSWER(bitcut_result_pair, "explain of a pair", "comparison of two results", result_pair_fields),
    INNER(box, "explain of a pair.places", "a region in which two results differ", result_pair_place_fields),
    INNER(two, "explain of a pair.largest", "the largest distance", result_pair_largest_fields),
    INNER(statistic_answer, "explain of statistics", "the search for what gives published statistics", statistic_fields),
    INNER(statistic_pair, "explain of statistics.statistics", "a published statistic", statistic_pair_fields),
    ANSWER(bitcut_fit_report, "fit", "the rows that explain recorded sets", fit_fields),
    INNER(fitted, "fit.nearest", "the row that gives most outputs, if none gives all",
          fit_nearest_fields),
    INNER(fitted, "fit.next", "inputs that distinguish the surviving rows", fit_next_fields),
    INNER(bitcut_gemm, "a GEMM", "steps and operands other than A, B and C", gemm_operand_fields),
    INNER(bitcut_gemm, "operands of a GEMM.bias", "a bias", gemm_bias_fields),
    INNER(bitcut_gemm, "operands of a GEMM.scale_a", "factors of A", gemm_scale_a_fields),
    INNER(bitcut_gemm, "operands of a GEMM.scale_b", "factors of B", gemm_scale_b_fields),
    INNER(bitcut_gemm, "operands of a GEMM.clamp", "limits", gemm_clamp_fields),
    INNER(bitcut_gemm, "operands of a GEMM.sparse_a", "a sparse A", gemm_sparse_fields),
    INNER(judged, "gemm", "comparison of a result with the exact result", judged_fields),
    INNER(integer_answer, "gemm of integers", "outputs that are the exact integer", integer_gemm_fields),
    INNER(integer_answer, "verify of integers", "comparison of two results of integers", integer_verify_fields),
    INNER(fp64_answer, "gemm of FP64", "an FP64 GEMM by a scheme", fp64_gemm_fields),
    INNER(worst_inputs, "gemm of FP64.worst_inputs", "the search for the worst inputs", worst_inputs_fields),
    INNER(worst_inputs, "gemm of FP64.worst_inputs.causes", "the causes of the loss", worst_cause_fields),
    INNER(worst_range, "gemm of FP64.worst_inputs.ranges", "the loss for a range of exponents", worst_range_fields),
    INNER(edge_result, "gemm of FP64.worst_inputs.edge_cases", "a dot product at the ends of the range", edge_result_fields),
    INNER(bound_check, "bound of FP64", "the bound of an FP64 GEMM by a scheme", bound_check_fields),
    INNER(scheme_advice, "advise of FP64", "which scheme is accurate enough", scheme_advice_fields),
    INNER(scheme_trial, "advise of FP64.advice", "a recommended scheme", scheme_trial_fields),
    INNER(fp64_answer, "errors of FP64", "errors of an FP64 GEMM, beside all metrics", fp64_error_fields),
    INNER(scheme_explanation, "explain of FP64", "the scheme that computed a D in FP64", scheme_explain_fields),
    INNER(fp64_answer, "verify of FP64", "comparison of a D in FP64", fp64_verify_fields),
    ANSWER(bitcut_tolerances, "tolerance", "limits of a test", tolerance_fields),
    ANSWER(bitcut_tolerance_verdict, "tolerance.given", "verdict on a result by such limits",
           given_fields),
    INNER(quantization_error, "tolerance.quantization", "the error of quantized operands",
          quantization_fields),
    ANSWER(bitcut_quantization, "split of a quantizer", "what a quantizer keeps, measured",
           quantizer_kept_fields),
    INNER(quantized, "split of a quantized file", "what a quantizer keeps, of a file", quantizer_input_fields),
    INNER(quantized, "split of a quantizer", "what a quantizer keeps", quantizer_name_fields),
    INNER(split_retention, "split", "what a split retains", split_fields),
    INNER(split_retention, "split", "what a split retains, measured", split_measures),
    INNER(split_retention, "split", "elements without an exponent", split_specials),
    ANSWER(bitcut_attention_tolerances, "attention tolerance.limits", "limits of a test of attention", attention_tolerance_fields),
    ANSWER(bitcut_attention_verdict, "attention tolerance.given", "verdict on an O by such limits", attention_verdict_fields),
    INNER(attention_power, "attention tolerance.power", "how often a test of attention rejects a fault", attention_power_fields),
    INNER(attention_tolerance_answer, "attention tolerance", "limits of a test of attention", attention_test_fields),
    INNER(power_row, "tolerance.power", "how often tests with these limits reject faults", power_fields),
    ANSWER(bitcut_prediction, "predict", "what a library will compute", predict_fields),
    ANSWER(bitcut_predicted, "predict.computations", "one computation of a prediction", predicted_fields),
    INNER(sweep_range, "predict of a sweep", "numbers of rows for which no row is computed differently", sweep_range_fields),
    INNER(advise, "advise", "which recipe is accurate enough", advise_fields),
    ANSWER(bitcut_advice, "advise.advice", "a recommended recipe", advise_trial_fields),
    INNER(advise_trial, "advise.advice", "with quantized operands", advise_quantized_fields),
    INNER(advise_trial, "advise.advice", "with a D of fewer bits than f32", advise_short_fields),
    INNER(advise_values, "advise.values_a", "values of an operand", advise_values_fields),
    INNER(advise_retained, "advise.retained", "what splits retain of these values", advise_retained_fields),
    INNER(advise_scale, "advise.scales", "one choice of scale for the parts", advise_scale_fields),
    { 0 }
    /* clang-format on */
};

/* The struct with a table of fields. */
static const struct record *record_of(const struct record_field *fields)
{
    const struct record *r = answers;
    while (r->name && r->field != fields) r++;
    return r;
}

/* The type of a member in C. */
static void write_type(char *text, size_t size, const struct record_field *f)
{
    static const struct {
        const char *name;
        size_t each; /* bytes of an element of an array; 0: no array */
    } types[] = {
        [RECORD_FLAG] = { "bool", 0 },
        [RECORD_INT] = { "int", 0 },
        [RECORD_COUNT] = { "size_t", 0 },
        [RECORD_REAL] = { "double", 0 },
        [RECORD_NUMBER] = { "double", 0 },
        [RECORD_TEXT] = { "const char *", 0 },
        [RECORD_CHARS] = { "char", 1 },
        [RECORD_FLAGS] = { "bool", sizeof(bool) },
        [RECORD_COUNTS] = { "size_t", sizeof(size_t) },
        [RECORD_REALS] = { "double", sizeof(double) },
        [RECORD_ROW] = { "const void *", 0 },
    };
    if (f->kind == RECORD_STRUCTS) {
        const struct record *const r = record_of(f->of);
        snprintf(text, size, "struct %s[%zu]", r->name, f->bytes / r->bytes);
        return;
    }
    const size_t each = types[f->kind].each;
    if (each) snprintf(text, size, "%s[%zu]", types[f->kind].name, f->bytes / each);
    else snprintf(text, size, "%s", types[f->kind].name);
}

bool bitcut_struct_member(struct bitcut_field *member, size_t *offset, const char *name,
                          size_t index)
{
    const struct record *const r = table_find(TABLE(answers), name);
    for (const struct record_field *f = r && r->bytes ? r->field : NULL; f && f->name; f++) {
        if (!f->member || index--) continue;
        member->name = f->member;
        member->kind = BITCUT_TEXT;
        write_type(member->text, sizeof member->text, f);
        *offset = f->offset;
        return true;
    }
    return false;
}

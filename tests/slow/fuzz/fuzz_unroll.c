#include <string.h>

#include "models.h"
#include "unroll.h"

/* Unrolled soft backups and their derivatives: values stay within what utilities allow; a run is the
 * same however it is cut; and derivatives keep what holds of the function itself. Utilities and
 * alpha have one unit, gamma and tau come as a product only, and a constant utility moves every
 * value by itself and no policy. */

typedef struct {
  double *utility, *transition, *slope;
  double discount, alpha;
} gradient;

static gradient differentiate(const ibrc_unroll *planner, int n, const double *values,
                              const double *weights, const double *slope) {
  const ibrc_models *dynamics = planner->dynamics;
  const size_t S = (size_t)dynamics->n_states, pairs = S * (size_t)dynamics->n_actions;
  const size_t entries = (size_t)dynamics->row_start[pairs];
  gradient g = {.utility = doubles(pairs), .transition = doubles(entries), .slope = doubles(S)};
  memset(g.utility, 0, pairs * sizeof(double));
  memset(g.transition, 0, entries * sizeof(double));
  for (size_t s = 0; s < S; s++) g.slope[s] = slope ? slope[s] : 0.0;
  double *scratch = doubles(ibrc_unroll_doubles(planner));
  const ibrc_unroll_gradient out = {.utility = g.utility,
                                    .transition = g.transition,
                                    .discount = &g.discount,
                                    .alpha = &g.alpha};
  ibrc_unroll_reverse(planner, n, values, weights, scratch, g.slope, &out);
  free(scratch);
  return g;
}

static void free_gradient(gradient *g) {
  free(g->utility);
  free(g->transition);
  free(g->slope);
}

/* Sums, and of absolute values, so that what is lost to rounding has a measure. */
typedef struct {
  double sum, size;
} total;

static void add(total *t, double x) {
  t->sum += x;
  t->size += fabs(x);
}

/* Numbers that are no longer normal lose their digits. */
#define HARDLY 1e-300

static void must_be(total t, double wanted, double size, const char *what) {
  must(fabs(t.sum - wanted) <= 1e-9 * (t.size + fabs(wanted) + size) + HARDLY, what);
}

/* What is differentiated is `objective`, of weight `mass` on values. Terms that cancel are up to `size`, and
 * up to `steep` where they are derivatives by values. */
static void check_gradient(const ibrc_unroll *planner, int n, const gradient *g, double objective,
                           double mass, double size, double steep) {
  const ibrc_models *dynamics = planner->dynamics;
  const size_t S = (size_t)dynamics->n_states, pairs = S * (size_t)dynamics->n_actions;
  total constant = {0.0, 0.0}, unit = {0.0, 0.0}, product = {0.0, 0.0}, first = {0.0, 0.0};
  double later = 0.0, power = 1.0;
  for (int k = 0; k < n; k++, power *= planner->discount) later += power;
  for (size_t i = 0; i < pairs; i++) {
    add(&constant, g->utility[i]);
    add(&unit, planner->utility[i] * g->utility[i]);
  }
  add(&unit, planner->alpha.value * g->alpha);
  for (int i = 0; i < dynamics->row_start[pairs]; i++) {
    add(&product, dynamics->chance[i] * g->transition[i]);
  }
  for (size_t s = 0; s < S; s++) add(&first, g->slope[s]);
  must_be(constant, mass * later, steep, "a constant utility moves values alone");
  must_be(unit, objective, size, "utility and alpha have one unit");
  must_be(product, planner->discount * g->discount, size, "discount and chances are a product");
  must_be(first, mass * power, steep, "what comes later is discounted");
}

static void check(const ibrc_unroll *planner, int n, const double *weights, const double *slope) {
  const ibrc_models *dynamics = planner->dynamics;
  const size_t S = (size_t)dynamics->n_states, U = (size_t)dynamics->n_actions;
  double *values = doubles(S * ((size_t)n + 1)), *action_value = doubles(S * U);
  double *again = doubles(S * ((size_t)n + 1)), *same = doubles(S * U);
  double most = 0.0, bound = 0.0, mass = 0.0, objective = 0.0, heavy = 0.0;
  for (size_t i = 0; i < S * U; i++) most = fmax(most, fabs(planner->utility[i]));
  memset(values, 0, S * sizeof(double));
  memset(again, 0, S * sizeof(double));
  ibrc_unroll_forward(planner, n, values, action_value);
  const int cut = n / 2;
  if (cut) ibrc_unroll_forward(planner, cut, again, same);
  ibrc_unroll_forward(planner, n - cut, again + (size_t)cut * S, same);
  must(memcmp(values, again, S * ((size_t)n + 1) * sizeof(double)) == 0, "cut, the same values");
  must(memcmp(action_value, same, S * U * sizeof(double)) == 0, "cut, the same action values");
  for (int k = 1; k <= n; k++) {
    bound = most + planner->discount * bound;
    for (size_t s = 0; s < S; s++) {
      must(fabs(values[(size_t)k * S + s]) <= bound * (1.0 + 1e-9) + HARDLY, "no value beyond utilities");
    }
  }
  for (size_t s = 0; s < S; s++) {
    mass += slope[s];
    objective += slope[s] * values[(size_t)n * S + s];
  }
  gradient g = differentiate(planner, n, values, NULL, slope);
  for (size_t i = 0; i < S * U; i++) must(g.utility[i] >= 0.0, "more utility, more value");
  check_gradient(planner, n, &g, objective, mass, bound, mass);
  free_gradient(&g);
  for (size_t i = 0; i < S * U; i++) heavy += fabs(weights[i]);
  g = differentiate(planner, n, values, weights, NULL);
  const double steep = heavy * planner->alpha.inverse;
  check_gradient(planner, n, &g, 0.0, 0.0, heavy + bound * steep, steep);
  free_gradient(&g);
  free(values);
  free(action_value);
  free(again);
  free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 5), U = take_int(&in, 1, 4), n = take_int(&in, 1, 12);
  ibrc_models dynamics = take_seen_models(&in, S, U, 1);
  const size_t pairs = (size_t)S * (size_t)U;
  double *utility = doubles(pairs), *weights = doubles(pairs), *slope = doubles((size_t)S);
  double *prior = doubles((size_t)U);
  for (int u = 0; u < U; u++) prior[u] = 1.0 / U;
  for (size_t i = 0; i < pairs; i++) {
    utility[i] = take_double(&in);
    weights[i] = 4.0 * take_share(&in) - 2.0;
  }
  take_law(&in, slope, S, 1);
  const ibrc_unroll planner = {.dynamics = &dynamics,
                               .utility = utility,
                               .prior = prior,
                               .discount = 0.999 * take_share(&in),
                               .alpha = ibrc_temperature_from(1e-3 + fabs(take_double(&in)))};
  check(&planner, n, weights, slope);
  free(utility);
  free(weights);
  free(slope);
  free(prior);
  free_models(&dynamics);
  return 0;
}

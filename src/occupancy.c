#include "occupancy.h"

#include <math.h>

#include "krylov.h"

size_t ibrc_occupancy_doubles(const ibrc_process *process) {
  const size_t n = ibrc_process_size(process);
  return 2 * n + ibrc_krylov_doubles((int)n);
}

/* x - gamma P' x */
static void apply_forward(const void *context, const double *x, double *y) {
  const ibrc_process *process = context;
  ibrc_process_push(process, x, y);
  const int n = (int)ibrc_process_size(process);
  for (int i = 0; i < n; i++) y[i] = x[i] - process->discount * y[i];
}

ibrc_code ibrc_occupancy(const ibrc_process *process, const double *start, double tolerance,
                         int max_cycles, ibrc_pause pause, double *scratch, double *occupancy) {
  const int n = (int)ibrc_process_size(process);
  const double gamma = process->discount;
  double *next = scratch, *correction = scratch + n, *krylov = correction + n;
  const ibrc_linear_system system = {
      .apply = apply_forward, .context = process, .n = n, .pause = pause};

  for (int i = 0; i < n; i++) occupancy[i] = start[i];
  for (int cycle = 0; cycle < max_cycles; cycle++) {
    /* One recursion: keeps a distribution a distribution. */
    ibrc_process_push(process, occupancy, next);
    double moved = 0.0;
    for (int i = 0; i < n; i++) {
      next[i] = (1.0 - gamma) * start[i] + gamma * next[i];
      moved += fabs(next[i] - occupancy[i]);
    }
    if (!isfinite(moved)) return IBRC_NOT_FINITE;
    if (moved <= tolerance) {
      for (int i = 0; i < n; i++) occupancy[i] = next[i];
      return IBRC_OK;
    }
    /* Then a correction, with what rounding put below 0 taken off. */
    for (int i = 0; i < n; i++) next[i] -= occupancy[i];
    ibrc_krylov_solve(&system, next, 1e-10, krylov, correction);
    double mass = 0.0;
    for (int i = 0; i < n; i++) {
      occupancy[i] = fmax(0.0, occupancy[i] + correction[i]);
      mass += occupancy[i];
    }
    for (int i = 0; i < n; i++) occupancy[i] /= mass;
  }
  return IBRC_NOT_CONVERGED;
}

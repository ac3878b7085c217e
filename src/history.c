#include "history.h"

#include <stdint.h>

/* Visits between two pauses: some hundredths of a second. */
#define VISITS_AT_ONCE 262144

size_t ibrc_history_slots(int n_visits) {
  size_t slots = 16;
  while (slots < 2 * (size_t)n_visits) slots *= 2;
  return slots;
}

static size_t mix(int parent, int action, int observation) {
  uint64_t h = (uint64_t)(uint32_t)parent * 0x9E3779B97F4A7C15u;
  h ^= ((uint64_t)(uint32_t)action << 32 | (uint32_t)(observation + 1)) * 0xC2B2AE3D27D4EB4Fu;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9u;
  return (size_t)(h ^ (h >> 32));
}

static int begins(const ibrc_visits *visits, int v) {
  return v == 0 || visits->trajectory[v] != visits->trajectory[v - 1];
}

/* A root for each start that occurs. Returns how many. */
static int find_roots(const ibrc_visits *visits, int *root) {
  int n_roots = 0;
  for (int i = 0; i < visits->n_starts; i++) root[i] = -1;
  for (int v = 0; v < visits->n_visits; v++) {
    if (begins(visits, v)) root[visits->start[v]] = 0;
  }
  for (int i = 0; i < visits->n_starts; i++) {
    if (root[i] == 0) root[i] = n_roots++;
  }
  return n_roots;
}

/* Open addressing: a slot holds a history's number plus one, or 0. */
int ibrc_history_build(const ibrc_visits *visits, int *slot, int *root, int *history, int *parent,
                       int *action, int *observation) {
  const size_t n_slots = ibrc_history_slots(visits->n_visits);
  for (size_t i = 0; i < n_slots; i++) slot[i] = 0;
  int n_histories = find_roots(visits, root);
  for (int h = 0; h < n_histories; h++) parent[h] = action[h] = observation[h] = -1;

  for (int v = 0; v < visits->n_visits; v++) {
    if (v % VISITS_AT_ONCE == 0) ibrc_ask(visits->pause);
    if (begins(visits, v)) {
      history[v] = root[visits->start[v]];
      continue;
    }
    const int from = history[v - 1], u = visits->action[v - 1], x = visits->observation[v - 1];
    size_t i = mix(from, u, x) & (n_slots - 1);
    for (;; i = (i + 1) & (n_slots - 1)) {
      const int found = slot[i] - 1;
      if (found < 0) {
        parent[n_histories] = from;
        action[n_histories] = u;
        observation[n_histories] = x;
        history[v] = n_histories++;
        slot[i] = n_histories;
        break;
      }
      if (parent[found] == from && action[found] == u && observation[found] == x) {
        history[v] = found;
        break;
      }
    }
  }
  return n_histories;
}

void ibrc_history_link(int n_histories, const int *parent, int *first_child, int *next_sibling) {
  for (int h = 0; h < n_histories; h++) first_child[h] = next_sibling[h] = -1;
  for (int h = n_histories - 1; h >= 0; h--) {
    if (parent[h] < 0) continue;
    next_sibling[h] = first_child[parent[h]];
    first_child[parent[h]] = h;
  }
}

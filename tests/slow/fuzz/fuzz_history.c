#include "history.h"
#include "input.h"

/* The tree of histories: one root per start, parents come before their children, no two histories are the
 * same child, every visit stands at the history its trajectory has come by, and visits
 * with equal beginnings share it. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int U = take_int(&in, 1, 4), X = take_int(&in, 1, 4), n = take_int(&in, 1, 200);
  const size_t room = (size_t)n;
  int *trajectory = ints(room), *action = ints(room), *observation = ints(room), *start = ints(room);
  int root[4];
  int *slot = ints(ibrc_history_slots(n)), *history = ints(room);
  int *parent = ints(room), *by = ints(room), *seen = ints(room);
  int number = 0;
  for (int v = 0; v < n; v++) {
    const unsigned kind = take(&in);
    if (kind < 64) number++;
    trajectory[v] = number;
    start[v] = v == 0 || kind < 64 ? take_int(&in, 0, 3) : start[v - 1];
    action[v] = take_int(&in, 0, U - 1);
    if (kind % 7 == 0) action[v] = IBRC_NO_ACTION;
    observation[v] = kind % 5 == 0 ? -1 : take_int(&in, 0, X - 1);
  }
  ibrc_visits visits = {.n_visits = n,
                        .n_actions = U,
                        .n_starts = 4,
                        .start = start,
                        .trajectory = trajectory,
                        .action = action,
                        .observation = observation};
  const int H = ibrc_history_build(&visits, slot, root, history, parent, by, seen);
  must(H >= 1 && H <= n, "no more histories than visits");
  int n_roots = 0;
  for (int i = 0; i < 4; i++) {
    if (root[i] >= 0) must(root[i] == n_roots++, "roots in the order of their starts");
  }
  must(n_roots >= 1, "a root");
  for (int h = 0; h < n_roots; h++) {
    must(parent[h] == -1 && by[h] == -1 && seen[h] == -1, "the roots");
  }
  for (int h = n_roots; h < H; h++) {
    must(parent[h] >= 0 && parent[h] < h, "parents first");
    must(by[h] >= -1 && by[h] < U && seen[h] >= -1 && seen[h] < X, "what led here");
    for (int other = n_roots; other < h; other++) {
      must(parent[h] != parent[other] || by[h] != by[other] || seen[h] != seen[other],
           "each history once");
    }
  }
  for (int v = 0; v < n; v++) {
    if (v == 0 || trajectory[v] != trajectory[v - 1]) {
      must(history[v] == root[start[v]], "a trajectory starts at its root");
      continue;
    }
    const int h = history[v];
    must(h >= n_roots && h < H, "a visit stands at a history");
    must(parent[h] == history[v - 1] && by[h] == action[v - 1] && seen[h] == observation[v - 1],
         "that of its own past");
  }
  free(trajectory);
  free(start);
  free(action);
  free(observation);
  free(slot);
  free(history);
  free(parent);
  free(by);
  free(seen);
  return 0;
}

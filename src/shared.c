#include "shared.h"

size_t ibrc_shared_ints(int members, int visits) {
  return 2 * (size_t)members + 8 * (size_t)visits + 3;
}

ibrc_shared ibrc_shared_new(int members, int visits, int *space) {
  const size_t m = (size_t)members, v = (size_t)visits;
  ibrc_shared s = {.visit = space};
  s.carried = s.visit + v + 1;
  s.from = s.carried + v + 1;
  s.done = s.from + v;
  s.seen = s.done + v;
  s.node = s.seen + v;
  s.next = s.node + v;
  s.first_child = s.next + v; /* one more, of those at first visits */
  s.order = s.first_child + v + 1;
  s.at = s.order + m;
  return s;
}

static int length_of(const ibrc_rnn_data *data, int i) { return data->first[i + 1] - data->first[i]; }

/* The longest first, others as they come. */
static void put_in_order(const ibrc_rnn_data *data, const int *which, int members, int *order) {
  for (int i = 0; i < members; i++) {
    int at = i;
    for (; at > 0 && length_of(data, order[at - 1]) < length_of(data, which[i]); at--) {
      order[at] = order[at - 1];
    }
    order[at] = which[i];
  }
}

/* The node after carrier `from` by these inputs, made if there is none yet. */
static int find_node(ibrc_shared *s, int from, int done, int seen) {
  int *first = &s->first_child[from + 1];
  int node = *first;
  while (node >= 0 && (s->done[node] != done || s->seen[node] != seen)) node = s->next[node];
  if (node >= 0) return node;
  node = s->n_nodes++;
  s->from[node] = from;
  s->done[node] = done;
  s->seen[node] = seen;
  s->next[node] = *first;
  *first = node;
  return node;
}

void ibrc_shared_build(ibrc_shared *s, const ibrc_rnn_data *data, const int *which, int members) {
  put_in_order(data, which, members, s->order);
  for (int m = 0, place = 0; m < members; m++) {
    s->at[m] = place;
    place += length_of(data, s->order[m]);
  }
  s->n_visits = s->n_nodes = s->n_carriers = 0;
  s->first_child[0] = -1;
  for (int t = 0, there = members; there > 0; t++) {
    s->visit[t] = s->n_nodes;
    s->n_visits = t + 1;
    for (int m = 0; m < there; m++) {
      const int visit = data->first[s->order[m]] + t, place = s->at[m] + t;
      /* Where the visit before is among its visit's nodes, it is among the carriers. */
      const int from = t == 0 ? -1 : s->node[place - 1] - s->visit[t - 1] + s->carried[t - 1];
      s->node[place] = find_node(s, from, data->done[visit], data->seen[visit]);
    }
    s->carried[t] = s->n_carriers;
    /* A node is made by the longest that come to it: those that go on, by who goes on. */
    while (there > 0 && length_of(data, s->order[there - 1]) <= t + 1) there--;
    int last = s->visit[t] - 1;
    for (int m = 0; m < there; m++) {
      const int node = s->node[s->at[m] + t];
      last = node > last ? node : last;
    }
    const int first_new = s->n_carriers;
    s->n_carriers += last + 1 - s->visit[t];
    for (int c = first_new; c < s->n_carriers; c++) s->first_child[c + 1] = -1;
  }
  s->visit[s->n_visits] = s->n_nodes;
  s->carried[s->n_visits] = s->n_carriers;
}

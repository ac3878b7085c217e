#ifndef IBRC_PAUSE_H
#define IBRC_PAUSE_H

/* Long work asks between its parts, outside of parallel regions, whether to go on. The function
 * that
 * it calls may not return: then the caller of the kernel goes on, and frees what it gave. So a
 * kernel holds nothing of its own while it asks. NULL: nobody listens. */
typedef void (*ibrc_pause)(void);

static inline void ibrc_ask(ibrc_pause pause) {
  if (pause) pause();
}

#endif

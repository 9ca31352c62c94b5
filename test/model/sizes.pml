/*
 * How much of everything there is: as little as shows every order of events, or (REPLAY) as much as a recorded trace has.
 */
#ifndef REPLAY
#define EXECUTIONS 2
#define EXECUTION_BITS 1
#define JOBS_MAX 2
#define JOB_BITS 2
#define FENCE_BITS 4
#define TOKEN_BITS 3
#define CHUNK_BITS 2
#define CHUNKS byte
#define SOURCES 3
#define SOURCE_BITS 2
/* No number of a job: readers see no set. 0 is the set that was registered before the model begins. */
#define NOTHING 3
#define NO_SOURCE 3
/* The newest job is the one with the highest fence, as in store/job; 0 where there is none. */
#define newest (jobs[2].fence > jobs[1].fence -> 2 : (inserted > 0 -> 1 : 0))
#define hasOpenJob ((inserted >= 1 && isOpen(1)) || (inserted >= 2 && isOpen(2)))
#define hasTwoOpenJobs (inserted == 2 && isOpen(1) && isOpen(2))
#define isFenceUsed(f) (jobs[0].fence == (f) || jobs[1].fence == (f) || jobs[2].fence == (f))
#define wholeOf(j) BOTH
#define DELETE_PLAN BOTH
#else
#define EXECUTIONS 30
#define EXECUTION_BITS 5
#define JOBS_MAX 30
#define JOB_BITS 5
#define FENCE_BITS 16
#define TOKEN_BITS 8
#define CHUNK_BITS 31
#define CHUNKS int
#define SOURCES 8
#define SOURCE_BITS 4
#define NOTHING 31
#define NO_SOURCE 15
/* `insert` lets no job in that is not the newest, and none beside an open one: so the last one is both. */
#define newest inserted
#define hasOpenJob (inserted > 0 && isOpen(inserted))
#define hasTwoOpenJobs (inserted > 1 && isOpen(inserted) && isOpen(inserted - 1))
#define isFenceUsed(f) (jobs[inserted].fence >= (f))
#define wholeOf(j) jobs[j].whole
#define DELETE_PLAN planMask
#define chunk my.todo
int planMask;
#endif

/* The chunks in whose range a slot has rows of this source, of others, and of any. */
#define rowsOf(s, source) slots[s].from[source]
#define unlessOf(s, source, other) ((source) == (other) -> 0 : slots[s].from[other])
#ifndef REPLAY
#define foreignRows(s, source) (unlessOf(s, source, 0) | unlessOf(s, source, 1) | unlessOf(s, source, 2))
#define anyRows(s) (slots[s].from[0] | slots[s].from[1] | slots[s].from[2])
#else
#define foreignRows(s, source) \
  (unlessOf(s, source, 0) | unlessOf(s, source, 1) | unlessOf(s, source, 2) | unlessOf(s, source, 3) | \
   unlessOf(s, source, 4) | unlessOf(s, source, 5) | unlessOf(s, source, 6) | unlessOf(s, source, 7))
#define anyRows(s) \
  (slots[s].from[0] | slots[s].from[1] | slots[s].from[2] | slots[s].from[3] | \
   slots[s].from[4] | slots[s].from[5] | slots[s].from[6] | slots[s].from[7])
#endif

#define drop(s, source, chunks) slots[s].from[source] = slots[s].from[source] & ~(chunks)
#ifndef REPLAY
#define dropRows(s, chunks) drop(s, 0, chunks); drop(s, 1, chunks); drop(s, 2, chunks)
#else
#define dropRows(s, chunks) \
  drop(s, 0, chunks); drop(s, 1, chunks); drop(s, 2, chunks); drop(s, 3, chunks); \
  drop(s, 4, chunks); drop(s, 5, chunks); drop(s, 6, chunks); drop(s, 7, chunks)
#endif

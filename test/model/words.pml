/*
 * Words and state of the model. One slice; two executions, A and B (0 and 1); A has two lanes, B one; one zombie.
 * Everything a store keeps is global, so a crash loses nothing but a process's place in its own program.
 */
#define A 0
#define B 1
#define ZOMBIE 2 /* the run whose task was given up on by the engine and goes on by itself */
#define LANES 3 /* workers 0 and 1 are A's lanes, with a chunk each; 2 is B's only lane, with both chunks in turn */
#define STRAY 3 /* the worker that was given up on: a zombie, a duplicate, a sibling of a failed Map */
#define WORKERS 4
#define JOBS_MAX 2
#define BOTH 3 /* chunks are bits: the slice has two, to delete and to register */

/* Sources are bits as well: a chunk's rows are the set of the sources that rows in its range came from. */
#define OLD 1
#define FIRST 2
#define OTHER 4

/* state */
#define DELETING 1
#define DELETED 2
#define REGISTERING 3
#define REGISTERED 4

/* phase, and the state in which its chunks may write */
#define DELETE 0
#define REGISTER 1
#define STATE_OF(phase) ((phase) == DELETE -> DELETING : REGISTERING)

/* step of a chunk worker */
#define IDLE 0
#define VERIFY 1 /* the lock */
#define GUARD 2 /* begin, job row for share */
#define COMMIT 3 /* in the transaction: mark, rows, commit */
#define MARK 4 /* of a mutant only */

/* outcome of a task or a lane */
#define NONE 0
#define DONE 1
#define LOST 2 /* LockLost */
#define STALE 3 /* StaleFence, Superseded, and every failure that ends in HaltJob */
#define NOT_EMPTY 4
#define CREATE 5

/* tasks a zombie may be of */
#define ACQUIRE 1
#define OPEN 2
#define PLAN 3
#define MARK_DELETED 4
#define BEGIN 5
#define MARK_REGISTERED 6
#define HALT 7
#define RELEASE 8

typedef Job {
  unsigned state : 3;
  unsigned fence : 4;
  unsigned token : 3;
  unsigned execution : 1;
  unsigned source : 3;
  bit halted;
  bit closed;
  /* the ledger: which chunks are planned and marked */
  unsigned planned : 2;
  unsigned deleteMarks : 2;
  unsigned registerMarks : 2;
  /* what no program knows: which chunks really took effect */
  unsigned deleteEffects : 2;
  unsigned registerEffects : 2
}

/* What an execution carries from task to task. */
typedef Run {
  unsigned token : 3;
  unsigned job : 2;
  unsigned fence : 4;
  unsigned headJob : 2;
  unsigned headFence : 4;
  unsigned seen : 2; /* a job read before the row was taken */
  bit seenOpen;
  unsigned nextFence : 4; /* OpenJob: the fence of the row it is about to insert */
  bit seenRows; /* PlanDelete walks the slice before it takes the row */
  bit listed; /* the chunk numbers of its plan are still in the ledger */
  bit held; /* lock.held */
  bit mapping
}

typedef Attempt {
  unsigned step : 3;
  unsigned execution : 1;
  unsigned token : 3;
  unsigned job : 2;
  unsigned fence : 4;
  unsigned phase : 1;
  unsigned todo : 2; /* the chunks of its item that it has not been through */
  unsigned outcome : 2;
  bit listed;
  bit held;
  bit shutOut /* the lock of its failed run was released */
}

/* MySQL */
Job jobs[JOBS_MAX + 1]; /* from 1, in the order of their insertion */
unsigned inserted : 2;
byte rows[2];

/* Valkey: the token, 0 where the key does not exist */
unsigned lock : 3;
unsigned holder : 3; /* who acquired it last and has not lost it: what the lock should be */

Run runs[3];
Attempt workers[WORKERS];
unsigned zombie : 4; /* the task it is of */
unsigned strayOf : 1; /* the execution it is of */
byte sources[2];
bit begun; /* A has acquired the lock: B may start */

/* The newest job is the one with the highest fence, as in store/job.ts and in the readers' view; 0 where there is none. */
#define newest (jobs[2].fence > jobs[1].fence -> 2 : (inserted > 0 -> 1 : 0))
#define isOpen(j) (jobs[j].state != REGISTERED && !jobs[j].closed)
#define isEmpty (rows[0] == 0 && rows[1] == 0)
#define hasOpenJob ((inserted >= 1 && isOpen(1)) || (inserted >= 2 && isOpen(2)))
#define hasTwoOpenJobs (inserted == 2 && isOpen(1) && isOpen(2))
#define isFenceUsed(f) (jobs[1].fence == (f) || jobs[2].fence == (f))

/* An invariant's number travels in the assertion's text: that is how the runner names what a mutant breaks. */
#define INVARIANT(number, condition) assert(number > 0 && (condition))
#define SANE 9 /* not one of the six: the end of a job is what it should be */

/* A place that must be reachable: the runner asks for it and expects a counter-example. */
#ifndef REACH
#define REACH 0
#endif
#define REACHED(place) assert(REACH != place)
#define REACH_REGISTERED_BY_A 1
#define REACH_REGISTERED_BY_B 2
#define REACH_RESUMED 3
#define REACH_TAKEN_OVER 4
#define REACH_SUPERSEDING 5
#define REACH_SUPERSEDED 6
#define REACH_STALE 7
#define REACH_SKIPPED 8
#define REACH_HALTED_MID_CHUNK 9
#define REACH_STATUS_EVENT 10
#define REACH_REACQUIRED 11
#define REACH_PLANNED_AGAIN 12
#define REACH_DUPLICATE_KEY 13
#define REACH_REFUSED 14
#define REACH_INSERT_TOO_LATE 15
#define UNASKED 99

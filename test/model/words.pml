/*
 * Words and state of the model. One slice; two executions, A and B; A has two lanes, B one; one zombie.
 * Everything a store keeps is global, so a crash loses nothing but a process's place in its own program.
 */
#define A 0
#define B 1
#define ZOMBIE EXECUTIONS /* the run whose task was given up on by the engine and goes on by itself */
#define LANES 3 /* workers 0 and 1 are A's lanes, with a chunk each; 2 is B's only lane, with both chunks in turn */
#define STRAY 3 /* the worker that was given up on: a zombie, a duplicate, a sibling of a failed Map */
#define WORKERS 4
#define BOTH 3 /* chunks are bits: the slice has two, to delete and to register */
#include "sizes.pml"

/* Sources. Of each a slot has the chunks in whose range its rows lie. */
#define OLD 0
#define FIRST 1
#define OTHER 2


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
#define READY 1 /* before the guard */
#define WRITING 2 /* between guard and commit */
#define MARK 3 /* of a mutant only */

/* outcome of a task */
#define NONE 0
#define DONE 1
#define STALE 2 /* StaleFence, Superseded, and every failure that ends in HaltJob */
#define NOT_EMPTY 3
#define CREATE 4

/* Tasks a zombie may be of. STRAY_TASKS says which in one check, as a set: of all at once there are too many states. */
#define ACQUIRE 1
#define OPEN 2
#define PLAN 4
#define MARK_DELETED 8
#define BEGIN 16
#define MARK_REGISTERED 32
#define REUSE 64
#define HALT 128
#define RELEASE 256
#define HALT_RELEASE 384
#define OPENING_TASKS 3
#define TRANSITION_TASKS 124
#define ENDING_TASKS 384

typedef Job {
  unsigned state : 3;
  unsigned fence : FENCE_BITS;
  unsigned token : TOKEN_BITS;
  unsigned execution : EXECUTION_BITS;
  unsigned source : SOURCE_BITS;
  bit slot; /* where it writes, decided when it is opened */
  bit reuses; /* its slot held the wanted set when it was opened */
  bit halted;
  bit closed;
  /* the ledger: which chunks are planned and marked */
  unsigned planned : CHUNK_BITS;
  unsigned deleteMarks : CHUNK_BITS;
  unsigned registerMarks : CHUNK_BITS;
  /* what no program knows: which chunks really took effect */
  unsigned deleteEffects : CHUNK_BITS;
  unsigned registerEffects : CHUNK_BITS
#ifdef REPLAY
  ; int whole /* the chunks of its file */
#endif
}

/* What an execution carries from task to task. */
typedef Run {
  unsigned token : TOKEN_BITS;
  unsigned job : JOB_BITS;
  unsigned fence : FENCE_BITS;
  unsigned headJob : JOB_BITS;
  unsigned headFence : FENCE_BITS;
  unsigned nextFence : FENCE_BITS; /* OpenJob: the fence of the row it is about to insert, and its slot */
  bit nextSlot;
  bit seenRows; /* PlanDelete walks the slot, MarkRegistered and ReuseSet count it, before they take the row */
  bit mapping;
  bit withdrawnSince /* what no program knows: the set was taken from the readers since this run read the head */
}

/* One run of a lane's item. */
typedef Attempt {
  unsigned step : 2;
  unsigned execution : EXECUTION_BITS;
  unsigned token : TOKEN_BITS;
  unsigned job : JOB_BITS;
  unsigned fence : FENCE_BITS;
  unsigned phase : 1;
  unsigned todo : CHUNK_BITS; /* the chunks of its item that it has not been through */
  bit listed; /* their numbers are still in the ledger */
  bit shutOut; /* the lock of its failed run was released */
  bit done
}

/* One of the two places of the slice. */
typedef Slot {
  CHUNKS from[SOURCES]; /* by source, the chunks in whose range its rows lie */
  unsigned kept : SOURCE_BITS /* the source of its last job, where that is REGISTERED */
}

/* MySQL */
Job jobs[JOBS_MAX + 1]; /* from 1, in the order of their insertion; 0 is the one before the model begins */
unsigned inserted : JOB_BITS;
Slot slots[2];
unsigned shown : JOB_BITS; /* active_set: whose set readers see */
bit isReadLocked; /* a reader holds active_set's row */
bit hasSet; /* what no program knows: readers were shown a set, and nobody withdrew it */

/* Valkey: the token, 0 where the key does not exist */
unsigned lock : TOKEN_BITS;
unsigned holder : TOKEN_BITS; /* who acquired it last and has not lost it: what the lock should be */

Run runs[EXECUTIONS + 1];
Attempt workers[WORKERS];
short zombie; /* the task it is of */
unsigned strayOf : EXECUTION_BITS; /* the execution it is of */
byte sources[EXECUTIONS];
bit ended[EXECUTIONS]; /* the execution is over, as its status event said: no OpenJob of it may commit any more */
bit begun; /* A has begun: B may */

#define isOpen(j) (jobs[j].state != REGISTERED && !jobs[j].closed)
#define slotOf(j) jobs[j].slot
#define isEmpty(j) (anyRows(slotOf(j)) == 0)
#define isExact(j) (rowsOf(slotOf(j), jobs[j].source) == wholeOf(j) && foreignRows(slotOf(j), jobs[j].source) == 0)
/*
 * The guard of every write: this job, under this fence, in this state, and opened by this acquisition. The token tells two
 * runs apart that hold one job number and one fence, which a failover that lost an OpenJob's commit may cause.
 */
#ifdef MUTANT_TOKEN_NOT_COMPARED
#define isAcquisitions(j, token_) true
#else
#define isAcquisitions(j, token_) (jobs[j].token == (token_))
#endif
#define isUnder(j, fence_, state_) (jobs[j].fence == (fence_) && jobs[j].state == (state_) && !jobs[j].closed)
#define fits(j, fence_, state_, token_) (isUnder(j, fence_, state_) && isAcquisitions(j, token_))

/* An invariant's number travels in the assertion's text: that is how the runner names what a mutant breaks. */
#define INVARIANT(number, condition) assert(number > 0 && (condition))
#define ENDED 14 /* the model's own number: an execution that was said to be over opens no job, and leaves none open */
#define READERS 9
#define WITHDRAWN 15 /* the model's own number: a run that began before a withdrawal opens no job after it */

/*
 * A place that the search must come to, or the model would hold for want of anything happening: told once, by the checker
 * itself, outside the state. The runner has the list of names.
 */
#ifdef REPLAY
#define REACHED(place) skip
#else
c_code {
  static int places_told[32];
  static void tell_place(int place) {
    if (places_told[place]++ == 0) printf("reached %d\n", place);
  }
}
#define REACHED(place) c_code { tell_place(place); }
#endif
#define REGISTERED_AT_LAST 1
#define STALE_FENCE 2
#define SKIPPED 3
#define RESUMED 4
#define TAKEN_OVER 5
#define SUPERSEDING 6
#define SUPERSEDED 7
#define JOB_OPEN 8
#define DUPLICATE_KEY 9
#define INSERTED_TOO_LATE 10
#define CAME_BACK 11
#define PLANNED_AGAIN 12
#define SLICE_NOT_EMPTY 13
#define HALTED_WITH_SIBLINGS 14
#define STATUS_EVENT 15
#define ENDED_FIRST 16
#define COMMIT_LOST 17
#define LOCKED_READING 18
#define TORN_AND_KNOWN 19
#define WITHDRAWN_SET 20
#define REUSED 21
#define NOT_WHOLE 22

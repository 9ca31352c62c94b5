/*
 * Words and state of the model. One slice; two executions, A and B; A has two lanes, B one; one zombie.
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

/* Sources are bits as well: the rows in a chunk's range are the set of the sources they came from. */
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
#define HALT 64
#define RELEASE 128
#define HALT_RELEASE 192
#define OPENING_TASKS 3
#define TRANSITION_TASKS 60
#define ENDING_TASKS 192

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
  unsigned nextFence : 4; /* OpenJob: the fence of the row it is about to insert */
  bit seenRows; /* PlanDelete walks the slice, and MarkRegistered counts it, before it takes the row */
  bit mapping
}

/* One run of a lane's item. */
typedef Attempt {
  unsigned step : 2;
  unsigned execution : 1;
  unsigned token : 3;
  unsigned job : 2;
  unsigned fence : 4;
  unsigned phase : 1;
  unsigned todo : 2; /* the chunks of its item that it has not been through */
  bit listed; /* their numbers are still in the ledger */
  bit shutOut; /* the lock of its failed run was released */
  bit done
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
byte zombie; /* the task it is of */
unsigned strayOf : 1; /* the execution it is of */
byte sources[2];
bit ended[2]; /* the execution is over, as its status event said: no OpenJob of it may commit any more */
bit begun; /* A has begun: B may */

/* The newest job is the one with the highest fence, as in store/job.ts and in the readers' view; 0 where there is none. */
#define newest (jobs[2].fence > jobs[1].fence -> 2 : (inserted > 0 -> 1 : 0))
#define isOpen(j) (jobs[j].state != REGISTERED && !jobs[j].closed)
#define isEmpty (rows[0] == 0 && rows[1] == 0)
#define isExact(j) (rows[0] == jobs[j].source && rows[1] == jobs[j].source)
#define hasOpenJob ((inserted >= 1 && isOpen(1)) || (inserted >= 2 && isOpen(2)))
#define hasTwoOpenJobs (inserted == 2 && isOpen(1) && isOpen(2))
#define isFenceUsed(f) (jobs[1].fence == (f) || jobs[2].fence == (f))
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
#define READERS 9 /* the readers' promise: a slice whose newest job is REGISTERED holds exactly that job's rows */

/*
 * A place that the search must come to, or the model would hold for want of anything happening: told once, by the checker
 * itself, outside the state. The runner has the list of names.
 */
c_code {
  static int places_told[32];
  static void tell_place(int place) {
    if (places_told[place]++ == 0) printf("reached %d\n", place);
  }
}
#define REACHED(place) c_code { tell_place(place); }
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

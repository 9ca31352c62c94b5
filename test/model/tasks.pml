/*
 * The single-step tasks: functions/job/{open-job,transitions,halt-job}.ts. `r` is the run that calls: an execution or
 * the zombie. What is one transaction is one step here.
 * Each transaction holds the job row exclusively, so it waits (`!isShared`) for chunks in flight; a worker that stays
 * in its transaction is killed by the raise, which here is its own "transaction lost", possible at any moment.
 */

inline issue(r, j, execution_) {
  INVARIANT(ENDED, !ended[execution_]);
  jobs[j].token = r.token;
  jobs[j].execution = execution_;
  jobs[j].halted = 0;
  target = j;
  outcome = DONE
}

/*
 * The two unique keys: one open job, and (slice, fence). They do not suffice: while this transaction was between its
 * read and its insert, another job may have been opened, taken over (so that its first fence is free again) and
 * REGISTERED. So there is a look after the insert: no other job may have a higher fence.
 */
inline insert(r, execution_) {
  if
  :: inserted == JOBS_MAX -> outcome = STALE /* the model's own bound */
#ifndef MUTANT_NO_UNIQUE_KEY
  :: inserted < JOBS_MAX && (hasOpenJob || isFenceUsed(r.nextFence)) -> REACHED(DUPLICATE_KEY); outcome = STALE
#endif
#ifndef MUTANT_INSERT_UNCHECKED
  :: inserted < JOBS_MAX && !hasOpenJob && !isFenceUsed(r.nextFence) && jobs[newest].fence > r.nextFence ->
     REACHED(INSERTED_TOO_LATE);
     outcome = STALE
#endif
  :: else ->
     inserted++;
     jobs[inserted].state = DELETING;
     jobs[inserted].fence = r.nextFence;
     jobs[inserted].source = sources[execution_];
     printf("  execution %c opens job %d under fence %d\n", 'A' + execution_, inserted, r.nextFence);
     INVARIANT(4, !hasTwoOpenJobs);
     issue(r, inserted, execution_)
  fi;
  r.nextFence = 0
}

/* Closed for good: nothing of it is read again. */
inline close(j) {
  jobs[j].fence++;
  jobs[j].closed = 1;
  jobs[j].token = 0;
  jobs[j].execution = 0;
  jobs[j].halted = 0;
  jobs[j].planned = 0;
  jobs[j].deleteMarks = 0;
  jobs[j].deleteEffects = 0;
  jobs[j].registerMarks = 0;
  jobs[j].registerEffects = 0;
  printf("  job %d is closed under fence %d\n", j, jobs[j].fence)
}

/*
 * OpenJob holds the execution's own row through its transaction: the one that says that the execution is over waits for
 * it.
 */
#ifdef MUTANT_ENDED_NOT_ASKED
#define isRefused(execution_) false
#else
#define isRefused(execution_) ended[execution_]
#endif
#define isOpening(execution_) \
  (runs[execution_].nextFence > 0 || (zombie == OPEN && strayOf == execution_ && runs[ZOMBIE].nextFence > 0))
#define isTokens(r) (newest > 0 && jobs[newest].token == r.token)
#define isOvertaken(r) \
  (newest != r.headJob || jobs[newest].fence != r.headFence || \
   (r.job > 0 && (newest != r.job || jobs[newest].fence != r.fence)))
#define isSameSource(execution_) (jobs[newest].source == sources[execution_])

/*
 * OpenJob's decision, under the row of the newest job if that is open. Which row that is the code reads before it takes
 * it; where another job is newest by then, or the row's fence was raised, the head does not fit any more.
 */
inline decide(r, execution_, supersede) {
  if
  :: isRefused(execution_) -> REACHED(ENDED_FIRST); outcome = STALE
  :: !isRefused(execution_) && isTokens(r) -> target = newest; outcome = DONE
  :: !isRefused(execution_) && !isTokens(r) && isOvertaken(r) -> REACHED(SUPERSEDED); outcome = STALE
  :: else ->
     if
     :: newest == 0 -> r.nextFence = 1; outcome = CREATE
     :: newest > 0 && isOpen(newest) && isSameSource(execution_) ->
        target = newest;
        if
        :: r.job > 0 -> REACHED(CAME_BACK)
        :: r.job == 0 && jobs[target].halted -> REACHED(RESUMED)
        :: else -> REACHED(TAKEN_OVER)
        fi;
        jobs[target].fence++;
        printf("  execution %c takes job %d over under fence %d\n", 'A' + execution_, target, jobs[target].fence);
        issue(r, target, execution_)
     :: newest > 0 && isOpen(newest) && !isSameSource(execution_) && !supersede -> REACHED(JOB_OPEN); outcome = STALE
     :: newest > 0 && isOpen(newest) && !isSameSource(execution_) && supersede && inserted == JOBS_MAX -> outcome = STALE
     :: newest > 0 && isOpen(newest) && !isSameSource(execution_) && supersede && inserted < JOBS_MAX ->
        REACHED(SUPERSEDING);
        target = newest;
        r.nextFence = jobs[target].fence + 2;
        close(target);
        insert(r, execution_)
     :: newest > 0 && !isOpen(newest) && isSameSource(execution_) -> target = newest; outcome = DONE
     :: newest > 0 && !isOpen(newest) && !isSameSource(execution_) ->
        r.nextFence = jobs[newest].fence + 1;
        outcome = CREATE
     fi
  fi
}
#define isNewestFree (newest == 0 || !isOpen(newest) || !isShared(newest))

/* Numbers of an earlier plan are never used again: a worker that still names one finds nothing to mark. */
#define forgetNumbers(w, of) \
  workers[w].listed = workers[w].listed && !(workers[w].job == of && workers[w].phase == DELETE)

inline planDelete(r, hasRows) {
  if
  :: fits(r.job, r.fence, DELETING, r.token) ->
     if
     :: jobs[r.job].planned > 0 -> REACHED(PLANNED_AGAIN)
     :: else
     fi;
     forgetNumbers(0, r.job);
     forgetNumbers(1, r.job);
     forgetNumbers(2, r.job);
     forgetNumbers(STRAY, r.job);
     jobs[r.job].planned = (hasRows -> BOTH : 0);
     jobs[r.job].deleteMarks = 0;
     jobs[r.job].deleteEffects = 0;
     outcome = DONE
  :: else -> outcome = STALE
  fi
}

inline markDeleted(r) {
  if
  :: fits(r.job, r.fence, DELETED, r.token) -> outcome = DONE
#ifndef MUTANT_DELETED_UNSEEN
  :: fits(r.job, r.fence, DELETING, r.token) && ((jobs[r.job].planned & ~jobs[r.job].deleteMarks) != 0 || !isEmpty) ->
     REACHED(SLICE_NOT_EMPTY);
     outcome = NOT_EMPTY
#endif
  :: else ->
     if
     :: fits(r.job, r.fence, DELETING, r.token) ->
        INVARIANT(1, isEmpty);
        jobs[r.job].state = DELETED;
        printf("  job %d is DELETED\n", r.job);
        outcome = DONE
     :: else -> outcome = STALE
     fi
  fi
}

inline beginRegistering(r) {
  if
  :: fits(r.job, r.fence, DELETED, r.token) ->
     INVARIANT(1, isEmpty);
     jobs[r.job].state = REGISTERING;
     jobs[r.job].planned = BOTH;
     outcome = DONE
  :: fits(r.job, r.fence, REGISTERING, r.token) -> outcome = DONE
  :: else -> outcome = STALE
  fi
}

/* Row count and sum of shares: equal exactly where every row is there, and no other. Seen before the row is taken. */
#define isCounted(j) (jobs[j].registerMarks == BOTH && isExact(j))
inline markRegistered(r) {
  if
  :: fits(r.job, r.fence, REGISTERED, r.token) -> outcome = DONE
  :: fits(r.job, r.fence, REGISTERING, r.token) && jobs[r.job].registerMarks == BOTH ->
     INVARIANT(READERS, isExact(r.job)); /* SliceMismatch: only a stranger's rows are a reason for it */
     jobs[r.job].state = REGISTERED;
     printf("  job %d is REGISTERED\n", r.job);
     outcome = DONE
  :: else -> outcome = STALE /* also ChunksUnfinished */
  fi
}

/* haltFromCatch's `isOwn` */
#ifdef MUTANT_EXECUTION_NOT_COMPARED
#define isExecutions(j, execution_) true
#else
#define isExecutions(j, execution_) (jobs[j].execution == execution_)
#endif
#define isOwn(r, j, execution_) \
  (j > 0 && isExecutions(j, execution_) && \
   (jobs[j].token == r.token || (j == r.job && jobs[j].fence == r.fence)))

inline halt(j, execution_) {
  INVARIANT(2, jobs[j].execution == execution_);
  jobs[j].fence++;
  jobs[j].token = 0;
  jobs[j].execution = 0; /* not asked for of a halted job */
  jobs[j].halted = 1;
  printf("  job %d is halted, its fence is now %d\n", j, jobs[j].fence)
}

/* From the release of its lock on, none of a run's workers may write. */
#define shut(w, execution_, fence_) \
  workers[w].shutOut = workers[w].shutOut || \
    (workers[w].step != IDLE && workers[w].execution == execution_ && workers[w].fence == fence_)
inline releaseOwn(r, execution_) {
  release(r.token);
  shut(0, execution_, r.fence);
  shut(1, execution_, r.fence);
  shut(2, execution_, r.fence);
  shut(STRAY, execution_, r.fence);
  if
  :: workers[0].shutOut -> REACHED(HALTED_WITH_SIBLINGS)
  :: else
  fi
}

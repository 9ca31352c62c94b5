/*
 * The single-step tasks: functions/job/{open-job,transitions,halt-job}.ts. `r` is the run that calls: an execution or the
 * zombie. What is one transaction is one step here; what the code reads before the transaction is a step of its own.
 * Each transaction holds the job row exclusively, so it waits (`!isShared`) for chunks in flight; a worker that stays in
 * its transaction is killed by the raise, which here is its own "transaction lost", possible at any moment.
 */

/* A statement of its own, ahead of `exclusively` in OpenJob and of `raise` in HaltJob. */
inline seeNewest(r) {
  r.seen = newest;
  r.seenOpen = newest > 0 && isOpen(newest);
  INVARIANT(4, !hasTwoOpenJobs)
}

inline issue(r, j, execution_) {
  jobs[j].token = r.token;
  jobs[j].execution = execution_;
  jobs[j].halted = 0
}

/*
 * The two unique keys: one open job, and (slice, fence). They do not suffice: while this transaction stood between its
 * read and its insert, another job may have been opened, taken over (so that its first fence is free again) and
 * REGISTERED. Hence a look after the insert: no later job may have a higher fence.
 */
inline insert(r, execution_) {
  if
  :: inserted == JOBS_MAX -> outcome = STALE /* the model's own bound */
#ifndef MUTANT_NO_UNIQUE_KEY
  :: inserted < JOBS_MAX && (hasOpenJob || isFenceUsed(r.nextFence)) ->
     REACHED(REACH_DUPLICATE_KEY);
     outcome = STALE
#endif
#ifndef MUTANT_INSERT_UNCHECKED
  :: inserted < JOBS_MAX && !hasOpenJob && !isFenceUsed(r.nextFence) && newest > 0 && jobs[newest].fence > r.nextFence ->
     REACHED(REACH_INSERT_TOO_LATE);
     outcome = STALE
#endif
  :: else ->
     inserted++;
     jobs[inserted].state = DELETING;
     jobs[inserted].fence = r.nextFence;
     jobs[inserted].source = sources[execution_];
     issue(r, inserted, execution_);
     printf("  job %d is opened under fence %d\n", inserted, r.nextFence);
     INVARIANT(4, !hasTwoOpenJobs);
     target = inserted;
     outcome = DONE
  fi;
  r.nextFence = 0
}

/* OpenJob's decision, under the row of the job that was seen open, if one was. */
inline decide(r, execution_, supersede) {
  if
  :: newest > 0 && jobs[newest].token == r.token -> target = newest; outcome = DONE /* repeated */
  :: (newest == 0 || jobs[newest].token != r.token) &&
     (newest != r.headJob || (newest > 0 && jobs[newest].fence != r.headFence) ||
      (r.job > 0 && (newest != r.job || jobs[newest].fence != r.fence))) ->
     REACHED(REACH_SUPERSEDED);
     outcome = STALE
  :: else ->
     if
     :: newest == 0 -> r.nextFence = 1; outcome = CREATE
     :: newest > 0 && isOpen(newest) && jobs[newest].source == sources[execution_] ->
        INVARIANT(2, newest == r.seen && !isShared(newest));
        REACHED((jobs[newest].halted -> REACH_RESUMED : REACH_TAKEN_OVER));
        if
        :: r.job > 0 -> REACHED(REACH_REACQUIRED)
        :: else
        fi;
        jobs[r.seen].fence++;
        issue(r, r.seen, execution_);
        target = r.seen;
        printf("  job %d is taken over under fence %d\n", r.seen, jobs[r.seen].fence);
        outcome = DONE
     :: newest > 0 && isOpen(newest) && jobs[newest].source != sources[execution_] && !supersede ->
        REACHED(REACH_REFUSED);
        outcome = STALE /* JobOpenError */
     :: newest > 0 && isOpen(newest) && jobs[newest].source != sources[execution_] && supersede ->
        INVARIANT(2, newest == r.seen && !isShared(newest));
        REACHED(REACH_SUPERSEDING);
        r.nextFence = jobs[newest].fence + 2;
        if
        :: inserted < JOBS_MAX ->
           jobs[r.seen].fence++;
           jobs[r.seen].token = 0;
           jobs[r.seen].closed = 1;
           printf("  job %d is closed under fence %d\n", r.seen, jobs[r.seen].fence)
        :: else
        fi;
        insert(r, execution_)
     :: newest > 0 && !isOpen(newest) ->
        if
        :: jobs[newest].source == sources[execution_] -> target = newest; outcome = DONE /* registered already */
        :: else -> r.nextFence = jobs[newest].fence + 1; outcome = CREATE
        fi
     fi
  fi;
  r.seen = 0;
  r.seenOpen = 0
}

inline planDelete(r) {
  if
  :: fits(r.job, r.fence, DELETING) ->
     REACHED((jobs[r.job].planned > 0 -> REACH_PLANNED_AGAIN : UNASKED));
     jobs[r.job].planned = (r.seenRows -> BOTH : 0);
     /* Old numbers are never used again: their marks stay on record, whoever still names one finds nothing to mark. */
     jobs[r.job].deleteMarks = 0;
     jobs[r.job].deleteEffects = 0;
     forgetNumbers(r);
     outcome = DONE
  :: else -> outcome = STALE
  fi;
  r.seenRows = 0
}

#define forgetNumber(w, of) \
  workers[w].listed = workers[w].listed && !(workers[w].job == of && workers[w].phase == DELETE)
#define forgetItems(e, of) runs[e].listed = runs[e].listed && runs[e].job != of
inline forgetNumbers(r) {
  forgetNumber(0, r.job);
  forgetNumber(1, r.job);
  forgetNumber(2, r.job);
  forgetNumber(STRAY, r.job);
  forgetItems(A, r.job);
  forgetItems(B, r.job)
}

inline markDeleted(r) {
  if
  :: fits(r.job, r.fence, DELETED) -> outcome = DONE
  :: fits(r.job, r.fence, DELETING) ->
     if
#ifndef MUTANT_DELETED_UNSEEN
     :: (jobs[r.job].planned & ~jobs[r.job].deleteMarks) != 0 || !isEmpty -> outcome = NOT_EMPTY
#endif
     :: else ->
        INVARIANT(1, isEmpty);
        jobs[r.job].state = DELETED;
        printf("  job %d is DELETED\n", r.job);
        outcome = DONE
     fi
  :: else -> outcome = STALE
  fi
}

inline beginRegistering(r) {
  if
  :: fits(r.job, r.fence, DELETED) ->
     INVARIANT(1, isEmpty);
     jobs[r.job].state = REGISTERING;
     jobs[r.job].planned = BOTH;
     outcome = DONE
  :: fits(r.job, r.fence, REGISTERING) -> outcome = DONE
  :: else -> outcome = STALE
  fi
}

/* The sum of shares is the set of sources: equal exactly where every row is there, and no other. */
inline markRegistered(r) {
  if
  :: fits(r.job, r.fence, REGISTERED) -> outcome = DONE
  :: fits(r.job, r.fence, REGISTERING) ->
     INVARIANT(SANE, isExact(r.job) || jobs[r.job].registerMarks != BOTH); /* never SliceMismatch */
     if
     :: jobs[r.job].registerMarks == BOTH && isExact(r.job) ->
        jobs[r.job].state = REGISTERED;
        printf("  job %d is REGISTERED\n", r.job);
        outcome = DONE
     :: else -> outcome = STALE /* ChunksUnfinished, SliceMismatch */
     fi
  :: else -> outcome = STALE
  fi
}

/* haltFromCatch's `isOwn` */
#define isOwn(r, j) (jobs[j].token == r.token || ((j) == r.job && jobs[j].fence == r.fence))

inline halt(j) {
  jobs[j].fence++;
  jobs[j].token = 0;
  jobs[j].halted = 1;
  printf("  job %d is halted, its fence is now %d\n", j, jobs[j].fence)
}

/*
 * The single-step tasks: functions/job/{transitions,mark-registered,reuse-set,halt-job}.ts. `r` is the run that calls: an
 * execution or the zombie. What is one transaction is one step here.
 * Each transaction holds the job row exclusively, so it waits (`!isShared`) for chunks in flight; a worker that stays
 * in its transaction is killed by the raise, which here is its own "transaction lost", possible at any moment.
 */

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
     jobs[r.job].planned = (hasRows -> DELETE_PLAN : 0);
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
  :: fits(r.job, r.fence, DELETING, r.token) && ((jobs[r.job].planned & ~jobs[r.job].deleteMarks) != 0 || !isEmpty(r.job)) ->
     REACHED(SLICE_NOT_EMPTY);
     outcome = NOT_EMPTY
#endif
  :: else ->
     if
     :: fits(r.job, r.fence, DELETING, r.token) ->
        INVARIANT(1, isEmpty(r.job));
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
     INVARIANT(1, isEmpty(r.job));
     jobs[r.job].state = REGISTERING;
     jobs[r.job].planned = wholeOf(r.job);
     outcome = DONE
  :: fits(r.job, r.fence, REGISTERING, r.token) -> outcome = DONE
  :: else -> outcome = STALE
  fi
}

/*
 * Row count, sum of shares and checksum: equal exactly where every row is there, and no other. Seen before the row is
 * taken. REGISTERED and the switch are one transaction, which waits (`mayShow`) for who holds active_set's row.
 */
#define isCounted(j) (jobs[j].registerMarks == wholeOf(j) && isExact(j))
#define mayShow(r) (!isReadLocked || !isUnder(r.job, r.fence, jobs[r.job].state) || jobs[r.job].state == REGISTERED)

inline registerSet(r) {
  jobs[r.job].state = REGISTERED;
  slots[slotOf(r.job)].kept = jobs[r.job].source;
  printf("  job %d is REGISTERED\n", r.job);
#ifndef MUTANT_SWITCH_OUTSIDE
  showSet(r);
#endif
  outcome = DONE
}

inline markRegistered(r) {
  if
  :: fits(r.job, r.fence, REGISTERED, r.token) -> outcome = DONE
  :: fits(r.job, r.fence, REGISTERING, r.token) && jobs[r.job].registerMarks == wholeOf(r.job) ->
     INVARIANT(8, isExact(r.job)); /* SliceMismatch: only a stranger's rows are a reason for it */
     registerSet(r)
  :: else -> outcome = STALE /* also ChunksUnfinished */
  fi
}

/*
 * ReuseSet. The wanted set lies in the slot whole: nothing is written but the switch. Else the job goes on to delete.
 */
#if defined(REUSES) || defined(REPLAY)
#ifdef MUTANT_REUSE_UNCHECKED
#define mayReuse(j) true
#else
#define mayReuse(j) isExact(j)
#endif
#define isShownSlot(j) (shown != NOTHING && slotOf(shown) == slotOf(j))
inline reuseSet(r, isWhole) {
  if
  :: fits(r.job, r.fence, REGISTERED, r.token) -> outcome = DONE
  :: fits(r.job, r.fence, DELETING, r.token) && !jobs[r.job].reuses -> outcome = NOT_EMPTY /* said before */
  :: fits(r.job, r.fence, DELETING, r.token) && jobs[r.job].reuses && isWhole ->
     REACHED(REUSED);
     registerSet(r)
  :: fits(r.job, r.fence, DELETING, r.token) && jobs[r.job].reuses && !isWhole && !isShownSlot(r.job) ->
     REACHED(NOT_WHOLE);
     jobs[r.job].reuses = 0;
     outcome = NOT_EMPTY
  :: else -> outcome = STALE /* also SliceMismatch: readers see the very slot, and nobody may take its rows from them */
  fi
}
#endif

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

/*
 * OpenJob: functions/job/open-job.ts, place-set.ts. `r` is the run that calls: an execution or the zombie. It is one
 * transaction; what it reads before its insert may be over by then, so that is a step of its own.
 */

inline issue(r, j, execution_) {
  INVARIANT(ENDED, !ended[execution_]);
  INVARIANT(WITHDRAWN, !r.withdrawnSince);
  jobs[j].token = r.token;
  jobs[j].execution = execution_;
  jobs[j].halted = 0;
  target = j;
  outcome = DONE
}

/*
 * The slot of a new job: functions/job/place-set.ts. That in which the wanted set lies, the one that readers see first; or
 * the one beside what they see, in the mode in-place that very one; or, where they see nothing, the one that the job before
 * it began to write, in the mode standby the one that it did not fill.
 */
#if defined(MUTANT_WRITES_ACTIVE) || defined(IN_PLACE)
#define afterSet(s) s
#else
#define afterSet(s) (1 - s)
#endif
#define shownSlot (shown == NOTHING -> 0 : slotOf(shown))
inline chooseSlot(r, wanted) {
  if
  :: slots[shownSlot].kept == wanted -> r.nextSlot = shownSlot
  :: slots[shownSlot].kept != wanted && slots[1 - shownSlot].kept == wanted -> r.nextSlot = 1 - shownSlot
  :: else ->
     if
     :: shown != NOTHING -> r.nextSlot = afterSet(slotOf(shown))
     :: shown == NOTHING && newest == 0 -> r.nextSlot = 0
     :: shown == NOTHING && newest > 0 && isOpen(newest) -> r.nextSlot = slotOf(newest)
     :: else -> r.nextSlot = afterSet(slotOf(newest))
     fi
  fi
}

/* A job that is about to delete what readers see, in the mode in-place: the transaction that opens it hides that first. */
inline clear() {
#ifdef MUTANT_NOT_CLEARED
  skip
#else
  if
  :: shown != NOTHING && slotOf(shown) == slotOf(inserted) && !jobs[inserted].reuses -> hideSet()
  :: else
  fi
#endif
}
#ifdef IN_PLACE
#define mayClear (shown == NOTHING || !isReadLocked)
#else
#define mayClear true
#endif

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
     jobs[inserted].slot = r.nextSlot;
     jobs[inserted].reuses = slots[r.nextSlot].kept == sources[execution_];
     slots[r.nextSlot].kept = NO_SOURCE;
     printf("  execution %c opens job %d in slot %d under fence %d\n", 'A' + execution_, inserted, r.nextSlot, r.nextFence);
     INVARIANT(4, !hasTwoOpenJobs);
     issue(r, inserted, execution_);
     clear()
  fi;
  r.nextFence = 0;
  r.nextSlot = 0
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
     :: newest == 0 -> chooseSlot(r, sources[execution_]); r.nextFence = jobs[0].fence + 1; outcome = CREATE
     :: newest > 0 && isOpen(newest) && isSameSource(execution_) ->
        target = newest;
        if
        :: r.job > 0 -> REACHED(CAME_BACK)
        :: r.job == 0 && jobs[target].halted -> REACHED(RESUMED)
        :: else -> REACHED(TAKEN_OVER)
        fi;
        jobs[target].fence++;
#ifdef MUTANT_TAKE_OVER_MOVES
        jobs[target].slot = 1 - slotOf(target);
#endif
        printf("  execution %c takes job %d over under fence %d\n", 'A' + execution_, target, jobs[target].fence);
        issue(r, target, execution_)
     :: newest > 0 && isOpen(newest) && !isSameSource(execution_) && !supersede -> REACHED(JOB_OPEN); outcome = STALE
     :: newest > 0 && isOpen(newest) && !isSameSource(execution_) && supersede && inserted == JOBS_MAX -> outcome = STALE
     :: newest > 0 && isOpen(newest) && !isSameSource(execution_) && supersede && inserted < JOBS_MAX ->
        REACHED(SUPERSEDING);
        target = newest;
        chooseSlot(r, sources[execution_]);
        r.nextFence = jobs[target].fence + 2;
        close(target);
        insert(r, execution_)
     :: newest > 0 && !isOpen(newest) && isSameSource(execution_) && shown == newest -> target = newest; outcome = DONE
     :: newest > 0 && !isOpen(newest) && !(isSameSource(execution_) && shown == newest) ->
        chooseSlot(r, sources[execution_]);
        r.nextFence = jobs[newest].fence + 1;
        outcome = CREATE
     fi
  fi
}
#define isNewestFree (newest == 0 || !isOpen(newest) || !isShared(newest))

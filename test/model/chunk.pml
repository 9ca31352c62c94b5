/*
 * A lane's loop over the chunks of its item: functions/job/run-chunks.ts with verify-lock.ts, guardShared and markChunk.
 *
 *   READY: verify the lock --> begin, guard (job row for share) --> WRITING: mark, rows --> commit --> READY: next chunk
 *
 * Between two steps anything may happen elsewhere; the worker may stay where it is for ever (stopped, frozen, killed), lose
 * its transaction (connection lost, killed by a raise, deadlock), lose COMMIT's reply, or be started a second time.
 *
 * The lock is asked and the answer is not waited for: a lock that was verified may be lost before the guard, and with the
 * policy `proceed` nobody holds it. So every worker may go on without it, which is more than the code allows.
 *
 * What a transaction does before it commits nobody sees, so mark and rows are one step with the commit. Of two
 * transactions on one chunk the second waits for the first one's mark: it decides after that commit, as it does here.
 */

#define my workers[me]
#ifndef chunk
#define chunk ((my.todo & 1) -> 1 : 2)
#endif
#define what (my.phase == DELETE -> 'd' : 'r')

#if defined(MUTANT_NO_GUARD) || defined(MUTANT_LOCK_ONLY) || defined(MUTANT_GUARD_NOT_HELD)
#define holdsShared(w, j) false
#else
#define holdsShared(w, j) (workers[w].step == WRITING && workers[w].job == (j))
#endif
#define isShared(j) (holdsShared(0, j) || holdsShared(1, j) || holdsShared(2, j) || holdsShared(STRAY, j))

#define isMarked \
  (((my.phase == DELETE -> jobs[my.job].deleteMarks : jobs[my.job].registerMarks) & chunk) != 0)
#define writes (my.listed && !isMarked)

#if defined(MUTANT_NO_GUARD)
#define passesGuard true
#elif defined(MUTANT_LOCK_ONLY)
#define passesGuard (lock == my.token)
#else
#define passesGuard fits(my.job, my.fence, STATE_OF(my.phase), my.token)
#endif

inline mark() {
  if
  :: my.phase == DELETE -> jobs[my.job].deleteMarks = jobs[my.job].deleteMarks | chunk
  :: else -> jobs[my.job].registerMarks = jobs[my.job].registerMarks | chunk
  fi
}

/* The rows change. Everything that must hold of a write is asked here, in the step that makes it visible. */
inline changeRows() {
  printf("worker %d: commits chunk %c%d of job %d under fence %d\n", me, what, chunk, my.job, my.fence);
  INVARIANT(6, !my.shutOut);
  if
  :: my.phase == DELETE ->
     INVARIANT(3, (jobs[my.job].deleteEffects & chunk) == 0);
     INVARIANT(2, isUnder(my.job, my.fence, DELETING) && jobs[my.job].token == my.token);
     jobs[my.job].deleteEffects = jobs[my.job].deleteEffects | chunk;
     dropRows(slotOf(my.job), chunk)
  :: else ->
     INVARIANT(3, (jobs[my.job].registerEffects & chunk) == 0);
     INVARIANT(2, isUnder(my.job, my.fence, REGISTERING) && jobs[my.job].token == my.token);
     INVARIANT(1, foreignRows(slotOf(my.job), jobs[my.job].source) == 0);
     jobs[my.job].registerEffects = jobs[my.job].registerEffects | chunk;
     rowsOf(slotOf(my.job), jobs[my.job].source) = rowsOf(slotOf(my.job), jobs[my.job].source) | chunk
  fi;
  look()
}

inline commit() {
  if
  :: writes ->
     changeRows();
#ifndef MUTANT_MARK_AFTER
     mark()
#endif
  :: else ->
     REACHED(SKIPPED);
     printf("worker %d: skips chunk %c%d, which is marked\n", me, what, chunk)
  fi;
#ifndef MUTANT_MARK_AFTER
  INVARIANT(3, jobs[my.job].deleteMarks == jobs[my.job].deleteEffects);
  INVARIANT(3, jobs[my.job].registerMarks == jobs[my.job].registerEffects)
#endif
}

/* A worker tells its Map, if that is still there, and is free. */
inline finish(isDone) {
  my.done = isDone && me < LANES && runs[my.execution].mapping && runs[my.execution].fence == my.fence;
  my.step = IDLE;
  my.execution = 0;
  my.token = 0;
  my.job = 0;
  my.fence = 0;
  my.phase = 0;
  my.todo = 0;
  my.listed = 0;
  my.shutOut = 0
}

inline nextChunk() {
  my.todo = my.todo & ~chunk;
  my.step = READY;
  if
  :: my.todo == 0 -> finish(true)
  :: else
  fi
}

inline copyToStray() {
  workers[STRAY].execution = my.execution;
  workers[STRAY].token = my.token;
  workers[STRAY].job = my.job;
  workers[STRAY].fence = my.fence;
  workers[STRAY].phase = my.phase;
  workers[STRAY].todo = my.todo;
  workers[STRAY].listed = my.listed;
  workers[STRAY].shutOut = my.shutOut;
  workers[STRAY].step = READY
}

/* A transaction that does not commit leaves nothing: neither rows nor a mark. */
inline rolledBack() {
#ifdef MUTANT_MARK_BEFORE
  INVARIANT(3, my.step != WRITING)
#else
  skip
#endif
}

proctype Worker(byte me) {
end:
  do
  :: d_step { my.step == READY -> extend(my.token) }
  :: d_step {
       my.step == READY && passesGuard ->
       printf("worker %d: begins chunk %c%d of job %d under fence %d\n", me, what, chunk, my.job, my.fence);
       my.step = WRITING;
#ifdef MUTANT_MARK_BEFORE
       if
       :: writes -> mark(); printf("worker %d: marks chunk %c%d at once\n", me, what, chunk)
       :: else -> nextChunk()
       fi
#endif
     }
  :: d_step {
       my.step == READY && !passesGuard ->
       REACHED(STALE_FENCE);
       printf("worker %d: StaleFence at chunk %c%d\n", me, what, chunk);
       finish(false)
     }
#if defined(MUTANT_MARK_AFTER)
  :: d_step { my.step == WRITING -> commit(); my.step = MARK }
  :: d_step { my.step == MARK -> mark(); printf("worker %d: marks chunk %c%d\n", me, what, chunk); nextChunk() }
#elif defined(MUTANT_MARK_BEFORE)
  :: d_step { my.step == WRITING -> changeRows(); nextChunk() }
#else
  :: d_step { my.step == WRITING -> commit(); nextChunk() }
  /* COMMIT took place and its reply is lost: the whole of it again, guard first. */
  :: d_step { my.step == WRITING && writes -> commit(); my.step = READY }
#endif
  /* The transaction is lost: deadlock, connection, or a raise that killed it. Rerun from the guard. */
  :: d_step { my.step == WRITING -> rolledBack(); my.step = READY }
  /* LockLost, or the Lambda fails. */
  :: d_step { my.step != IDLE -> rolledBack(); finish(false) }
#ifdef STRAY_WORKER
  :: d_step {
       me < LANES && my.step == READY && workers[STRAY].step == IDLE ->
       printf("worker %d: chunk %c%d is run a second time, by worker %d\n", me, what, chunk, STRAY);
       copyToStray()
     }
#endif
  od
}

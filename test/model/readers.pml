/*
 * Readers, and what they may see: functions/store/schema/migrations/002-readers.sql, docs/reading.md.
 *
 * A statement that locks nothing reads one snapshot: active_set's row and the rows of its slot as they were at one moment.
 * So whatever it sees is right where what it would see is right in every state. `look` says so, in every step that changes
 * a job, a row or active_set.
 */
#ifdef MUTANT_VIEW_BY_NEWEST
#define view (jobs[newest].state == REGISTERED -> newest : NOTHING)
#else
#define view shown
#endif
#ifdef IN_PLACE
#define mayBeDark true
#else
#define mayBeDark false
#endif

inline look() {
  INVARIANT(READERS, view == NOTHING || isExact(view));
  INVARIANT(READERS, view != NOTHING || !hasSet || mayBeDark)
}

/* active_set is written: in the transaction that sets REGISTERED, in OpenJob of the mode in-place, and by a withdrawal. */
inline showSet(r) {
  shown = r.job;
  hasSet = 1;
  printf("  readers are shown the set of job %d, in slot %d\n", shown, slotOf(shown));
  look()
}

inline hideSet() {
  shown = NOTHING;
  printf("  readers are shown nothing\n");
  look()
}

/*
 * A reader whose statements lock what they read: it holds active_set's row until its transaction ends, and comes to the
 * rows of the slot one after the other. It may stay where it is for ever.
 */
#ifdef MUTANT_ROW_NOT_HELD
#define holdRow skip
#else
#define holdRow isReadLocked = 1
#endif
#define readsWhole(c) ((rowsOf(slotOf(seen), jobs[seen].source) & c) == c && (foreignRows(slotOf(seen), jobs[seen].source) & c) == 0)

#ifdef LOCKING_READER
proctype LockingReader() {
  unsigned seen : 2;
end:
  do
  :: d_step { shown != NOTHING -> holdRow; seen = shown; printf("reader: begins the set of job %d\n", seen) };
endReading:
     d_step { true; INVARIANT(READERS, readsWhole(1)) };
endReadingOn:
     d_step {
       true;
       REACHED(LOCKED_READING);
       INVARIANT(READERS, readsWhole(2));
       isReadLocked = 0;
       seen = 0;
       printf("reader: ends\n")
     }
  od
}
#endif

/*
 * A program that reads in several statements and locks nothing: it notes the job of the set, reads part after part, and
 * takes what it read for one set only if the same job is shown behind it.
 */
#ifdef PINNING_READER
proctype PinningReader() {
  unsigned seen : 2;
  bit isTorn;
end:
  do
  :: d_step { shown != NOTHING -> seen = shown };
endReading:
     d_step { true; isTorn = !readsWhole(1) };
endReadingOn:
     d_step { true; isTorn = isTorn || !readsWhole(2) };
endReadingBehind:
     d_step {
       true;
       if
       :: shown == seen -> INVARIANT(READERS, !isTorn)
       :: shown != seen && isTorn -> REACHED(TORN_AND_KNOWN)
       :: else
       fi;
       seen = 0;
       isTorn = 0
     }
  od
}
#endif

/*
 * An operator takes a set from the readers that was registered under the wrong slice: under the slice's lock, and with
 * the fence of the newest job raised, so that a run which read the head before opens nothing.
 */
inline withdraw() {
  REACHED(WITHDRAWN_SET);
#ifndef MUTANT_WITHDRAW_UNRAISED
  jobs[newest].fence++;
#endif
  jobs[newest].token = 0;
  printf("operator: withdraws the set of job %d\n", newest);
  hasSet = 0;
  hideSet();
  runs[A].withdrawnSince = runs[A].token != 0;
  runs[B].withdrawnSince = runs[B].token != 0;
  runs[ZOMBIE].withdrawnSince = runs[ZOMBIE].token != 0
}
#define mayWithdraw (jobs[newest].state == REGISTERED && shown == newest)

#ifdef WITHDRAWS
#define WITHDRAWER 5
proctype Withdrawer() {
end:
  d_step { lock == 0 -> acquire(WITHDRAWER); printf("operator: acquires the lock to withdraw\n") };
  if
  :: d_step { mayWithdraw && !isReadLocked -> withdraw() }
  :: true /* refused: a job is open, or nothing is shown; or it is left at that */
  fi;
  d_step { release(WITHDRAWER) }
}
#endif

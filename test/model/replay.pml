/*
 * A recorded trace, replayed: test/model/replay writes a program that sends its events here one by one, and each is one of the
 * model's own steps, taken with what the event says of it. Where the model can't take it the process stays where it is.
 * `spin` runs this as it stands; nothing is searched.
 *
 * Left out, as it changes nothing that is kept: a guard that refuses, a rollback, a task that is answered again.
 */
#include "words.pml"
#include "lock.pml"
#include "readers.pml"
#include "chunk.pml"
#include "opening.pml"
#include "tasks.pml"

mtype = {
  SEEDED, SET, EXTENDED, DELETED_KEY, EXPIRED, OPENED, PLANNED, CHUNK, IS_DELETED, BEGINS, IS_REGISTERED, IS_REUSED, HALTED, OVER,
  WITHDRAWN_BY, LOOKED, HELD, LET_GO, NO_STEP, ENDS
};

typedef Event {
  mtype kind;
  /* the task that did it, as it was called */
  byte execution;
  byte token;
  byte job;
  short fence;
  byte headJob;
  short headFence;
  /* what it says besides, see each step */
  int part;
  int number;
  /* what it left behind: the newest job, and what readers are shown */
  byte newestJob;
  short newestFence;
  byte slot;
  byte shownJob
}
chan events = [0] of { Event };

#define caller runs[0]
inline call() {
  caller.token = e.token;
  caller.job = e.job;
  caller.fence = e.fence;
  caller.headJob = e.headJob;
  caller.headFence = e.headFence;
  caller.nextFence = 0;
  caller.withdrawnSince = 0; /* which the model knows of its own runs; here the head says it */
  outcome = NONE;
  target = 0
}

/* What the step left behind is what was recorded. */
#define leavesAsRecorded \
  (newest == e.newestJob && jobs[newest].fence == e.newestFence && shown == e.shownJob && \
   (shown == NOTHING || slotOf(shown) == e.slot))

/* A plan names the ranges of a slot anew, and together they cover all of it: so its rows are counted by them from here on. */
#define regrouped(s, source) \
  slots[s].from[source] = (slots[s].from[source] != 0 -> planMask : 0)
inline regroup(s) {
  regrouped(s, 0); regrouped(s, 1); regrouped(s, 2); regrouped(s, 3);
  regrouped(s, 4); regrouped(s, 5); regrouped(s, 6); regrouped(s, 7)
}

/* The chunk's transaction, from its guard to its commit. `part`: the phase; `number`: the chunk's bit; `slot`: where rows changed. */
inline chunkStep() {
  my.job = e.job;
  my.fence = e.fence;
  my.token = e.token;
  my.phase = e.part;
  my.todo = e.number;
  my.listed = 1;
  passesGuard;
  my.step = WRITING;
  (writes && slotOf(my.job) == e.slot);
  commit();
  my.step = IDLE
}

proctype Replay() {
  Event e;
  byte me, outcome, target, job, execution, place;
  int at;
  shown = NOTHING;
  slots[0].kept = NO_SOURCE;
  slots[1].kept = NO_SOURCE;
  jobs[0].state = REGISTERED;
  do
  :: events?e ->
     at++;
     /* An inline's parameter can't be a field. */
     job = e.job;
     execution = e.execution;
     place = e.slot;
     if
     /* Before the first job: rows of an older system in `slot`. */
     :: e.kind == SEEDED -> rowsOf(place, OLD) = 1

     /* `part`: the key was there, under another token, and had not ended. */
     :: e.kind == SET ->
        if
        :: lock != 0 && lock != e.token && !e.part -> lock = 0 /* its TTL had ended */
        :: else
        fi;
        (lock == 0 || lock == e.token);
        acquire(e.token)
     :: e.kind == EXTENDED -> (lock == e.token); extend(e.token)
     :: e.kind == DELETED_KEY ->
        (lock == e.token && !(hasOpenJob && jobs[newest].token == e.token));
        release(e.token)
     /* Somebody took the key away as its time would; of another server, or of an older lock, it may be. */
     :: e.kind == EXPIRED ->
        if
        :: lock == e.token -> lock = 0; holder = 0
        :: else
        fi

     /* `part`: supersede; `number`: the source. It opens, takes over, or closes and opens. */
     :: e.kind == OPENED ->
        call();
        sources[execution] = e.number;
        decide(caller, execution, e.part);
        if
        :: outcome == CREATE -> insert(caller, execution)
        :: else
        fi;
        (outcome == DONE && target == newest && leavesAsRecorded)
     /* `number`: the ranges, as bits. */
     :: e.kind == PLANNED ->
        call();
        planMask = e.number;
        place = slotOf(job);
        regroup(place);
        planDelete(caller, planMask != 0);
        (outcome == DONE && leavesAsRecorded)
     :: e.kind == CHUNK -> chunkStep()
     :: e.kind == IS_DELETED ->
        call();
        (jobs[job].state == DELETING);
        markDeleted(caller);
        (outcome == DONE && leavesAsRecorded)
     /* `number`: the chunks of the file, as bits. */
     :: e.kind == BEGINS ->
        call();
        (jobs[job].state == DELETED);
        jobs[job].whole = e.number;
        beginRegistering(caller);
        (outcome == DONE && leavesAsRecorded)
     :: e.kind == IS_REGISTERED ->
        call();
        (jobs[job].state == REGISTERING && !isReadLocked && isCounted(job));
        markRegistered(caller);
        (outcome == DONE && leavesAsRecorded)
     /* `number`: the chunks of the file that lies there, as bits. */
     :: e.kind == IS_REUSED ->
        call();
        jobs[job].whole = e.number;
        (jobs[job].state == DELETING && jobs[job].reuses && !isReadLocked && isExact(job));
        reuseSet(caller, true);
        (outcome == DONE && leavesAsRecorded)
     :: e.kind == HALTED ->
        (hasOpenJob && newest == job && jobs[job].execution == execution);
        halt(job, execution);
        leavesAsRecorded
     :: e.kind == OVER -> ended[execution] = 1
     :: e.kind == WITHDRAWN_BY ->
        (newest == job && !isReadLocked);
        withdraw();
        leavesAsRecorded

     /* One statement saw this job as the newest and this set, all of it (`part`), at one moment. */
     :: e.kind == LOOKED -> (e.part && leavesAsRecorded)
     :: e.kind == HELD -> (view == e.shownJob); isReadLocked = 1
     :: e.kind == LET_GO -> (view == e.shownJob); isReadLocked = 0
     :: e.kind == ENDS -> printf("accepted %d\n", at); break
     fi;
     printf("took %d\n", at)
  od
}

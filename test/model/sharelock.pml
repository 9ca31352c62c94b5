/*
 * Sharelock's protocol as a model for Spin. `node test/model/run.ts` checks it; docs/model.md says what it leaves out.
 *
 * sizes.pml      how much of everything there is
 * words.pml      words, what the stores keep, what each process carries
 * lock.pml       Valkey: acquire, extend, release; the TTL may end at any moment
 * chunk.pml      a lane's chunk: verify the lock, guard, mark, rows, commit
 * readers.pml    what readers see; active_set; a locking reader, one in several statements; a withdrawal
 * opening.pml    OpenJob, and where a new job writes
 * tasks.pml      PlanDelete, MarkDeleted, BeginRegistering, MarkRegistered, ReuseSet, HaltJob
 * flow.pml       starting and leaving Maps, LockLost, what is left behind
 * execution.pml  the state machine
 * zombie.pml     a task the engine gave up on
 * failover.pml   a failover of MySQL that loses an opening
 */
#include "words.pml"
#include "lock.pml"
#include "readers.pml"
#include "chunk.pml"
#include "opening.pml"
#include "tasks.pml"
#include "flow.pml"
#include "execution.pml"
#ifdef STRAY_TASKS
#include "zombie.pml"
#endif
#ifdef LOSES_COMMIT
#include "failover.pml"
#endif

init {
  atomic {
    shown = NOTHING;
    slots[0].kept = NO_SOURCE;
    slots[1].kept = NO_SOURCE;
    jobs[0].state = REGISTERED;
    jobs[0].source = OLD;
    if
#ifndef ONLY_NO_SET
    :: d_step {
         /* A set is shown, and the one before it lies in the other slot. */
         shown = 0;
         hasSet = 1;
         slots[0].from[OLD] = BOTH;
         slots[0].kept = OLD;
#ifdef REUSES
         /* The one that A wants; whether it is whole is asked. */
         slots[1].kept = FIRST;
#endif
       };
#ifdef REUSES
       if
       :: slots[1].from[FIRST] = BOTH
       :: slots[1].from[FIRST] = 1
       fi
#else
       slots[1].from[OLD] = BOTH
#endif
#endif
#if defined(FIRST_MONTH) || defined(ONLY_NO_SET)
    :: skip /* the first month of a distributor */
    :: slots[0].from[OLD] = BOTH /* rows of an older system: no job ever wrote them, no reader is shown them */
#endif
    fi;
    sources[A] = FIRST;
    if
#ifdef UNDOES
    :: sources[B] = OLD
#elif !defined(ONLY_OTHER_SOURCE)
    :: sources[B] = FIRST
#endif
#if !defined(ONLY_SAME_SOURCE) && !defined(UNDOES)
    :: sources[B] = OTHER
#endif
    fi;
    run Valkey();
    run Execution(A);
    run Execution(B);
    run Worker(0);
    run Worker(1);
    run Worker(2);
#ifdef STRAY_WORKER
    run Worker(STRAY);
#endif
#ifdef LOCKING_READER
    run LockingReader();
#endif
#ifdef PINNING_READER
    run PinningReader();
#endif
#ifdef WITHDRAWS
    run Withdrawer();
#endif
#ifdef STRAY_TASKS
    run Zombie();
#endif
#ifdef LOSES_COMMIT
    run Failover();
#endif
    skip
  }
}

/*
 * Sharelock's protocol as a model for Spin. `node test/model/run.ts` checks it; docs/model.md says what it leaves out.
 *
 * words.pml      words, what the stores keep, what each process carries
 * lock.pml       Valkey: acquire, extend, release; the TTL may end at any moment
 * chunk.pml      a lane's chunk: verify the lock, guard, mark, rows, commit
 * tasks.pml      OpenJob, PlanDelete, MarkDeleted, BeginRegistering, MarkRegistered, HaltJob
 * flow.pml       starting and leaving Maps, LockLost, what is left behind
 * execution.pml  the state machine
 * zombie.pml     a task the engine gave up on
 * failover.pml   a failover of MySQL that loses an opening
 */
#include "words.pml"
#include "lock.pml"
#include "chunk.pml"
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
    if
    :: d_step { rows[0] = OLD; rows[1] = OLD }
#ifdef FIRST_MONTH
    :: skip /* the first month of a distributor */
#endif
    fi;
    sources[A] = FIRST;
    if
#ifndef ONLY_OTHER_SOURCE
    :: sources[B] = FIRST
#endif
#ifndef ONLY_SAME_SOURCE
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
#ifdef STRAY_TASKS
    run Zombie();
#endif
#ifdef LOSES_COMMIT
    run Failover();
#endif
    skip
  }
}

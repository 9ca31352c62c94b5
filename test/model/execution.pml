/*
 * An execution of the state machine: infra/machine. Labels are ASL states; each is one step and the wait before it, during
 * which the execution may be stopped, its task fail, or an attempt of the task be given up on and go on as the zombie.
 * A failure after the effect is a failure before the next one's, so the waits need it only once.
 */

#define mine runs[me]
#define name ('A' + me)

inline leaveBehind(task) {
  zombie = task;
  strayOf = me;
  runs[ZOMBIE].token = mine.token;
  runs[ZOMBIE].job = mine.job;
  runs[ZOMBIE].fence = mine.fence;
  runs[ZOMBIE].headJob = mine.headJob;
  runs[ZOMBIE].headFence = mine.headFence;
  printf("execution %c: a task's first attempt is given up on and goes on by itself\n", name)
}
#ifdef STRAY_TASKS
#define orZombie(task, label) :: d_step { zombie == NONE && (STRAY_TASKS & task) -> leaveBehind(task) }; goto label
#else
#define orZombie(task, label)
#endif
#define orFails :: atomic { mine.headJob = 0; mine.headFence = 0; mine.nextFence = 0; goto HaltJob }
#define orStops :: goto Stopped
#define orLosesLock :: lock != mine.token -> goto CountReacquire
#define orIsRefused :: outcome == STALE -> outcome = NONE; mine.headJob = 0; mine.headFence = 0; goto HaltJob
#define orElse(result, label) :: outcome == result -> outcome = NONE; goto label

inline startLane(w, phase_, due) {
  workers[w].done = (due) == 0;
  if
  :: (due) != 0 ->
     workers[w].step = READY;
     workers[w].execution = me;
     workers[w].token = mine.token;
     workers[w].job = mine.job;
     workers[w].fence = mine.fence;
     workers[w].phase = phase_;
     workers[w].todo = due;
     workers[w].listed = 1
  :: else
  fi
}

#define startLanes(phase_, due) \
  if \
  :: me == A -> startLane(0, phase_, ((due) & 1)); startLane(1, phase_, ((due) & 2)) \
  :: else -> startLane(2, phase_, (due)) \
  fi; \
  mine.mapping = 1

/* The Map ends with its first failing item; siblings go on, and nobody waits for them. */
inline leaveMap() {
  mine.mapping = 0;
  if
  :: me == A -> workers[0].done = 0; workers[1].done = 0
  :: else -> workers[2].done = 0
  fi
}

#define areLanesIdle (workers[me * 2].step == IDLE && workers[me + 1].step == IDLE)
#define areLanesDone (workers[me * 2].done && workers[me + 1].done)

inline forgetRun(r) {
  r.token = 0;
  r.job = 0;
  r.fence = 0;
  r.headJob = 0;
  r.headFence = 0;
  r.nextFence = 0;
  r.seenRows = 0
}

#ifndef REACQUIRES_A
#define REACQUIRES_A 0
#endif
#ifndef REACQUIRES_B
#define REACQUIRES_B 0
#endif
#define LAST_TOKEN (me * 2 + 1 + (me == A -> REACQUIRES_A : REACQUIRES_B))

/* openJobOf: what the status event knows is the execution's name only. */
#define isOpenedByMe(j) (inserted >= j && isOpen(j) && !jobs[j].halted && jobs[j].execution == me)

proctype Execution(byte me) {
  byte outcome;
  byte target;
end:
AcquireLock:
  if
  :: d_step {
       (me == A || begun) && mine.token != LAST_TOKEN ->
       mine.token = (mine.token == 0 -> me * 2 + 1 : me * 2 + 2);
       mine.headJob = newest;
       mine.headFence = jobs[newest].fence;
       begun = 1
     };
     if
     :: d_step {
          lock == 0 -> acquire(mine.token); printf("execution %c: acquires the lock, token %d\n", name, mine.token)
        }
     :: true /* policy `proceed` */
     fi
  :: d_step { (me == A || begun) && (mine.job > 0 || mine.token != 0) }; goto HaltJob /* LockHeld, REACQUIRE_MAX */
  fi;

OpenJob:
  if
  :: atomic {
       isNewestFree ->
       if
       :: d_step { decide(mine, me, true) }
       :: d_step { decide(mine, me, false) }
       fi;
       if
       :: outcome == DONE -> goto Opened
       orElse(CREATE, InsertJob)
       orIsRefused
       fi
     }
  orLosesLock
  orZombie(ACQUIRE, OpenJob)
  orZombie(OPEN, OpenJob)
  orFails
  orStops
  fi;

/* Still OpenJob's transaction, before its insert. */
InsertJob:
  if
  :: atomic {
       d_step { insert(mine, me) };
       if
       orIsRefused
       :: outcome == DONE -> skip
       fi;
Opened:
       outcome = NONE;
       if
       :: d_step {
            mine.job = target;
            mine.fence = jobs[target].fence;
            mine.headJob = 0;
            mine.headFence = 0;
            target = 0;
            printf("execution %c: OpenJob answers job %d, fence %d\n", name, mine.job, mine.fence)
          };
          if
          :: jobs[mine.job].state == DELETING -> goto PlanDelete
          :: jobs[mine.job].state == DELETED || jobs[mine.job].state == REGISTERING -> goto BeginRegistering
          :: jobs[mine.job].state == REGISTERED -> goto ReleaseLock
          fi
       /* The reply is lost: the task is retried, fails, or ends with the execution. */
       :: target = 0; goto OpenJob
       :: target = 0; mine.headJob = 0; mine.headFence = 0; goto HaltJob
       :: target = 0; goto Stopped
       fi
     }
  orFails
  orStops
  fi;

PlanDelete:
  if
  :: atomic {
       areLanesIdle && !isShared(mine.job) ->
       d_step {
         planDelete(mine, !isEmpty);
         if
         :: outcome == DONE -> startLanes(DELETE, jobs[mine.job].planned)
         :: else
         fi
       };
       if
       orElse(STALE, HaltJob)
       orElse(DONE, DeleteChunks)
       fi
     }
  orLosesLock
  orZombie(PLAN, PlanDelete)
  orFails
  orStops
  fi;

DeleteChunks:
  if
  :: d_step { areLanesDone -> leaveMap() }
  :: d_step { lock != mine.token -> leaveMap() }; goto CountReacquire
  :: d_step { leaveMap() }; goto HaltJob
  :: d_step { leaveMap() }; goto Stopped
  fi;

MarkDeleted:
  if
  :: atomic {
       !isShared(mine.job) ->
       d_step { markDeleted(mine) };
       if
       orElse(STALE, HaltJob)
       orElse(NOT_EMPTY, PlanDelete)
       orElse(DONE, BeginRegistering)
       fi
     }
  orLosesLock
  orZombie(MARK_DELETED, MarkDeleted)
  orFails
  orStops
  fi;

BeginRegistering:
  if
  :: atomic {
       areLanesIdle && !isShared(mine.job) ->
       d_step {
         beginRegistering(mine);
         if
         :: outcome == DONE -> startLanes(REGISTER, (BOTH & ~jobs[mine.job].registerMarks))
         :: else
         fi
       };
       if
       orElse(STALE, HaltJob)
       orElse(DONE, RegisterChunks)
       fi
     }
  orLosesLock
  orZombie(BEGIN, BeginRegistering)
  orFails
  orStops
  fi;

RegisterChunks:
  if
  :: d_step { areLanesDone -> leaveMap() }
  :: d_step { lock != mine.token -> leaveMap() }; goto CountReacquire
  :: d_step { leaveMap() }; goto HaltJob
  :: d_step { leaveMap() }; goto Stopped
  fi;

MarkRegistered:
  if
  :: atomic {
       !isShared(mine.job) ->
       d_step { markRegistered(mine) };
       if
       orElse(STALE, HaltJob)
       orElse(DONE, ReleaseLock)
       fi
     }
  orLosesLock
  orZombie(MARK_REGISTERED, MarkRegistered)
  orFails
  orStops
  fi;

ReleaseLock:
  REACHED(REGISTERED_AT_LAST);
  if
  :: d_step { releaseOwn(mine, me) }; goto Done
  orZombie(RELEASE, ReleaseLock)
  orStops
  fi;

CountReacquire:
  atomic { mine.headJob = 0; mine.headFence = 0; printf("execution %c: LockLost\n", name); goto AcquireLock };

HaltJob:
#ifdef MUTANT_RELEASE_FIRST
  atomic { printf("execution %c: HaltJob releases before it raises\n", name); releaseOwn(mine, me) };
#endif
  if
  :: d_step {
       isOwn(mine, newest) && isOpen(newest) && !isShared(newest) ->
       target = newest;
       printf("execution %c: HaltJob\n", name);
       halt(target);
       target = 0
     }
  :: !(isOwn(mine, newest) && isOpen(newest))
  orZombie(HALT, HaltJob)
  orStops
  fi;
  d_step { releaseOwn(mine, me) };
  goto Done;

/* Ended without its Catch. The status event may come at any time, or never. */
Stopped:
  atomic { forgetRun(mine); printf("execution %c: ends without its Catch\n", name) };
  if
  :: d_step {
       (isOpenedByMe(1) && !isShared(1)) || (isOpenedByMe(2) && !isShared(2)) ->
       REACHED(STATUS_EVENT);
       printf("status event of execution %c\n", name);
       target = (isOpenedByMe(2) -> 2 : 1);
       mine.token = jobs[target].token;
       mine.fence = jobs[target].fence;
       halt(target);
       target = 0
     }
  :: goto Done
  fi;
  d_step { releaseOwn(mine, me) };

Done:
  atomic { forgetRun(mine) }
}

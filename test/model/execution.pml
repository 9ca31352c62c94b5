/*
 * An execution of the state machine: infra/machine. Labels are ASL states. At each of them the execution may be stopped, and
 * each task may fail, before or after it took effect.
 */

#define mine runs[me]
#define name ('A' + me)

/* The engine gives up on an attempt of `task`, which goes on by itself as the zombie. */
inline leaveBehind(task) {
  zombie = task;
  strayOf = me;
  runs[ZOMBIE].token = mine.token;
  runs[ZOMBIE].job = mine.job;
  runs[ZOMBIE].fence = mine.fence;
  runs[ZOMBIE].headJob = mine.headJob;
  runs[ZOMBIE].headFence = mine.headFence;
  runs[ZOMBIE].held = mine.held;
  printf("execution %c: a second attempt of the same task runs beside\n", name)
}
#ifdef STRAY_TASK
#define orZombie(task, label) :: d_step { zombie == NONE -> leaveBehind(task) }; goto label
#else
#define orZombie(task, label)
#endif
#ifdef OUTAGE
#define orOutage :: mine.held /* Valkey out of reach, policy `proceed` */
#else
#define orOutage
#endif
#define orFails :: goto HaltJob
#define orStops :: goto Stopped
#define verified \
  :: d_step { mine.held && lock != mine.token }; goto CountReacquire \
  :: d_step { (!mine.held || lock == mine.token) } orOutage

/* The workers of a run whose lock is released: from here on none of them may write. */
#define shut(w, execution_, fence_) \
  workers[w].shutOut = workers[w].shutOut || \
    (workers[w].step != IDLE && workers[w].execution == execution_ && workers[w].fence == fence_)
inline shutLanesOut(execution_, fence_) {
  shut(0, execution_, fence_);
  shut(1, execution_, fence_);
  shut(2, execution_, fence_);
  shut(STRAY, execution_, fence_)
}

inline startLane(w, phase_, due) {
  if
  :: (due) != 0 ->
     workers[w].step = VERIFY;
     workers[w].execution = me;
     workers[w].token = mine.token;
     workers[w].held = mine.held;
     workers[w].job = mine.job;
     workers[w].fence = mine.fence;
     workers[w].phase = phase_;
     workers[w].todo = due;
     workers[w].listed = 1
  :: else -> workers[w].outcome = DONE
  fi
}

#define startLanes(phase_, due) \
  if \
  :: me == A -> startLane(0, phase_, ((due) & 1)); startLane(1, phase_, ((due) & 2)) \
  :: else -> startLane(2, phase_, (due)) \
  fi; \
  mine.mapping = 1

inline leaveMap() {
  mine.mapping = 0;
  if
  :: me == A -> workers[0].outcome = NONE; workers[1].outcome = NONE
  :: else -> workers[2].outcome = NONE
  fi
}

#define lane1 workers[me * 2]
#define lane2 workers[me + 1] /* B's only lane is both */
#define areLanesIdle (lane1.step == IDLE && lane2.step == IDLE)
#define areLanesDone (lane1.outcome == DONE && lane2.outcome == DONE)
#define hasLane(result) (lane1.outcome == result || lane2.outcome == result)

inline own(r) {
  target = (newest > 0 && isOwn(r, newest) -> newest : 0)
}
inline raise(r) {
  if
  :: isOwn(r, target) && isOpen(target) -> halt(target)
  :: else
  fi;
  target = 0
}
inline releaseOwn(r, execution_) {
  if
  :: r.held -> release(r.token)
  :: else
  fi;
  shutLanesOut(execution_, r.fence)
}
inline forgetRun(r) {
  r.token = 0;
  r.job = 0;
  r.fence = 0;
  r.headJob = 0;
  r.headFence = 0;
  r.seen = 0;
  r.seenOpen = 0;
  r.seenRows = 0;
  r.nextFence = 0;
  r.listed = 0;
  r.held = 0
}

inline findOpen() {
  if
  :: inserted >= 2 && isOpen(2) && jobs[2].execution == me && !jobs[2].halted -> target = 2
  :: else ->
     if
     :: inserted >= 1 && isOpen(1) && jobs[1].execution == me && !jobs[1].halted -> target = 1
     :: else -> target = 0
     fi
  fi
}

/* Done in the step of the task that opened the job: the state as it was then decides the way. */
#define orElse(result, label) :: outcome == result -> outcome = NONE; goto label

proctype Execution(byte me) {
  byte outcome;
  byte target;
endMintToken:
MintToken:
  if
  :: d_step {
       (me == A || begun) && mine.token != me * 2 + 2 ->
       mine.token = (mine.token == 0 -> me * 2 + 1 : me * 2 + 2);
       mine.held = 1;
       printf("execution %c: mints token %d\n", name, mine.token)
     }
  :: mine.token == me * 2 + 2 -> goto HaltJob /* REACQUIRE_MAX */
  fi;

AcquireLock:
  if
  :: d_step {
       lock == 0 || lock == mine.token ->
       acquire(mine.token);
       begun = 1;
       printf("execution %c: acquires the lock with token %d\n", name, mine.token)
     }
  /* LockHeld; with the policy `wait` it stays here. */
  :: lock != 0 && lock != mine.token && mine.job == 0 -> goto Done
  :: lock != 0 && lock != mine.token && mine.job > 0 -> goto HaltJob
#ifdef OUTAGE
  :: d_step { mine.held = 0; begun = 1; printf("execution %c: proceeds without a lock\n", name) }
#endif
  orZombie(ACQUIRE, AcquireLock)
  orFails
  orStops
  fi;

  if
  :: d_step { mine.headJob = newest; mine.headFence = jobs[newest].fence }
  orFails
  orStops
  fi;

OpenJob:
  if
  verified
  orZombie(OPEN, OpenJob)
  orFails
  orStops
  fi;
  d_step { seeNewest(mine) };
  if
  :: atomic {
       !mine.seenOpen || !isShared(mine.seen) ->
       if
       :: d_step { decide(mine, me, true) }
       :: d_step { decide(mine, me, false) }
       fi;
       if
       :: outcome == DONE -> goto Opened
       orElse(CREATE, InsertJob)
       orElse(STALE, HaltJob)
       fi
     }
  orFails
  orStops
  fi;
InsertJob:
  if
  :: atomic {
       d_step { insert(mine, me) };
       if
       orElse(STALE, HaltJob)
       :: else -> skip
       fi;
Opened:
       outcome = NONE;
       if
       :: d_step {
            mine.job = target;
            mine.fence = jobs[target].fence;
            target = 0;
            mine.headJob = 0;
            mine.headFence = 0;
            printf("execution %c: OpenJob answers job %d fence %d\n", name, mine.job, mine.fence)
          };
          if
          :: jobs[mine.job].state == DELETING -> goto PlanDelete
          :: jobs[mine.job].state == DELETED || jobs[mine.job].state == REGISTERING -> goto BeginRegistering
          :: jobs[mine.job].state == REGISTERED -> goto ReleaseLock
          fi
       /* The reply is lost: the task is retried, fails or ends with the execution. */
       :: target = 0; goto OpenJob
       :: target = 0; goto HaltJob
       :: target = 0; goto Stopped
       fi
     }
  orFails
  orStops
  fi;

PlanDelete:
  if
  verified
  orZombie(PLAN, PlanDelete)
  orFails
  orStops
  fi;
  d_step { mine.seenRows = !isEmpty };
  if
  :: atomic {
       !isShared(mine.job) ->
       d_step { planDelete(mine); mine.listed = (outcome == DONE) };
       if
       orElse(STALE, HaltJob)
       orElse(DONE, DeleteChunks)
       fi
     }
  orFails
  orStops
  fi;

DeleteChunks:
  if
  :: d_step {
       areLanesIdle ->
       startLanes(DELETE, mine.listed * (jobs[mine.job].planned & ~jobs[mine.job].deleteMarks));
       mine.listed = 0
     }
  orFails
  orStops
  fi;
  if
  :: d_step { areLanesDone -> leaveMap() }
  :: d_step { hasLane(LOST) -> leaveMap() }; goto CountReacquire
  :: d_step { leaveMap() }; goto HaltJob
  :: d_step { leaveMap() }; goto Stopped
  fi;

  if
  verified
  orZombie(MARK_DELETED, DeleteChunks)
  orFails
  orStops
  fi;
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
  orFails
  orStops
  fi;

BeginRegistering:
  if
  verified
  orZombie(BEGIN, BeginRegistering)
  orFails
  orStops
  fi;
  if
  :: atomic {
       !isShared(mine.job) ->
       d_step { beginRegistering(mine) };
       if
       orElse(STALE, HaltJob)
       orElse(DONE, RegisterChunks)
       fi
     }
  orFails
  orStops
  fi;

RegisterChunks:
  if
  :: d_step { areLanesIdle -> startLanes(REGISTER, BOTH & ~jobs[mine.job].registerMarks) }
  orFails
  orStops
  fi;
  if
  :: d_step { areLanesDone -> leaveMap() }
  :: d_step { hasLane(LOST) -> leaveMap() }; goto CountReacquire
  :: d_step { leaveMap() }; goto HaltJob
  :: d_step { leaveMap() }; goto Stopped
  fi;

MarkRegistered:
  if
  verified
  orZombie(MARK_REGISTERED, MarkRegistered)
  orFails
  orStops
  fi;
  if
  :: atomic {
       !isShared(mine.job) ->
       d_step { markRegistered(mine) };
       if
       orElse(STALE, HaltJob)
       orElse(DONE, ReleaseLock)
       fi
     }
  orFails
  orStops
  fi;

ReleaseLock:
  REACHED((me == A -> REACH_REGISTERED_BY_A : REACH_REGISTERED_BY_B));
  if
  :: d_step { releaseOwn(mine, me) }; goto Done
  orZombie(RELEASE, ReleaseLock)
  orStops
  fi;

CountReacquire:
  atomic { mine.headJob = 0; mine.headFence = 0; printf("execution %c: LockLost\n", name) };
  goto MintToken;

HaltJob:
  atomic { mine.headJob = 0; mine.headFence = 0; mine.seen = 0; mine.seenOpen = 0; mine.nextFence = 0; mine.seenRows = 0 };
Halting:
#ifdef MUTANT_RELEASE_FIRST
  d_step { releaseOwn(mine, me) };
#endif
  if
  :: d_step { own(mine) }
  orZombie(HALT, Halting)
  orStops
  fi;
  if
  :: target == 0
  :: d_step { target > 0 && !isShared(target) -> printf("execution %c: HaltJob\n", name); raise(mine) }
  :: target = 0; goto Stopped
  fi;
  d_step { releaseOwn(mine, me) };
  goto Done;

/* Ended without its Catch. The status event may come at any time, or never; it knows the execution's name only. */
Stopped:
  atomic { forgetRun(mine); printf("execution %c: ends without its Catch\n", name) };
  if
  :: true
  :: atomic {
       d_step { findOpen() };
       if
       :: target == 0
       :: else ->
          d_step { mine.job = target; mine.fence = jobs[target].fence; mine.token = jobs[target].token; mine.held = 1 }
       fi
     };
     if
     :: target == 0
     :: d_step {
          target > 0 && !isShared(target) ->
          REACHED(REACH_STATUS_EVENT);
          printf("status event of execution %c\n", name);
          if
          :: jobs[target].execution == me && jobs[target].fence == mine.fence && isOpen(target) -> halt(target)
          :: else
          fi;
          target = 0
        };
        d_step { releaseOwn(mine, me) }
     fi
  fi;

Done:
  atomic { forgetRun(mine) }
}

/*
 * An execution of the state machine: infra/machine. Labels are ASL states; each is one step and the wait before it, during
 * which the execution may be stopped, its task fail, or an attempt of the task be given up on and go on as the zombie.
 * A failure after the effect is a failure before the next one's, so the waits need it only once.
 */

proctype Execution(byte me) {
  byte outcome, target;
end:
AcquireLock:
  if
  :: d_step {
       (me == A || begun) && mine.token != LAST_TOKEN ->
       mine.token = (mine.token == 0 -> me * 2 + 1 : me * 2 + 2);
       mine.headJob = newest;
       mine.headFence = jobs[newest].fence;
       mine.withdrawnSince = 0;
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
       isNewestFree && mayClear ->
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
  orZombie(ACQUIRE, OpenJob)
  orElsewhere(OPEN, OpenJob)
  fi;

/* Still OpenJob's transaction, before its insert. */
InsertJob:
  if
  :: atomic {
       mayClear ->
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
#ifdef REUSES
          :: jobs[mine.job].state == DELETING && jobs[mine.job].reuses -> goto ReuseSet
#endif
          :: jobs[mine.job].state == DELETING && !jobs[mine.job].reuses -> goto PlanDelete
          :: jobs[mine.job].state == DELETED || jobs[mine.job].state == REGISTERING -> goto BeginRegistering
          :: jobs[mine.job].state == REGISTERED -> goto ReleaseLock
          fi
       /* The reply is lost: the task is retried, fails, or ends with the execution. */
       :: target = 0; goto OpenJob
       :: target = 0; mine.headJob = 0; mine.headFence = 0; goto HaltJob
       :: target = 0; goto Stopped
       fi
     }
  orEnds
  fi;

#ifdef REUSES
ReuseSet:
  if
  :: atomic {
       !isShared(mine.job) && mayShow(mine) ->
       d_step { reuseSet(mine, mayReuse(mine.job)) };
       if
       orElse(STALE, HaltJob)
       orElse(NOT_EMPTY, PlanDelete)
       orElse(DONE, ReleaseLock)
       fi
     }
  orElsewhere(REUSE, ReuseSet)
  fi;
#endif

PlanDelete:
  if
  :: atomic {
       areLanesIdle && !isShared(mine.job) ->
       d_step {
         planDelete(mine, !isEmpty(mine.job));
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
  orElsewhere(PLAN, PlanDelete)
  fi;

DeleteChunks:
  map();

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
  orElsewhere(MARK_DELETED, MarkDeleted)
  fi;

BeginRegistering:
  if
  :: atomic {
       areLanesIdle && !isShared(mine.job) ->
       d_step {
         beginRegistering(mine);
         if
         :: outcome == DONE -> startLanes(REGISTER, (wholeOf(mine.job) & ~jobs[mine.job].registerMarks))
         :: else
         fi
       };
       if
       orElse(STALE, HaltJob)
       orElse(DONE, RegisterChunks)
       fi
     }
  orElsewhere(BEGIN, BeginRegistering)
  fi;

RegisterChunks:
  map();

MarkRegistered:
  if
  :: atomic {
       !isShared(mine.job) && mayShow(mine) ->
       d_step { markRegistered(mine) };
       if
       orElse(STALE, HaltJob)
#ifdef MUTANT_SWITCH_OUTSIDE
       orElse(DONE, Switch)
#endif
       orElse(DONE, ReleaseLock)
       fi
     }
  orElsewhere(MARK_REGISTERED, MarkRegistered)
  fi;

#ifdef MUTANT_SWITCH_OUTSIDE
Switch:
  if
  :: d_step { !isReadLocked -> showSet(mine) }
  orEnds
  fi;
#endif

ReleaseLock:
  REACHED(REGISTERED_AT_LAST);
  if
  :: d_step { releaseOwn(mine, me) }; goto Done
  orZombie(RELEASE, ReleaseLock) orStops
  fi;

CountReacquire:
  atomic { mine.headJob = 0; mine.headFence = 0; printf("execution %c: LockLost\n", name); goto AcquireLock };

HaltJob:
#ifdef MUTANT_RELEASE_FIRST
  atomic { printf("execution %c: HaltJob releases before it raises\n", name); releaseOwn(mine, me) };
#endif
  if
  :: d_step {
       isOwn(mine, newest, me) && isOpen(newest) && !isShared(newest) ->
       target = newest;
       printf("execution %c: HaltJob\n", name);
       halt(target, me);
       target = 0
     }
  :: !(isOwn(mine, newest, me) && isOpen(newest))
  orZombie(HALT, HaltJob)
  orStops
  fi;
  d_step { releaseOwn(mine, me) };
  goto Done;

/*
 * Ended without its Catch. The status event may come at any time, or never. It first says that the execution is over, then
 * looks for its job: an OpenJob in flight commits before, and its job is seen, or is refused.
 */
Stopped:
  atomic { forgetRun(mine); printf("execution %c: ends without its Catch\n", name) };
  if
#ifndef MUTANT_LOOKS_FIRST
  :: d_step { !isOpening(me) -> ended[me] = 1; printf("status event: execution %c is over\n", name) }
#else
  :: true
#endif
  :: goto Done
  fi;
  if
  :: d_step {
       (isOpenedByMe(1) && !isShared(1)) || (isOpenedByMe(2) && !isShared(2)) ->
       REACHED(STATUS_EVENT);
       printf("status event of execution %c\n", name);
       target = (isOpenedByMe(2) -> 2 : 1);
       mine.token = jobs[target].token;
       mine.fence = jobs[target].fence;
       halt(target, me);
       target = 0
     };
     d_step { releaseOwn(mine, me) }
  :: !isOpenedByMe(1) && !isOpenedByMe(2)
  fi;
#ifdef MUTANT_LOOKS_FIRST
  d_step { !isOpening(me) -> ended[me] = 1; printf("status event: execution %c is over\n", name) };
#endif
  INVARIANT(ENDED, !isOpenedByMe(1) && !isOpenedByMe(2));

Done:
  atomic { forgetRun(mine) }
}

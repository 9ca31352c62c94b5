/*
 * A task that the engine gave up on and that goes on by itself: same input, same code, its answer goes nowhere. It may wait
 * before any step, or never go on.
 */
#define its runs[ZOMBIE]

inline forgetZombie() {
  forgetRun(its);
  zombie = NONE;
  strayOf = 0;
  outcome = NONE;
  target = 0
}

proctype Zombie() {
  byte outcome;
  byte target;
end:
  do
#if STRAY_TASKS & OPENING_TASKS
  :: d_step {
       zombie == ACQUIRE && lock == 0 ->
       printf("zombie: acquires the lock, token %d\n", its.token);
       acquire(its.token);
       forgetZombie()
     }
  :: d_step {
       zombie == OPEN && its.nextFence == 0 && isNewestFree && mayClear ->
       printf("zombie: OpenJob\n");
       decide(its, strayOf, true);
       if
       :: outcome == CREATE -> outcome = NONE
       :: else -> forgetZombie()
       fi
     }
  :: d_step { zombie == OPEN && its.nextFence > 0 && mayClear -> printf("zombie: inserts\n"); insert(its, strayOf); forgetZombie() }
#endif

#if STRAY_TASKS & TRANSITION_TASKS
  :: d_step { zombie == PLAN && !its.seenRows && !isEmpty(its.job) -> its.seenRows = 1 }
  :: d_step {
       zombie == PLAN && !isShared(its.job) ->
       printf("zombie: PlanDelete\n");
       planDelete(its, its.seenRows);
       forgetZombie()
     }
  :: d_step { zombie == MARK_DELETED && !isShared(its.job) -> markDeleted(its); forgetZombie() }
  :: d_step { zombie == BEGIN && !isShared(its.job) -> beginRegistering(its); forgetZombie() }
  :: d_step { zombie == MARK_REGISTERED && !its.seenRows && isCounted(its.job) -> its.seenRows = 1 }
  :: d_step {
       zombie == MARK_REGISTERED && (its.seenRows || !isCounted(its.job)) && !isShared(its.job) && mayShow(its) ->
       markRegistered(its);
       forgetZombie()
     }
#ifdef REUSES
  :: d_step { zombie == REUSE && !its.seenRows && mayReuse(its.job) -> its.seenRows = 1 }
  :: d_step {
       zombie == REUSE && (its.seenRows || !mayReuse(its.job)) && !isShared(its.job) && mayShow(its) ->
       printf("zombie: ReuseSet\n");
       reuseSet(its, its.seenRows);
       forgetZombie()
     }
#endif
#endif

#if STRAY_TASKS & ENDING_TASKS
  :: d_step { zombie == RELEASE -> release(its.token); forgetZombie() }
  :: d_step {
       zombie == HALT && isOwn(its, newest, strayOf) && isOpen(newest) && !isShared(newest) ->
       printf("zombie: HaltJob\n");
       target = newest;
       halt(target, strayOf);
       target = 0;
       zombie = HALT_RELEASE
     }
  :: d_step { zombie == HALT && !(isOwn(its, newest, strayOf) && isOpen(newest)) -> zombie = HALT_RELEASE }
  :: d_step { zombie == HALT_RELEASE -> releaseOwn(its, strayOf); forgetZombie() }
#endif

  :: d_step { zombie != NONE -> forgetZombie() } /* it never goes on */
  od
}

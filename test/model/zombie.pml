/*
 * A task that the engine gave up on and that goes on by itself: same input, same code, its answer goes nowhere. It may wait
 * at any step, or never go on.
 */
#define its runs[ZOMBIE]
#define orGoesNoFurther :: skip

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
  :: zombie == ACQUIRE ->
     if
     :: d_step { lock == 0 || lock == its.token -> acquire(its.token); printf("zombie: acquires the lock, token %d\n", lock) }
     orGoesNoFurther
     fi;
     d_step { forgetZombie() }

  :: zombie == RELEASE ->
     if
     :: d_step { release(its.token) }
     orGoesNoFurther
     fi;
     d_step { forgetZombie() }

  :: zombie == HALT ->
     d_step { own(its) };
     if
     :: d_step {
          target > 0 && !isShared(target) -> printf("zombie: HaltJob\n"); raise(its)
        };
        d_step { releaseOwn(its, strayOf) }
     :: d_step { target == 0 -> releaseOwn(its, strayOf) }
     orGoesNoFurther
     fi;
     d_step { forgetZombie() }

  :: d_step { zombie > NONE && zombie != ACQUIRE && zombie != RELEASE && zombie != HALT -> extend(its) };
     if
     :: outcome == DONE && zombie == OPEN ->
        d_step { outcome = NONE; seeNewest(its) };
        if
        :: d_step {
             !its.seenOpen || !isShared(its.seen) ->
             printf("zombie: OpenJob\n");
             decide(its, strayOf, true)
           };
           if
           :: d_step { outcome == CREATE -> printf("zombie: OpenJob inserts\n"); insert(its, strayOf) }
           orGoesNoFurther
           fi
        orGoesNoFurther
        fi
     :: outcome == DONE && zombie == PLAN ->
        d_step { outcome = NONE; its.seenRows = !isEmpty };
        if
        :: d_step { !isShared(its.job) -> printf("zombie: PlanDelete\n"); planDelete(its) }
        orGoesNoFurther
        fi
     :: d_step { outcome == DONE && zombie == MARK_DELETED && !isShared(its.job) -> markDeleted(its) }
     :: d_step { outcome == DONE && zombie == BEGIN && !isShared(its.job) -> beginRegistering(its) }
     :: d_step { outcome == DONE && zombie == MARK_REGISTERED && !isShared(its.job) -> markRegistered(its) }
     orGoesNoFurther
     fi;
     d_step { forgetZombie() }
  od
}

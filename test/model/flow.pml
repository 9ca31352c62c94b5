/*
 * What an execution does besides its tasks: it starts and leaves Maps, loses its lock, is given up on, forgets.
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
  runs[ZOMBIE].withdrawnSince = mine.withdrawnSince;
  printf("execution %c: a task's first attempt is given up on and goes on by itself\n", name)
}
#ifdef STRAY_TASKS
#define orZombie(task, label) :: d_step { zombie == NONE && (STRAY_TASKS & task) -> leaveBehind(task) }; goto label
#else
#define orZombie(task, label)
#endif
#define orFails :: atomic { mine.headJob = 0; mine.headFence = 0; mine.nextFence = 0; mine.nextSlot = 0; goto HaltJob }
#define orStops :: goto Stopped
#define orEnds orFails orStops
#define orLosesLock :: lock != mine.token -> goto CountReacquire
#define orIsRefused :: outcome == STALE -> outcome = NONE; mine.headJob = 0; mine.headFence = 0; goto HaltJob
#define orElsewhere(task, label) orLosesLock orZombie(task, label) orEnds
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

/* Both Maps: the lanes are done, one of them lost the lock or failed, or the execution is stopped. */
#define map() \
  if \
  :: d_step { areLanesDone -> leaveMap() } \
  :: d_step { lock != mine.token -> leaveMap() }; goto CountReacquire \
  :: d_step { leaveMap() }; goto HaltJob \
  :: d_step { leaveMap() }; goto Stopped \
  fi

inline forgetRun(r) {
  r.token = 0;
  r.job = 0;
  r.fence = 0;
  r.headJob = 0;
  r.headFence = 0;
  r.nextFence = 0;
  r.nextSlot = 0;
  r.withdrawnSince = 0;
  r.seenRows = 0
}

#ifndef REACQUIRES_A
#define REACQUIRES_A 0
#endif
#ifndef REACQUIRES_B
#define REACQUIRES_B 0
#endif
#define LAST_TOKEN (me * 2 + 1 + (me == A -> REACQUIRES_A : REACQUIRES_B))

/*
 * jobOfExecution: what the status event knows is the execution's name only. That it releases the lock behind REGISTERED is
 * left out: nothing is written any more.
 */
#define isOpenedByMe(j) (inserted >= j && isOpen(j) && !jobs[j].halted && jobs[j].execution == me)

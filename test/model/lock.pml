/*
 * Valkey: functions/store/lock. Each inline is one Lua script, so one step. There is no clock: the TTL may end at any
 * moment, which also covers a flush, a restart without data, an eviction and a failover that lost the key.
 */

inline acquire(token_) {
  INVARIANT(5, lock == 0 || lock == token_);
  lock = token_;
  holder = token_
}

/* Whether it is held decides less than one thinks: see chunk.pml. */
inline extend(token_) {
#ifdef MUTANT_RENEWAL_CREATES
  if
  :: lock == 0 ->
     printf("  the renewal sets the key, which does not exist, to token %d\n", token_);
     lock = token_
  :: else
  fi;
#endif
  INVARIANT(5, lock == holder)
}

inline release(token_) {
  if
#ifdef MUTANT_UNCONDITIONAL_DEL
  :: lock != 0 ->
     printf("  DEL, meant for the lock of token %d, removes that of token %d\n", token_, lock);
#else
  :: lock == token_ ->
     printf("  the lock of token %d is released\n", lock);
#endif
     INVARIANT(5, lock == token_);
     lock = 0;
     holder = 0
  :: else
  fi
}

/* Also the lock of a dead run ends this way, so nobody waits for ever. */
proctype Valkey() {
end:
  do
  :: d_step {
       lock != 0 ->
       printf("Valkey: the lock of token %d expires\n", lock);
       lock = 0;
       holder = 0
     }
  od
}

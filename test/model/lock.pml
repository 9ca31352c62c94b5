/*
 * Valkey: functions/store/lock. Each inline is one Lua script, so one step. There is no clock: the TTL may end at any
 * moment, which also stands for a flush, a restart with no data, an eviction and a failover that lost the key.
 */

inline acquire(token_) {
  INVARIANT(5, lock == 0 || lock == token_);
  lock = token_;
  holder = token_
}

/* Answers in the caller's `outcome`. */
inline extend(run_) {
  if
  :: !run_.held -> outcome = DONE
  :: run_.held && lock == run_.token -> outcome = DONE
#ifdef MUTANT_RENEWAL_CREATES
  :: run_.held && lock == 0 ->
     lock = run_.token;
     printf("  renewing sets the key that does not exist, to token %d\n", run_.token);
     outcome = DONE
  :: run_.held && lock != 0 && lock != run_.token -> outcome = LOST
#else
  :: run_.held && lock != run_.token -> outcome = LOST
#endif
  fi;
  INVARIANT(5, lock == holder)
}

inline release(token_) {
#ifdef MUTANT_UNCONDITIONAL_DEL
  if
  :: lock != 0 ->
     printf("  DEL removes the lock of token %d, meant for %d\n", lock, token_);
     INVARIANT(5, lock == token_);
#else
  if
  :: lock == token_ ->
     printf("  the lock of token %d is released\n", token_);
#endif
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

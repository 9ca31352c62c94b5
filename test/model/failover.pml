/*
 * A failover of MySQL that loses the last commit: an OpenJob that was answered. Its number and fence are issued again, so
 * two runs hold the same ones. Left out: what else a failover may lose (a restore raises every fence, see docs/runbook.md).
 */
#define isLast(j) (inserted == (j) && newest == (j) && isOpen(j) && !isShared(j))
#define isFresh(j) \
  (jobs[j].state == DELETING && jobs[j].deleteEffects == 0 && !jobs[j].halted && jobs[j].fence == 1 + jobs[(j) - 1].fence)
/* Nothing else was in the same transaction: with job 2 it could have been the closing of job 1. */
#define isAlone(j) ((j) == 1 || jobs[(j) - 1].state == REGISTERED)

proctype Failover() {
end:
  d_step {
    inserted > 0 && isLast(inserted) && isFresh(inserted) && isAlone(inserted) ->
    REACHED(COMMIT_LOST);
    printf("MySQL fails over and loses the opening of job %d\n", inserted);
    jobs[inserted].state = 0;
    jobs[inserted].fence = 0;
    jobs[inserted].token = 0;
    jobs[inserted].execution = 0;
    jobs[inserted].source = 0;
    jobs[inserted].planned = 0;
    jobs[inserted].slot = 0;
    jobs[inserted].reuses = 0;
    inserted--
  }
}

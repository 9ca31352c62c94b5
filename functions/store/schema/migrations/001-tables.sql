-- Each table states its engine and character set: a server's defaults may be others, and a name or a reason may be
-- Hangul.

-- A distributor delivers one file a month. An unknown code is an error, so rows are added by people only.
create table if not exists distributor (
  id           int unsigned not null auto_increment primary key,
  code         varchar(32) character set ascii collate ascii_bin not null,
  name         varchar(200) not null,
  active       boolean not null default true,
  -- hold: tracks whose shares exceed 100 are left out and listed, and the rest of the file is registered.
  over_claim   enum ('refuse', 'hold') not null default 'refuse',
  sum_rule     enum ('at-most', 'exact') not null,
  party_scheme enum ('opaque', 'ipi') not null,
  -- standby: a job writes the slot that readers do not see. in-place: half the storage, and no month while a job runs.
  replace_mode enum ('standby', 'in-place') not null default 'standby',
  created_at   timestamp(6) not null default current_timestamp(6),
  unique key distributor_code (code)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

-- The natural key is the clustered key: a set is contiguous, ranges delete and load sequentially, and MySQL itself refuses a
-- duplicate. A surrogate key made deleting a slice several times slower.
-- A slice has two slots. The two border rows of a slot, below and above every track, end the locks of whoever reads between
-- them, so that a reader never stops the other slot or the slice beside it.
create table if not exists share_ratio (
  distributor_id   int unsigned not null,
  settlement_month date not null,
  slot             tinyint unsigned not null,
  isrc             char(12) character set ascii collate ascii_bin not null,
  right_type       varchar(20) character set ascii collate ascii_bin not null,
  party_id         varchar(20) character set ascii collate ascii_bin not null,
  share            decimal(9, 6) not null,
  primary key (distributor_id, settlement_month, slot, isrc, right_type, party_id),
  constraint share_ratio_month check (dayofmonth(settlement_month) = 1),
  constraint share_ratio_slot check (slot in (0, 1)),
  constraint share_ratio_share check ((isrc in ('', '[') and share = 0) or (isrc > '' and isrc < '[' and share > 0 and share <= 100))
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

-- One replacement of a slice, and the truth about how far it got.
create table if not exists job (
  id               bigint unsigned not null auto_increment primary key,
  distributor_id   int unsigned not null,
  settlement_month date not null,
  state            enum ('DELETING', 'DELETED', 'REGISTERING', 'REGISTERED') not null,
  -- Where its set lies; decided when the job is opened, and kept by whoever takes it over.
  slot             tinyint unsigned not null default 0,
  -- The slot holds the wanted set already, from an earlier job: it is checked and shown, not registered again.
  reuses_set       boolean not null default false,
  -- Issued by OpenJob, raised by HaltJob; a write that names an older one is refused.
  fence            int unsigned not null,
  -- Who may write: the lock token of the last OpenJob, which every guard compares. Null once the job is halted or
  -- closed.
  lock_token       varchar(128) character set ascii collate ascii_bin null,
  execution        varchar(512) character set ascii collate ascii_bin not null,
  -- Which life of the execution: a name can be used again after 90 days, and an ended execution can be redriven.
  execution_started_ms bigint unsigned not null default 0,
  execution_redrives   int unsigned not null default 0,
  requested_by     varchar(2048) not null,
  -- What is registered: the staged source and what its manifest promises.
  source_digest    char(64) character set ascii collate ascii_bin not null,
  source_rows      bigint unsigned not null,
  source_share_sum decimal(20, 6) not null,
  -- Opened by an undo: the same request again means this source and not the one before it.
  is_undo          boolean not null default false,
  -- Since the last OpenJob.
  delete_plans     int unsigned not null default 0,
  -- A halt is an annotation: when, in which step and why the job stopped. Cleared by the next OpenJob.
  halted_at        timestamp(6) null,
  halt_error       varchar(100) null,
  halt_cause       varchar(2000) null,
  -- Whose locks the switch waits for, and since when; cleared by the switch and by the next OpenJob.
  waits_for        varchar(500) null,
  waiting_since    timestamp(6) null,
  -- Set when another source closed this job before REGISTERED.
  closed_at        timestamp(6) null,
  created_at       timestamp(6) not null default current_timestamp(6),
  opened_at        timestamp(6) not null default current_timestamp(6),
  deleted_at       timestamp(6) null,
  registering_at   timestamp(6) null,
  registered_at    timestamp(6) null,
  -- When its set was taken from the readers, which a replacement by another set is not.
  withdrawn_at     timestamp(6) null,
  open_slice       tinyint generated always as (if(state <> 'REGISTERED' and closed_at is null, 1, null)) stored,
  -- At most one open job per slice, even if the lock was lost.
  unique key job_open_slice (distributor_id, settlement_month, open_slice),
  -- Fences of a slice never repeat.
  unique key job_slice_fence (distributor_id, settlement_month, fence),
  key job_execution (execution),
  key job_halted (halted_at),
  -- Open jobs are few among many. The sweeper and the operators' checks look for them every few minutes.
  key job_open (open_slice),
  constraint job_distributor foreign key (distributor_id) references distributor (id),
  constraint job_month check (dayofmonth(settlement_month) = 1)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

-- What readers see: one row for each slice that ever had a job, with the slot and the job of the set; both null where they
-- see none. It is written where a set is shown or hidden, and nowhere else, so a reader who locks it delays nothing else.
create table if not exists active_set (
  distributor_id   int unsigned not null,
  settlement_month date not null,
  slot             tinyint unsigned null,
  job_id           bigint unsigned null,
  primary key (distributor_id, settlement_month),
  constraint active_set_whole check ((slot is null) = (job_id is null))
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

-- Executions that opened or want to open a job, and which of them may not any more. OpenJob writes its row in its own
-- transaction, the one that ends the execution writes it before looking for the job, so the later of the two sees the
-- earlier.
create table if not exists execution (
  -- Its name, as the lock's token has it too.
  name             varchar(128) character set ascii collate ascii_bin not null primary key,
  -- The life that ended, as Step Functions told it: its start, and how often it had been redriven.
  ended_started_ms bigint unsigned null,
  ended_redrives   int unsigned null,
  -- When an operator unlocked its slice; whichever life it was.
  unlocked_at      timestamp(6) null
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

-- The ledger: a chunk's mark commits together with the chunk's effect.
create table if not exists job_chunk (
  job_id        bigint unsigned not null,
  phase         enum ('delete', 'register') not null,
  number        int unsigned not null,
  -- delete: tracks from_isrc <= isrc < before_isrc (null: to the end); register: the object's first and last track.
  from_isrc     char(12) character set ascii collate ascii_bin not null,
  before_isrc   char(12) character set ascii collate ascii_bin null,
  -- register: what the staged object holds.
  object_digest char(64) character set ascii collate ascii_bin null,
  -- Rows planned until marked, rows changed afterwards.
  row_count     int unsigned not null,
  marked_at     timestamp(6) null,
  primary key (job_id, phase, number),
  constraint job_chunk_job foreign key (job_id) references job (id)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

-- Events written in the transition's own transaction and published afterwards, at least once.
create table if not exists outbox (
  id           bigint unsigned not null auto_increment primary key,
  event_id     char(36) character set ascii collate ascii_bin not null,
  job_id       bigint unsigned not null,
  type         varchar(50) character set ascii collate ascii_bin not null,
  payload      json not null,
  created_at   timestamp(6) not null default current_timestamp(6),
  published_at timestamp(6) null,
  -- Where the topic refused this event: how often, why last, and when it is tried again. Others go on meanwhile.
  attempts        int unsigned not null default 0,
  last_error      varchar(500) null,
  set_aside_until timestamp(6) null,
  unique key outbox_event (event_id),
  key outbox_pending (published_at, id),
  key outbox_job (job_id),
  constraint outbox_job_of foreign key (job_id) references job (id)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

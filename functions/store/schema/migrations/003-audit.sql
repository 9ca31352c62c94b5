-- What operators did, who and why. A line is written in the transaction of the change that it records, and is never
-- changed or deleted: the functions' user may only insert and read. Codes, and no references: a line outlives what it names.
create table if not exists audit (
  id               bigint unsigned not null auto_increment primary key,
  at               timestamp(6) not null default current_timestamp(6),
  -- As AWS names the caller. Recorded, not proved: AWS's own trail of the invocation is the proof.
  caller           varchar(2048) not null,
  action           varchar(50) character set ascii collate ascii_bin not null,
  distributor      varchar(32) character set ascii collate ascii_bin not null,
  settlement_month date null,
  job_id           bigint unsigned null,
  -- The name of an execution.
  execution        varchar(80) character set ascii collate ascii_bin null,
  why              varchar(500) not null,
  detail           json not null,
  -- Lines of a distributor, of its slice, of a month. The primary key, by which they are ordered, ends each key.
  key audit_slice (distributor, settlement_month),
  key audit_month (settlement_month)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

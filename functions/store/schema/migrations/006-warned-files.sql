-- Delivered files that the schedule did not start, since nobody had confirmed their warnings: the newest of each slice. A job
-- of the slice that is opened later is the answer to it.
create table if not exists warned_file (
  distributor_id   int unsigned not null,
  settlement_month date not null,
  source_key       varchar(1024) not null,
  -- Of one content: another delivery under the same key has another one.
  etag             varchar(200) not null,
  source_digest    char(64) character set ascii collate ascii_bin not null,
  execution        varchar(512) character set ascii collate ascii_bin not null,
  -- [{"name": ..., "count": ...}, ...]
  warnings         json not null,
  at               timestamp(6) not null default current_timestamp(6),
  primary key (distributor_id, settlement_month),
  key warned_file_month (settlement_month),
  constraint warned_file_distributor foreign key (distributor_id) references distributor (id)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

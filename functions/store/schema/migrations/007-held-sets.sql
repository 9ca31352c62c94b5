-- What was left out of a staged source, since its tracks exceed 100: a fact of the set, so every job of it has the same. The rows
-- themselves are an object beside the staged ones. A row is never changed.
create table if not exists held_set (
  source_digest  char(64) character set ascii collate ascii_bin not null primary key,
  held_rows      bigint unsigned not null,
  held_share_sum decimal(20, 6) not null,
  held_tracks    bigint unsigned not null,
  first_tracks   json not null,
  object_bytes   bigint unsigned not null,
  object_digest  char(64) character set ascii collate ascii_bin not null,
  -- The whole file, counted before anything was left out.
  file_rows      bigint unsigned not null,
  file_share_sum decimal(20, 6) not null
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

-- Which server issued the fences that are here. A restored database is on another server than the one that issued the newest
-- fences: whoever issues the next one raises the floor first. The largest int is reached in 2106.
create table if not exists fence_floor (
  id          tinyint unsigned not null primary key,
  server_uuid char(36) character set ascii collate ascii_bin not null,
  -- Of the instance, as RDS names it and the deployment knows it; null where there is none.
  resource_id varchar(64) character set ascii collate ascii_bin null,
  -- No fence below it is issued.
  floor       int unsigned not null,
  raised_at   timestamp(6) null,
  constraint fence_floor_one check (id = 1)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

-- Where there are jobs already, this database was restored to a moment before it had this table.
insert ignore into fence_floor (id, server_uuid, floor)
select 1, @@server_uuid, if(exists (select 1 from job), unix_timestamp(), 0);

-- How a distributor writes its files. A version is never changed or removed: the newest counts, and a job names the one
-- that read its file. A distributor without any sends the canonical file, which is version 0.
create table if not exists profile (
  distributor_id int unsigned not null,
  version        int unsigned not null,
  document       json not null,
  set_by         varchar(2048) not null,
  why            varchar(500) not null,
  set_at         timestamp(6) not null default current_timestamp(6),
  primary key (distributor_id, version),
  constraint profile_distributor foreign key (distributor_id) references distributor (id)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci;

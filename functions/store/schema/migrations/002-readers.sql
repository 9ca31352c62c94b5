-- What settlement programs read: the set of each slice that is shown now, whole. The join starts at the slice's one row of
-- active_set, which the transaction that sets REGISTERED changes, so every kind of read sees the old set or the new one. A
-- query on one slice stays a range read of share_ratio. It reads strictly between the border rows of a slot: the locks of a
-- locking read then end within it.
create or replace view settled_share_ratio as
select d.code as distributor, s.distributor_id, s.settlement_month, a.job_id, s.isrc, s.right_type, s.party_id, s.share
from active_set a
join distributor d on d.id = a.distributor_id
straight_join share_ratio s on s.distributor_id = a.distributor_id and s.settlement_month = a.settlement_month
                           and s.slot = a.slot and s.isrc > '' and s.isrc < '[';

-- Every set that still lies whole in its slot: the one that is shown, and the one before it until the next job of the slice
-- begins. For who paid by a set and wants to read that one again, by its job_id. It reads jobs, so read it without locks.
create or replace view kept_share_ratio as
select d.code as distributor, s.distributor_id, s.settlement_month, j.id as job_id, s.isrc, s.right_type, s.party_id, s.share
from job j
join distributor d on d.id = j.distributor_id
straight_join share_ratio s on s.distributor_id = j.distributor_id and s.settlement_month = j.settlement_month
                           and s.slot = j.slot and s.isrc > '' and s.isrc < '['
where j.state = 'REGISTERED'
  and j.fence = (select max(n.fence) from job n
                 where n.distributor_id = j.distributor_id and n.settlement_month = j.settlement_month and n.slot = j.slot);

-- One row per slice that ever had a job: what its newest job does, and whose set is read meanwhile (read_job_id, with its
-- rows and their sum; null: none).
create or replace view slice_status as
select d.code as distributor, j.distributor_id, j.settlement_month,
       case when j.withdrawn_at is not null and a.job_id is null then 'withdrawn'
            when j.halted_at is not null and a.job_id is not null then concat('halted, the set of job ', a.job_id, ' is read')
            when j.halted_at is not null then 'halted'
            when j.state = 'REGISTERED' then 'settled'
            when a.job_id is not null then 'settled, a new set is being registered'
            else 'being replaced' end as status,
       j.id as job_id, j.state, j.fence, j.opened_at, j.registered_at, j.halted_at, j.halt_error, j.waits_for,
       a.job_id as read_job_id, r.source_rows as row_count, r.source_share_sum as share_sum
from job j
join distributor d on d.id = j.distributor_id
left join active_set a on a.distributor_id = j.distributor_id and a.settlement_month = j.settlement_month
left join job r on r.id = a.job_id
where not exists (select 1 from job n
                  where n.distributor_id = j.distributor_id and n.settlement_month = j.settlement_month
                    and n.fence > j.fence);

drop procedure if exists require_settled_slice;

-- For programs that must stop rather than pay out nothing: an error naming the job and its state unless a set of the slice
-- is shown. It holds the slice's row of active_set until the caller's transaction ends: no set is shown or hidden before that,
-- so every read of the transaction by a locking statement sees one set. The code is compared byte for byte, as the view does:
-- a code in another case is another distributor.
create procedure require_settled_slice(in distributor_code varchar(32) character set ascii collate ascii_bin, in month_text char(7))
  reads sql data
begin
  declare shown_job bigint unsigned;
  declare found_job bigint unsigned;
  declare found_state varchar(20);
  declare found_status varchar(100);
  declare problem varchar(128);
  declare month_day date default str_to_date(concat(month_text, '-01'), '%Y-%m-%d');
  -- Both with locks: under REPEATABLE READ a plain read would fix what the transaction reads before the wait for a switch.
  select a.job_id into shown_job
  from distributor d
  straight_join active_set a on a.distributor_id = d.id
  where d.code = distributor_code and a.settlement_month = month_day
  for share;
  if shown_job is null then
    select job_id, state, status into found_job, found_state, found_status
    from slice_status
    where distributor = distributor_code and settlement_month = month_day;
    if found_job is null then
      set problem = concat(distributor_code, ' ', month_text, ' was never registered');
    else
      set problem = concat(distributor_code, ' ', month_text, ' is ', found_status, ': job ', found_job, ' is ', found_state);
    end if;
    signal sqlstate '45000' set message_text = problem;
  end if;
end;

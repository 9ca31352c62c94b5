-- What settlement programs read: only slices whose newest job is REGISTERED. The join starts at the job, so a slice that
-- is being replaced contributes no row at all, and a query on one slice stays a range read of share_ratio. The newest job
-- is found once for each job of a slice, and before any share is read: as an antijoin it would be looked up for every
-- share, and the slice be read once for each time it had ever been registered.
create or replace view settled_share_ratio as
select d.code as distributor, s.distributor_id, s.settlement_month, s.isrc, s.right_type, s.party_id, s.share
from job j
join distributor d on d.id = j.distributor_id
straight_join share_ratio s on s.distributor_id = j.distributor_id and s.settlement_month = j.settlement_month
where j.state = 'REGISTERED'
  and j.fence = (select max(n.fence) from job n
                 where n.distributor_id = j.distributor_id and n.settlement_month = j.settlement_month);

-- Tells "being replaced" from "empty": one row per slice that ever had a job.
create or replace view slice_status as
select d.code as distributor, j.distributor_id, j.settlement_month,
       case when j.state = 'REGISTERED' then 'settled'
            when j.halted_at is not null then 'halted'
            else 'being replaced' end as status,
       j.id as job_id, j.state, j.fence, j.opened_at, j.registered_at, j.halted_at, j.halt_error,
       if(j.state = 'REGISTERED', j.source_rows, null) as row_count,
       if(j.state = 'REGISTERED', j.source_share_sum, null) as share_sum
from job j
join distributor d on d.id = j.distributor_id
where not exists (select 1 from job n
                  where n.distributor_id = j.distributor_id and n.settlement_month = j.settlement_month
                    and n.fence > j.fence);

drop procedure if exists require_settled_slice;

-- For programs that must stop rather than pay out nothing: an error naming the job and its state unless the slice is
-- settled. The code is compared byte for byte, as the view does: a code in another case is another distributor. Call it
-- and read settled_share_ratio in one REPEATABLE READ transaction.
create procedure require_settled_slice(in distributor_code varchar(32) character set ascii collate ascii_bin, in month_text char(7))
  reads sql data
begin
  declare found_job bigint unsigned;
  declare found_state varchar(20);
  declare found_status varchar(20);
  declare problem varchar(128);
  select job_id, state, status into found_job, found_state, found_status
  from slice_status
  where distributor = distributor_code and settlement_month = str_to_date(concat(month_text, '-01'), '%Y-%m-%d');
  if found_job is null then
    set problem = concat(distributor_code, ' ', month_text, ' was never registered');
    signal sqlstate '45000' set message_text = problem;
  elseif found_status <> 'settled' then
    set problem = concat(distributor_code, ' ', month_text, ' is ', found_status, ': job ', found_job, ' is ', found_state);
    signal sqlstate '45000' set message_text = problem;
  end if;
end;

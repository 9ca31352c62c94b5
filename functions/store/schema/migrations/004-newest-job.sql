-- The newest job is found once for each job of a slice, and before any share is read. As an antijoin it was looked up
-- for every share, and the slice was read once for each time it had ever been registered.
create or replace view settled_share_ratio as
select d.code as distributor, s.distributor_id, s.settlement_month, s.isrc, s.right_type, s.party_id, s.share
from job j
join distributor d on d.id = j.distributor_id
straight_join share_ratio s on s.distributor_id = j.distributor_id and s.settlement_month = j.settlement_month
where j.state = 'REGISTERED'
  and j.fence = (select max(n.fence) from job n
                 where n.distributor_id = j.distributor_id and n.settlement_month = j.settlement_month);

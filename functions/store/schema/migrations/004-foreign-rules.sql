drop procedure if exists foreign_rules;

-- What other programs hung on the rows of a month: their triggers change or refuse what is registered, their foreign keys
-- refuse what is deleted. The functions' user has no privilege to see them, so the procedure looks with its definer's.
create procedure foreign_rules()
  reads sql data
begin
  select 'trigger' as kind, trigger_name as name,
         concat(lower(action_timing), ' ', lower(event_manipulation)) as detail
  from information_schema.triggers
  where event_object_schema = database() and event_object_table = 'share_ratio'
  union all
  select 'foreign key', constraint_name, concat('from ', constraint_schema, '.', table_name, ' to ', referenced_table_name)
  from information_schema.referential_constraints
  where (unique_constraint_schema = database() and referenced_table_name = 'share_ratio')
     or (constraint_schema = database() and table_name = 'share_ratio')
  order by kind, name;
end;

-- The topic c<repository>: what only the pages of its issues and pull requests show, so that API polls of its timeline do not depend on it.
create function touch_conversations() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'c' || repo_id from changed));
  return null;
end
$$;

do $$
declare
  rule record;
  event text;
begin
  for rule in select * from (values
    ('issue_events', 'insert'),
    ('commit_statuses', 'insert'),
    ('check_runs', 'insert update')) rules (source, events)
  loop
    foreach event in array string_to_array(rule.events, ' ') loop
      execute format('create trigger touch_conversations_on_%s after %s on %I referencing new table as changed
        for each statement execute function touch_conversations()', event, event, rule.source);
    end loop;
  end loop;
end
$$;

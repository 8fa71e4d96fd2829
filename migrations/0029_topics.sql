-- What changed when, so that a poll is answered with 304 without making the response. A response depends on topics; a transaction that changes one of
-- them inserts a row. The rows of a topic that a later snapshot sees and an earlier one does not are the changes between them, in the order of commits.
-- Inserting needs no lock, so that writers of one topic do not wait for each other.
--
-- Topics: r<repository> its events, its texts and its row, u<user> events by the user, i<user> the inbox, s<user> subscriptions and follows,
-- a<user> the account, its memberships, teams, collaborations and invitations, k<token> what a token permits, o<owner> and n<network> new
-- repositories there,
-- w what every response depends on: names, visibility, suspension.
create table topic_changes (
  topic text not null,
  xid xid8 not null default pg_current_xact_id(),
  created_at timestamptz not null default clock_timestamp()
);
create index topic_changes_topic on topic_changes (topic, xid);
create index topic_changes_age on topic_changes using brin (created_at) with (pages_per_range = 16);

-- Once a topic in a transaction: an act changes several rows of a repository. In plpgsql, which keeps the plan.
create function touch_topics(topics text[]) returns void language plpgsql as $$
begin
  insert into topic_changes (topic)
  select distinct t.topic from unnest(topics) t (topic)
  where t.topic is not null and not exists (
    select from topic_changes c where c.topic = t.topic and c.xid = pg_current_xact_id());
end
$$;

create function touch_events() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'r' || repo_id from changed union select 'u' || actor_id from changed));
  return null;
end
$$;
create function touch_repository() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'r' || repo_id from changed));
  return null;
end
$$;
-- A deleted text also leaves the timeline of its author, in whichever repository it was.
create function touch_text() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'r' || repo_id from changed union select 'u' || author_id from changed));
  return null;
end
$$;
create function touch_threads() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'i' || user_id from changed));
  return null;
end
$$;
create function touch_subscriptions() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 's' || user_id from changed));
  return null;
end
$$;
create function touch_follows() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 's' || follower_id from changed));
  return null;
end
$$;
create function touch_access() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'a' || user_id from changed));
  return null;
end
$$;
create function touch_invitations() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'a' || invitee_id from changed));
  return null;
end
$$;
create function touch_token_repositories() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'k' || token_id from changed));
  return null;
end
$$;
create function touch_deleted_tokens() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'k' || id from changed));
  return null;
end
$$;
create function touch_new_repositories() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'o' || owner_id from changed union select 'n' || network_id from changed));
  return null;
end
$$;
create function touch_everything() returns trigger language plpgsql as $$
begin
  perform touch_topics(array['w']);
  return null;
end
$$;

do $$
declare
  rule record;
  event text;
begin
  for rule in select * from (values
    ('events', 'touch_events', 'insert update delete'),
    -- An inserted row is shown by nothing until an event or a thread refers to it.
    ('issues', 'touch_repository', 'update delete'),
    ('pulls', 'touch_repository', 'update'),
    ('milestones', 'touch_repository', 'update delete'),
    ('notification_subjects', 'touch_repository', 'insert update'),
    ('comments', 'touch_text', 'update delete'),
    ('reviews', 'touch_text', 'update delete'),
    ('review_comments', 'touch_text', 'update delete'),
    ('commit_comments', 'touch_text', 'update delete'),
    ('threads', 'touch_threads', 'insert update delete'),
    ('subscriptions', 'touch_subscriptions', 'insert update delete'),
    ('follows', 'touch_follows', 'insert delete'),
    ('memberships', 'touch_access', 'insert update delete'),
    ('team_members', 'touch_access', 'insert update delete'),
    ('collaborators', 'touch_access', 'insert update delete'),
    ('invitations', 'touch_invitations', 'insert update delete'),
    ('accepted_invitations', 'touch_invitations', 'insert delete'),
    ('token_repositories', 'touch_token_repositories', 'insert delete'),
    ('tokens', 'touch_deleted_tokens', 'delete'),
    ('repositories', 'touch_new_repositories', 'insert'),
    -- These are rare.
    ('repositories', 'touch_everything', 'delete'),
    ('accounts', 'touch_everything', 'delete'),
    ('releases', 'touch_everything', 'delete'),
    ('hooks', 'touch_everything', 'delete'),
    ('team_repositories', 'touch_everything', 'insert update delete'),
    ('transfers', 'touch_everything', 'insert update delete')) rules (source, touch, events)
  loop
    foreach event in array string_to_array(rule.events, ' ') loop
      execute format('create trigger touch_%s after %s on %I referencing %s table as changed for each statement execute function %I()',
        event, event, rule.source, case event when 'delete' then 'old' else 'new' end, rule.touch);
    end loop;
  end loop;
end
$$;

-- Updates of these rows count only if certain columns changed.
create function touch_tokens() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'k' || n.id from latest n join former o using (id)
    where (n.digest, n.scopes, n.permissions, n.all_repositories, n.resource_owner_id, n.expires_at)
      is distinct from (o.digest, o.scopes, o.permissions, o.all_repositories, o.resource_owner_id, o.expires_at)));
  return null;
end
$$;
create function touch_repositories() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'r' || id from latest union select 'w' from latest n join former o using (id)
    where (n.owner_id, n.name, n.private, n.network_id) is distinct from (o.owner_id, o.name, o.private, o.network_id)));
  return null;
end
$$;
create function touch_accounts() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'a' || id from latest union select 'w' from latest n join former o using (id)
    where (n.login, n.type, n.site_admin, n.suspended_at, n.member_access)
      is distinct from (o.login, o.type, o.site_admin, o.suspended_at, o.member_access)));
  return null;
end
$$;
-- A release can be published by another user than its author.
create function touch_releases() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'r' || repo_id from latest union select 'w' from latest n join former o using (id) where n.draft <> o.draft));
  return null;
end
$$;
create function touch_hooks() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(select 'w' from latest n join former o using (id)
    where (n.paused_reason, n.deleted_at) is distinct from (o.paused_reason, o.deleted_at)));
  return null;
end
$$;

do $$
declare
  source text;
begin
  foreach source in array array['tokens', 'repositories', 'accounts', 'releases', 'hooks'] loop
    execute format('create trigger touch_update after update on %I referencing old table as former new table as latest
      for each statement execute function touch_%s()', source, source);
  end loop;
end
$$;

-- An event is a record: it keeps what it is about as that was at the act. Bodies and other text are not copied but read from their own rows,
-- so that deleted or edited text leaves the events too. Logins and names of repositories are looked up by id, so that they stay current.
-- To save space, facts leave out null, false, zero, empty lists and other defaults; dates are seconds since 1970.
-- Facts have a column of their own because replays of webhooks read `payload` only.
alter table events add column facts jsonb;

create or replace function epoch(at timestamptz) returns bigint language sql immutable as $$
  select floor(extract(epoch from at))::bigint
$$;

-- An author's relation to a repository that everyone may know: a membership counts only if it is public.
create or replace function author_association(author bigint, repo bigint) returns text language plpgsql stable as $$
begin
  return (select case
      when r.owner_id = author then 'OWNER'
      when exists (select from memberships m where m.org_id = r.owner_id and m.user_id = author and m.public) then 'MEMBER'
      when exists (select from collaborators c where c.repo_id = r.id and c.user_id = author) then 'COLLABORATOR' end
    from repositories r where r.id = repo);
end
$$;

create or replace function repository_facts(r repositories) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'description', r.description, 'homepage', r.homepage, 'fork', nullif(r.parent_id is not null, false),
    'default_branch', nullif(r.default_branch, 'main'), 'topics', to_jsonb(nullif(r.topics, '{}')),
    'archived', nullif(r.archived, false), 'is_template', nullif(r.is_template, false),
    'has_issues', nullif(r.has_issues, true), 'has_projects', nullif(r.has_projects, true), 'has_wiki', nullif(r.has_wiki, true),
    'allow_rebase_merge', nullif(r.allow_rebase_merge, true), 'allow_squash_merge', nullif(r.allow_squash_merge, true),
    'allow_merge_commit', nullif(r.allow_merge_commit, true), 'size', nullif(r.size, 0), 'forks_count', nullif(r.public_forks_count, 0),
    'stargazers_count', nullif(r.stargazers_count, 0), 'subscribers_count', nullif(r.subscribers_count, 0),
    'open_issues_count', nullif(r.open_issues_count, 0),
    'pushed_at', epoch(r.pushed_at), 'created_at', epoch(r.created_at), 'updated_at', epoch(r.updated_at))
$$;

create or replace function label_facts(l labels) returns jsonb language sql stable as $$
  select jsonb_build_object('id', l.id, 'name', l.name, 'color', l.color, 'description', l.description)
$$;

create or replace function milestone_facts(milestone bigint) returns jsonb language plpgsql stable as $$
begin
  return (select jsonb_build_object(
      'id', m.id, 'number', m.number, 'title', m.title, 'creator_id', m.creator_id, 'state', nullif(m.state, 'open'),
      'open_issues', nullif(m.open_issues, 0), 'closed_issues', nullif(m.closed_issues, 0), 'due_on', epoch(m.due_on),
      'created_at', epoch(m.created_at), 'updated_at', epoch(m.updated_at), 'closed_at', epoch(m.closed_at))
    from milestones m where m.id = milestone);
end
$$;

create or replace function issue_facts(issue bigint) returns jsonb language plpgsql stable as $$
begin
  return (select jsonb_build_object(
      'number', i.number, 'title', i.title, 'author_id', i.author_id, 'author_association', author_association(i.author_id, i.repo_id),
      'state', nullif(i.state, 'open'), 'state_reason', i.state_reason, 'locked', nullif(i.locked, false), 'lock_reason', i.lock_reason,
      'milestone', case when i.milestone_id is not null then milestone_facts(i.milestone_id) end,
      'labels', (select jsonb_agg(label_facts(l) order by lower(l.name))
        from issue_labels b join labels l on l.id = b.label_id where b.issue_id = i.id),
      'assignees', (select jsonb_agg(s.user_id order by s.assigned_at, s.user_id) from issue_assignees s where s.issue_id = i.id),
      'comments_count', nullif(i.comments_count, 0), 'created_at', epoch(i.created_at), 'updated_at', epoch(i.updated_at),
      'closed_at', epoch(i.closed_at), 'closed_by_id', i.closed_by_id,
      'pull_id', p.id, 'draft', nullif(p.draft, false), 'merged_at', epoch(p.merged_at))
    from issues i left join pulls p on p.issue_id = i.id where i.id = issue);
end
$$;

-- The head's repository is a fact only while it is public; a result of a trial merge only while it is about the present head.
create or replace function pull_facts(pull bigint) returns jsonb language plpgsql stable as $$
begin
  return (select issue_facts(p.issue_id) || jsonb_build_object(
      'issue_id', p.issue_id, 'head_repo_id', p.head_repo_id, 'head_owner_id', p.head_owner_id, 'head_ref', p.head_ref,
      'head_sha', p.head_sha, 'base_ref', p.base_ref, 'base_sha', p.base_sha,
      'maintainer_can_modify', nullif(p.maintainer_can_modify, false), 'merged_by_id', p.merged_by_id,
      'merge_commit_sha', p.merge_commit_sha, 'mergeable_state', case when p.mergeable_head = p.head_sha then p.mergeable_state end,
      'commits', nullif(p.commits, 0), 'additions', nullif(p.additions, 0), 'deletions', nullif(p.deletions, 0),
      'changed_files', nullif(p.changed_files, 0), 'review_comments_count', (select nullif(count(*), 0)
        from review_comments c left join reviews v on v.id = c.review_id where c.pull_id = p.id and v.state is distinct from 'PENDING'),
      'requested_reviewers', (select jsonb_agg(q.user_id order by q.requested_at, q.user_id)
        from review_requests q where q.pull_id = p.id and q.user_id is not null),
      'base', (select repository_facts(r) from repositories r where r.id = p.repo_id),
      'head', (select repository_facts(r) from repositories r where r.id = p.head_repo_id and r.id <> p.repo_id and not r.private))
    from pulls p where p.id = pull);
end
$$;

create or replace function event_facts(kind text, payload jsonb) returns jsonb language plpgsql stable as $$
declare
  facts jsonb;
begin
  if kind = 'IssuesEvent' then
    facts := jsonb_build_object('issue', issue_facts((payload->>'issue_id')::bigint));
  elsif kind = 'IssueCommentEvent' then
    facts := jsonb_build_object('issue', issue_facts((payload->>'issue_id')::bigint), 'comment', (
      select jsonb_build_object('author_id', c.author_id, 'author_association', author_association(c.author_id, c.repo_id))
      from comments c where c.id = (payload->>'comment_id')::bigint));
  elsif kind = 'PullRequestEvent' then
    facts := jsonb_build_object('pull', pull_facts((payload->>'pull_id')::bigint));
  elsif kind = 'PullRequestReviewEvent' then
    facts := jsonb_build_object('pull', pull_facts((payload->>'pull_id')::bigint), 'review', (
      select jsonb_build_object('author_id', v.author_id, 'author_association', author_association(v.author_id, v.repo_id),
        'state', v.state, 'commit_id', v.commit_id, 'submitted_at', epoch(v.submitted_at), 'updated_at', epoch(v.updated_at))
      from reviews v where v.id = (payload->>'review_id')::bigint));
  elsif kind = 'PullRequestReviewCommentEvent' then
    facts := jsonb_build_object('pull', pull_facts((payload->>'pull_id')::bigint), 'comment', (
      select jsonb_build_object('author_id', c.author_id, 'author_association', author_association(c.author_id, c.repo_id))
      from review_comments c where c.id = (payload->>'review_comment_id')::bigint));
  elsif kind = 'CommitCommentEvent' then
    facts := jsonb_build_object('comment', (
      select jsonb_build_object('author_id', c.author_id, 'author_association', author_association(c.author_id, c.repo_id))
      from commit_comments c where c.id = (payload->>'commit_comment_id')::bigint));
  elsif kind = 'ReleaseEvent' then
    facts := jsonb_build_object('release', (
      select jsonb_build_object('author_id', e.author_id, 'tag_name', e.tag_name, 'target_commitish', e.target_commitish, 'name', e.name,
        'prerelease', nullif(e.prerelease, false), 'created_at', epoch(e.created_at), 'published_at', epoch(e.published_at))
      from releases e where e.id = (payload->>'release_id')::bigint));
  elsif kind = 'ForkEvent' then
    facts := jsonb_build_object('forkee', (
      select repository_facts(r) from repositories r where r.id = (payload->>'forkee_id')::bigint));
  else
    return null;
  end if;
  if payload ? 'label_id' then
    facts := facts || jsonb_build_object('label', (select label_facts(l) from labels l where l.id = (payload->>'label_id')::bigint));
  end if;
  return jsonb_strip_nulls(facts);
end
$$;

-- Appends acts of one person in one repository; `acts` is an array of {type, payload}. The rows that the acts are about have changed already.
create or replace function record_events(at timestamptz, actor bigint, repo bigint, acts jsonb) returns setof bigint language plpgsql as $$
declare
  month timestamptz := date_trunc('month', at, 'UTC');
  partition text := 'events_' || to_char(month at time zone 'UTC', 'YYYY_MM');
begin
  if to_regclass(partition) is null then
    -- Two transactions that record the first events of a month take turns.
    perform pg_advisory_xact_lock(hashtext('events partition'));
    execute format('create table if not exists %I partition of events for values from (%L) to (%L)',
      partition, month, date_trunc('month', month + interval '32 days', 'UTC'));
  end if;
  return query
    insert into events (position, type, actor_id, repo_id, public, payload, facts, created_at)
    select log_position(), act->>'type', actor, r.id, not r.private, act->'payload', event_facts(act->>'type', act->'payload'), at
    from jsonb_array_elements(acts) with ordinality as listed (act, place) join repositories r on r.id = repo
    order by place
    returning id;
end
$$;

-- Events from before get the facts of today, the best that is known. One statement for each month.
do $$
declare
  partition regclass;
begin
  for partition in select inhrelid from pg_inherits where inhparent = 'events'::regclass order by inhrelid loop
    execute format('update %s set facts = event_facts(type, payload) where type not in (
      ''CreateEvent'', ''DeleteEvent'', ''PushEvent'', ''WatchEvent'', ''PublicEvent'', ''MemberEvent'')', partition);
  end loop;
end
$$;

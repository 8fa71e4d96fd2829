import { type Database, raw, sql } from '#platform/database.ts'

export const people = 50
const repositories = 200

export interface SeededRepository {
  number: number
  owner: string
  private: boolean
  /** How many users watch it; `by` says whether they are the 50 people or the 50 readers, who do nothing else. */
  watchers: number
  by: 'people' | 'readers' | 'both'
  stars: number
}

/**
 * 11 watchers on average: one repository has 100, 40 have more than a page of 30, 60 have exactly 11. The last 20 are for writes that must
 * not change what the 50 people see: only readers watch them.
 */
export const seeded: SeededRepository[] = Array.from({ length: repositories }, (_, index) => {
  const number = index + 1
  const owner = number % 2 ? `person-${(((number - 1) / 2) % people) + 1}` : `org-${((number / 2 - 1) % people) + 1}`
  const of = { number, owner, private: false }
  if (number === 1) return { ...of, watchers: 100, by: 'both', stars: 34 }
  if (number <= 41) return { ...of, watchers: 31, by: 'people', stars: 34 }
  if (number <= 101) return { ...of, watchers: 11, by: 'people', stars: 6 }
  if (number <= 180) return { ...of, private: number % 4 === 0, watchers: 0, by: 'people', stars: number % 4 ? 8 : 0 }
  return { ...of, owner: `org-${number - 180}`, watchers: 11, by: 'readers', stars: 0 }
})

const ofReaders = seeded
  .filter(({ by }) => by === 'readers')
  .map(({ number }) => `'repo-${number}'`)
  .join()

export const tokenOf = (login: string) => `bfp_${login.replaceAll(/[^a-z0-9]/g, 'x').padEnd(36, 'x')}`

/** Spreads the rows of a repository over the people: exactly `many` of them. */
const chosen = (number: number, many: number, salt: number) =>
  Array.from({ length: people }, (_, index) => index + 1).filter((person) => (person * 7 + number * salt) % people < many)

const loginsOf = (many: number, by: SeededRepository['by'], number: number, salt: number) => [
  ...(by === 'readers' ? [] : chosen(number, Math.min(many, people), salt).map((person) => `person-${person}`)),
  ...(by === 'people' ? [] : chosen(number, by === 'both' ? many - people : many, salt).map((reader) => `reader-${reader}`)),
]

const pairsOf = (list: (repo: SeededRepository) => string[]) =>
  JSON.stringify(seeded.flatMap((repo) => list(repo).map((login) => ({ login, repo: `repo-${repo.number}` }))))

export const watchersOf = (repo: SeededRepository) => loginsOf(repo.watchers, repo.by, repo.number, 13)
export const stargazersOf = (repo: SeededRepository) => loginsOf(repo.stars, 'people', repo.number, 17)

const days = 80
const issuesEach = 10
const pullsEach = 3
const commentsEach = 17
const pushesEach = 9

/** 50 people, 200 repositories and 10,000 acts, set-wise. Events get their facts from the function that records every event. */
export async function seedCold(db: Database) {
  const now = db.now
  await seedAccounts(db, now)
  await seedConversations(db, now)
  await seedEvents(db, now)
  await seedInboxes(db)
  await analyzeLikeAutovacuum(db)
}

async function seedAccounts(db: Database, now: Date) {
  await db.query(sql`
    insert into accounts (type, login, name, email, created_at, updated_at)
    select case kind when 'org' then 'Organization' else 'User' end, kind || '-' || n, initcap(kind) || ' ' || n,
      case when kind <> 'org' then kind || '-' || n || '@example.com' end, ${now}, ${now}
    from unnest('{person,reader,org}'::text[]) kind, generate_series(1, ${people}::int) n`)
  await db.query(sql`
    insert into tokens (user_id, digest, last_eight, note, scopes, created_at, updated_at)
    select a.id, sha256(convert_to(t.token, 'UTF8')), right(t.token, 8), 'bench', '{repo,user,notifications}', ${now}, ${now}
    from jsonb_to_recordset(${JSON.stringify(tokens())}::jsonb) as t (login text, token text) join accounts a on a.login = t.login`)
  await db.query(sql`
    insert into memberships (org_id, user_id, role, public, created_at)
    select o.id, p.id, case step when 0 then 'admin' else 'member' end, step = 1, ${now}
    from generate_series(1, ${people}::int) n, generate_series(0, 2) step, accounts o, accounts p
    where o.login = 'org-' || n and p.login = 'person-' || ((n + step * 5) % ${people}::int + 1)`)
  await db.query(sql`
    insert into follows (follower_id, followed_id, created_at)
    select a.id, b.id, ${now} from generate_series(1, ${people}::int) n, generate_series(1, 8) step, accounts a, accounts b
    where a.login = 'person-' || n and b.login = 'person-' || ((n + step * 3) % ${people}::int + 1)`)
  const listed = seeded.map(({ number, owner, private: hidden }) => ({ number, owner, hidden }))
  await db.query(sql`
    insert into repositories (owner_id, name, description, private, network_id, pushed_at, created_at, updated_at, last_issue_number)
    select a.id, 'repo-' || number, 'Repository ' || number, hidden, 0, ${now}::timestamptz - number * interval '1 minute',
      ${now}::timestamptz - interval '1 year', ${now}::timestamptz - interval '1 day', ${issuesEach + pullsEach}
    from jsonb_to_recordset(${JSON.stringify(listed)}::jsonb) as r (number int, owner text, hidden boolean) join accounts a on a.login = r.owner
    order by number`)
  await db.query(sql`update repositories set network_id = id where network_id = 0`)
  await db.query(sql`
    insert into subscriptions (user_id, repo_id, created_at)
    select a.id, r.id, ${now} from jsonb_to_recordset(${pairsOf(watchersOf)}::jsonb) as w (login text, repo text)
      join accounts a on a.login = w.login join repositories r on r.name = w.repo`)
  await db.query(sql`
    insert into stars (user_id, repo_id, starred_at)
    select a.id, r.id, ${now}::timestamptz - random() * interval '80 days'
    from jsonb_to_recordset(${pairsOf(stargazersOf)}::jsonb) as w (login text, repo text)
      join accounts a on a.login = w.login join repositories r on r.name = w.repo`)
}

const tokens = () =>
  Array.from({ length: people }, (_, index) => [`person-${index + 1}`, `reader-${index + 1}`])
    .flat()
    .map((login) => ({ login, token: tokenOf(login) }))

/** Who acts in a repository: one of the 50 people; in a private one a member of its organization; in the last 20 a reader. */
const author = sql`(
  select a.id from accounts a where a.login = case when r.name in (${raw(ofReaders)}) then 'reader-' else 'person-' end
    || case when r.private then (substring(o.login from 5)::int + step % 3 * 5) % ${people}::int + 1
    else (r.id * 3 + step * 11) % ${people}::int + 1 end)`

async function seedConversations(db: Database, now: Date) {
  const at = sql`${now}::timestamptz - interval '1 day' * ${days}::int * (1 - (step + r.id % 10 / 10.0) / (${issuesEach + pullsEach}::int + 1))`
  await db.query(sql`
    insert into issues (repo_id, number, author_id, title, body, created_at, updated_at)
    select r.id, step, ${author}, 'The bell of ' || r.name || ' rings twice (' || step || ')',
      'It rings twice at noon, and once at midnight. Seen on Monday and on Friday.', ${at}, ${at}
    from repositories r join accounts o on o.id = r.owner_id, generate_series(1, ${issuesEach + pullsEach}::int) step
    order by 6`)
  await db.query(sql`
    insert into pulls (issue_id, repo_id, head_repo_id, head_owner_id, head_ref, head_sha, base_ref, base_sha, commits, additions, deletions, changed_files)
    select i.id, r.id, r.id, r.owner_id, 'topic-' || i.number, md5(i.id::text) || 'aaaaaaaa', 'main', md5(r.id::text) || 'bbbbbbbb', 2, 40, 10, 3
    from issues i join repositories r on r.id = i.repo_id where i.number > ${issuesEach}`)
  await db.query(sql`
    insert into comments (repo_id, issue_id, author_id, body, created_at, updated_at)
    select r.id, i.id, ${author}, 'I have seen this too, on the third bell. Comment ' || step, greatest(i.created_at, c.at), greatest(i.created_at, c.at)
    from repositories r join accounts o on o.id = r.owner_id cross join generate_series(1, ${commentsEach}::int) step
      join issues i on i.repo_id = r.id and i.number = step % ${issuesEach + pullsEach}::int + 1
      cross join lateral (select ${now}::timestamptz - interval '1 day' * ${days}::int * random() as at) c
    order by 5`)
  await db.query(sql`
    update issues i set updated_at = greatest(i.updated_at, c.at)
    from (select issue_id, max(created_at) as at from comments group by issue_id) c where c.issue_id = i.id`)
}

const sha = '8d1f6b2f0c3a4e5d6b7c8a9f0e1d2c3b4a5f6e7d'
const push = {
  ...{ push_id: 1, ref: 'refs/heads/main', head: sha, before: sha, size: 1, distinct_size: 1 },
  commits: [{ sha, message: 'Describe the mill', author: { name: 'Ada', email: 'ada@example.com' }, distinct: true }],
}
const created = { ref: 'main', ref_type: 'branch', master_branch: 'main', description: null }

async function seedEvents(db: Database, now: Date) {
  await db.query(sql`
    with acts as (
      select starred_at as at, user_id as actor, repo_id as repo, 'WatchEvent' as type, '{"action":"started"}'::jsonb as payload from stars
      union all select i.created_at, i.author_id, i.repo_id, case when p.id is null then 'IssuesEvent' else 'PullRequestEvent' end,
        case when p.id is null then jsonb_build_object('action', 'opened', 'issue_id', i.id) else jsonb_build_object('action', 'opened', 'pull_id', p.id) end
      from issues i left join pulls p on p.issue_id = i.id
      union all select created_at, author_id, repo_id, 'IssueCommentEvent',
        jsonb_build_object('action', 'created', 'issue_id', issue_id, 'comment_id', id) from comments
      union all select ${now}::timestamptz - random() * ${days}::int * interval '1 day', ${author}, r.id,
        case step when 0 then 'CreateEvent' else 'PushEvent' end,
        case step when 0 then ${JSON.stringify(created)}::jsonb else ${JSON.stringify(push)}::jsonb end
      from repositories r join accounts o on o.id = r.owner_id, generate_series(0, ${pushesEach}::int) step
    )
    select count(*) from (select * from acts order by at) a, record_events(a.at, a.actor, a.repo, jsonb_build_array(
      jsonb_build_object('type', a.type, 'payload', a.payload)))`)
}

/** An unread thread for every watcher of every issue and pull request. */
async function seedInboxes(db: Database) {
  await db.query(sql`
    insert into notification_subjects (repo_id, type, issue_id, latest_type, latest_id)
    select i.repo_id, case when p.id is null then 'Issue' else 'PullRequest' end, i.id, case when c.id is not null then 'IssueComment' end, c.id
    from issues i left join pulls p on p.issue_id = i.id left join lateral (
      select id from comments c where c.issue_id = i.id order by id desc limit 1) c on true
    order by i.id`)
  await db.query(sql`
    insert into thread_subscriptions (subject_id, user_id, state, reason, created_at)
    select s.id, i.author_id, 'subscribed', 'author', i.created_at from notification_subjects s join issues i on i.id = s.issue_id`)
  await db.query(sql`
    insert into threads (user_id, repo_id, subject_id, reason, updated_at, position, notice_ids, reasons)
    select w.user_id, s.repo_id, s.id, 'subscribed', i.updated_at, log_position(), '{}', '{}'
    from notification_subjects s join issues i on i.id = s.issue_id join subscriptions w on w.repo_id = s.repo_id
    where w.user_id <> i.author_id order by i.updated_at`)
}

/**
 * Analyzes what autovacuum would: not tables with up to 50 rows, and not partitioned tables. A plan that is good only after a complete
 * ANALYZE must not look good here.
 */
async function analyzeLikeAutovacuum(db: Database) {
  const tables = await db.rows<{ name: string }>(sql`
    select c.oid::regclass::text as name from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`)
  const client = await db.connect()
  try {
    for (const { name } of tables) {
      const { rowCount } = await client.query(`select from ${name} limit 51`)
      if (rowCount === 51) await client.query(`vacuum (analyze) ${name}`)
    }
  } finally {
    client.release()
  }
}

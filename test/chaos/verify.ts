import { until } from '#test/machine.ts'
import { openOperator } from '#test/operator.ts'
import { findLostCommits } from './branches.ts'
import type { Cluster, Node } from './cluster.ts'
import { type Load, repository } from './load.ts'

export interface Findings {
  /** Acknowledged, and not there. */
  lost: string[]
  /** There more than once. */
  doubled: string[]
  /** Counts, refs and objects that differ from what they are made of. */
  wrong: string[]
  /** Payloads that were sent again, with the same guid: what the docs allow after a crash. */
  resent: number
}

/** Longer than another node needs to take over the jobs of a killed one (70 s), and to record its pushes (two minutes). */
const settling = 180_000

/** Waits until all background work is done; gives what is not when the time is over. */
export async function settle({ cluster: { postgres } }: Load): Promise<string[]> {
  let left: string[] = []
  const isDone = async () => {
    const [row = {}] = await postgres
      .query(`
        select (select count(*) from pending_deliveries) as deliveries,
          (select count(*) from notification_events where notified_at is null) as notices,
          (select count(*) from pushes) as pushes,
          (select count(*) from imports where active) as imports,
          (select count(*) from graphile_worker.jobs where ${owed}) as jobs`)
      .catch(() => [{ answers: 1 }])
    left = Object.entries(row).flatMap(([name, count]) => (Number(count) ? [`${count} ${name} do not end`] : []))
    return left.length === 0
  }
  await until('background work is done', isDone, settling).catch(() => {})
  return left.length ? [...left, ...(await describeJobs(postgres))] : []
}

/** Jobs that should have run, and have not failed for good. */
const owed = '(run_at <= now() or attempts > 0) and attempts < max_attempts'

/** What is known of the jobs that did not end, to find the cause. */
async function describeJobs(postgres: Cluster['postgres']) {
  const jobs = await postgres
    .query(`
      select task_identifier as task, attempts, extract(epoch from now() - locked_at)::int as running, locked_by,
        extract(epoch from run_at - now())::int as due, left(last_error, 200) as error
      from graphile_worker.jobs where ${owed} order by id limit 5`)
    .catch(() => [])
  return jobs.map(
    ({ task, attempts, running, locked_by, due, error }) =>
      `job ${task}, attempt ${attempts}: ${locked_by ? `held by ${locked_by} for ${running} s` : `due in ${due} s`}; ${error ?? 'no error'}`,
  )
}

/** Compares everything that was acknowledged since the start with what is there. */
export async function verify(load: Load): Promise<Findings> {
  const { cluster, recorder } = load
  const lost: string[] = []
  const doubled: string[] = []
  const compare = (kind: string, wanted: string[], found: Map<string, number>) => {
    for (const one of wanted) if (!found.get(one)) lost.push(`${kind} ${one}`)
    for (const [one, count] of found) if (count > 1) doubled.push(`${kind} ${one}: ${count}`)
  }
  const counted = async (query: string) =>
    new Map((await cluster.postgres.query(query)).map(({ key, count }) => [String(key), Number(count)]))
  const named = (kind: Parameters<typeof recorder.of>[0]) => recorder.of(kind).map(({ identity }) => identity)

  compare('comment', named('comment'), await counted('select body as key, count(*) from comments group by 1'))
  const commented = `select c.body as key, count(*) from events e join comments c on c.id = (e.payload->>'comment_id')::bigint
    where e.type = 'IssueCommentEvent' group by 1`
  compare('event of a comment', named('comment'), await counted(commented))
  compare('issue', named('issue'), await counted('select title as key, count(*) from issues group by 1'))
  const opened = `select i.title as key, count(*) from events e join issues i on i.id = (e.payload->>'issue_id')::bigint
    where e.type = 'IssuesEvent' group by 1`
  compare('event of an issue', named('issue'), await counted(opened))
  const notified = `select i.title as key, count(*) from threads t join accounts a on a.id = t.user_id and a.login = '${load.reader.login}'
    join notification_subjects s on s.id = t.subject_id join issues i on i.id = s.issue_id group by 1`
  compare('notification of an issue', named('issue'), await counted(notified))
  compare('mark', named('mark'), await counted('select id as key, 1 as count from threads where not unread'))

  const commits = named('push').map((one) => one.split(' ')[1] ?? '')
  const pushed = `select substr(payload->>'ref', 12) || ' ' || (payload->>'head') as key, count(*) from events
    where type = 'PushEvent' and payload->>'ref' like 'refs/heads/lane-%' group by 1`
  compare('event of a push', named('push'), await counted(pushed))
  const [engine] = await cluster.postgres.query("select id from repositories where name = 'engine'")
  for (const lane of load.lanes) {
    const last = named('push').findLast((one) => one.startsWith(`${lane.branch} `))
    const [, commit] = last?.split(' ') ?? []
    if (commit) lost.push(...(await findLostCommits(cluster, { ...lane, repo_id: Number(engine?.id) }, commit)))
  }

  const stars = await counted('select a.login as key, count(*) from stars s join accounts a on a.id = s.user_id group by 1')
  for (const [login, starred] of load.stars)
    if (starred !== undefined && starred !== stars.has(login)) lost.push(`star ${login} ${starred}`)

  for (const one of [...named('comment'), ...named('issue'), ...commits])
    if (!load.delivered.has(one)) lost.push(`delivery of ${one}`)
  const outcomes = await counted('select guid as key, count(*) from deliveries group by 1')
  compare('outcome of delivery', [...load.received.keys()], outcomes)

  const head = await load.sources.head()
  // An import that ends because the disk is full says so, in one of two ways, and can be restarted.
  const imports = await cluster.postgres.query(`
    select r.name, i.status, i.message, i.status = 'complete' and exists (select from refs where refs.repo_id = r.id and refs.sha = '${head}')
      or i.status = 'error' and i.message ~ '^(The disk of this server is almost full|There is not enough disk space)' as ended
    from imports i join repositories r on r.id = i.repo_id`)
  for (const name of named('import')) {
    const found = imports.find((one) => one.name === name)
    if (!found?.ended) lost.push(`import ${name}: ${found?.status} ${found?.message ?? ''}`)
  }

  const { gaps, doubles } = await followToTheEnd(load)
  lost.push(...gaps)
  doubled.push(...doubles)
  lost.push(...(await load.repositories.findLost()), ...(await load.renames.check()))
  lost.push(...(await load.files.check()), ...(await load.remarks.check(load.delivered)))
  lost.push(...load.hooks.findLost())
  const resent = [...load.received.values()].reduce((sum, count) => sum + count - 1, 0)
  return {
    lost,
    doubled,
    wrong: [...(await examine(cluster)), ...(await load.repositories.findLeft()), ...load.hooks.findWrong()],
    resent,
  }
}

/** The client that always asks for later events must have seen each event once. */
async function followToTheEnd(load: Load) {
  const [node] = load.cluster.nodes as [Node]
  const { timeline } = load
  const [{ count } = { count: 0 }] = await load.cluster.postgres.query(`
    select count(*) from events where repo_id = (select id from repositories where name = 'engine')`)
  for (let length = -1; timeline.length > length; ) {
    length = timeline.length
    await load.follow(node)
    if (timeline.length > Number(count) * 2) break
  }
  const rows = await load.cluster.postgres.query(`
    select id, position, id = ${timeline[0]} as first,
      type <> 'IssueCommentEvent' or exists (select from comments c where c.id = (payload->>'comment_id')::bigint) as shown
    from events where repo_id = (select id from repositories where name = 'engine') order by position, id`)
  const begun = rows.findIndex(({ first }) => first)
  const seen = new Map<string, number>()
  for (const id of timeline) seen.set(id, (seen.get(id) ?? 0) + 1)
  // Timelines do not show the events of deleted comments.
  const gaps = rows.slice(begun).filter(({ id, shown }) => shown && !seen.has(String(id)))
  return {
    gaps: gaps.map(({ id }) => `event ${id} in the timeline of ${repository}`),
    doubles: [...seen].flatMap(([id, times]) => (times > 1 ? [`event ${id} in the timeline: ${times}`] : [])),
  }
}

/** What `npx belfry admin doctor` finds, and jobs without attempts left. */
async function examine(cluster: Cluster): Promise<string[]> {
  const { stdout, stderr } = await openOperator(cluster.environment).run('doctor', '--json')
  if (!stdout) return [`doctor: ${stderr}`]
  const checks: { name: string; state: string; message: string }[] = JSON.parse(stdout).checks
  return checks.flatMap(({ name, state, message }) =>
    state === 'failed' || (name === 'jobs' && state !== 'ok') ? [`${name}: ${message}`] : [],
  )
}

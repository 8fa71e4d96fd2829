import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, sql } from '#platform/database.ts'
import { makeFolder, startBelfry, withDatabase } from './belfry.ts'
import { judge, median, note, write } from './report.ts'

const issues = Number(process.env.BENCH_ISSUES ?? '100000')
const rounds = 15

/** Searches of very many issues in a hundred repositories, half of them private, as an anonymous caller and as a user. */
const searches = {
  'a rare word': 'zanzibar',
  'a word of every tenth issue': 'boiler',
  'a word of every second issue': 'steam',
  'words and qualifiers': 'boiler is:open is:issue label:bug comments:>0',
  'open issues of one repository, by update': 'repo:crowd/repo-1 is:open&sort=updated',
  'all open issues, newest first': 'is:issue is:open&sort=created',
  'issues of an author': 'author:user-7',
  'issues that mention a user': 'mentions:user-8',
}

export async function measureSearch() {
  using folder = makeFolder()
  await withDatabase(folder.path, seed)
  await using belfry = await startBelfry(folder.path, { BELFRY_LOG: 'fatal' })
  // Meanwhile the server makes the folders of the repositories, which the seed does not.
  await sleep(10_000)
  write(
    `\n| search of ${issues.toLocaleString('en')} issues | found | median, ms | slowest, ms | target |\n|---|---:|---:|---:|---:|`,
  )
  for (const [name, q] of Object.entries(searches)) {
    const url = `http://127.0.0.1:${belfry.port}/api/v3/search/issues?q=${q.replaceAll(' ', '+')}`
    const times: number[] = []
    let found = 0
    for (let round = 0; round < rounds; round++) {
      const start = performance.now()
      const answer = await fetch(url, { headers: round % 2 ? { authorization: `Bearer ${belfry.token}` } : {} })
      const body = (await answer.json()) as { total_count: number }
      times.push(performance.now() - start)
      found = body.total_count
    }
    const middle = median(times)
    note(`search, ${name}: ms`, middle)
    write(`| ${name} | ${found} | ${middle.toFixed(1)} | ${Math.max(...times).toFixed(1)} | ${judge(middle, { most: 50 })} |`)
  }
}

async function seed(db: Database) {
  const now = db.now
  await db.query(sql`
    insert into accounts (type, login, created_at, updated_at)
    select 'User', 'user-' || n, ${now}::timestamptz, ${now}::timestamptz from generate_series(1, 1000) n
    union all select 'User', 'crowd', ${now}, ${now}`)
  await db.query(sql`
    insert into repositories (owner_id, name, private, network_id, created_at, updated_at)
    select a.id, 'repo-' || n, n > 50, 0, ${now}, ${now} from accounts a, generate_series(1, 100) n where a.login = 'crowd'`)
  await db.query(sql`insert into labels (repo_id, name, color) select id, 'bug', 'ff0000' from repositories`)
  // Each has fifty words of a thousand, and a few that the searches are for.
  await db.query(sql`
    insert into issues (repo_id, number, author_id, title, body, state, comments_count, created_at, updated_at)
    select r.id, n, p.id, 'Issue ' || n || case when n % 10 = 0 then ' of the boiler' else '' end,
      case when n % 2 = 0 then 'steam ' else '' end || case when n % 5000 = 1 then 'zanzibar ' else '' end
        || case when n % 100 = 0 then '@user-8 ' else '' end
        || (select string_agg('w' || (k * k * 31 + n * 7) % 1000, ' ') from generate_series(1, 50) k),
      case when n % 3 = 0 then 'closed' else 'open' end, n % 4, ${now}::timestamptz - n * interval '1 minute',
      ${now}::timestamptz - (n % 777) * interval '1 minute'
    from generate_series(1, ${issues}::int) n
      join repositories r on r.name = 'repo-' || (n % 100 + 1) join accounts p on p.login = 'user-' || (n % 1000 + 1)`)
  await db.query(sql`
    insert into comments (repo_id, issue_id, author_id, body, created_at, updated_at)
    select repo_id, id, author_id, 'A comment about w' || (id % 1000) || ' and the weather', created_at, created_at from issues`)
  await db.query(sql`
    insert into issue_labels (issue_id, label_id) select i.id, l.id from issues i join labels l on l.repo_id = i.repo_id where i.id % 3 = 0`)
  await db.query(sql`vacuum (analyze) issues`)
  await db.query(sql`vacuum (analyze) issue_documents`)
  await db.query(sql`vacuum (analyze) comments`)
  await db.query(sql`analyze`)
}

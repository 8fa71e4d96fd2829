import { readingOf } from '#git/compare.ts'
import { readLog } from '#git/log.ts'
import { resolveCommit } from '#git/objects.ts'
import { within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { encodePath } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'

export interface NotesRequest {
  tag_name: string
  target_commitish?: string
  previous_tag_name?: string
}

const patience = 30_000
/** Commits that are searched for merges, and pull requests that are listed. */
const mostCommits = 5000
const mostPulls = 300

/** What was merged since the previous release, as Markdown. */
export async function generateNotes(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  web: string,
  { tag_name, target_commitish, previous_tag_name }: NotesRequest,
): Promise<{ name: string; body: string }> {
  const commitOf = (ref: string) => resolveCommit(storage, repo.id, ref)
  const end =
    (await commitOf(`refs/tags/${tag_name}`)) ?? (await commitOf(target_commitish || `refs/heads/${repo.default_branch}`))
  if (!end) throw invalid({ resource: 'Release', code: 'invalid', field: 'target_commitish' })
  const previous = previous_tag_name || (await findPrevious(db, repo, tag_name))
  const begin = previous ? await commitOf(`refs/tags/${previous}`) : undefined
  if (previous_tag_name && !begin) throw invalid({ resource: 'Release', code: 'invalid', field: 'previous_tag_name' })
  const commits = await within(patience, (signal) =>
    readLog(readingOf(storage, repo.id, repo.id, signal), begin ? [end, `^${begin}`] : [end], [`--max-count=${mostCommits}`]),
  )
  const pulls = await findMerged(
    db,
    repo,
    commits.map(({ sha }) => sha),
  )
  return { name: tag_name, body: writeNotes(pulls, `${web}/${repo.owner_login}/${repo.name}`, begin && previous, tag_name) }
}

async function findPrevious(db: Queryable, repo: Repository, tag_name: string): Promise<string | undefined> {
  const found = await db.first<{ tag_name: string }>(sql`
    select tag_name from releases where repo_id = ${repo.id} and not draft and not prerelease and tag_name <> ${tag_name}
    order by published_at desc, id desc limit 1`)
  return found?.tag_name
}

interface MergedPull {
  number: number
  title: string
  login: string
  /** The first of its author that was merged here. */
  first: boolean
}

function findMerged(db: Queryable, repo: Repository, shas: string[]): Promise<MergedPull[]> {
  return db.rows(sql`
    select i.number, i.title, coalesce(a.login, 'ghost') as login, a.id is not null and not exists (
      select from pulls q join issues j on j.id = q.issue_id
      where q.repo_id = p.repo_id and j.author_id = i.author_id and q.merged_at < p.merged_at) as first
    from pulls p join issues i on i.id = p.issue_id left join accounts a on a.id = i.author_id
    where p.repo_id = ${repo.id} and p.merged_at is not null and p.merge_commit_sha = any(${shas})
    order by p.merged_at desc, p.id desc limit ${mostPulls}`)
}

function writeNotes(pulls: MergedPull[], page: string, previous: string | undefined, tag_name: string) {
  const line = ({ number, title, login }: MergedPull) => `* ${title} by @${login} in ${page}/pull/${number}`
  const welcome = ({ number, login }: MergedPull) => `* @${login} made their first contribution in ${page}/pull/${number}`
  const section = (title: string, lines: string[]) => (lines.length ? [`## ${title}\n${lines.join('\n')}`] : [])
  const tag = encodePath(tag_name)
  const all = previous ? `${page}/compare/${encodePath(previous)}...${tag}` : `${page}/commits/${tag}`
  return [
    ...section("What's Changed", pulls.map(line)),
    ...section('New Contributors', pulls.filter(({ first }) => first).map(welcome)),
    `**Full Changelog**: ${all}`,
  ].join('\n\n')
}

import { type Issue, loadIssues } from '#hosting/issues/issues.ts'
import { subjectState } from '#hosting/issues/views/conversation.ts'
import { listRepositories, loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { hasAccessByName, visible } from '#hosting/repositories/visibility.ts'
import { searchIssues } from '#hosting/search/issues.ts'
import { searchRepositories } from '#hosting/search/repositories.ts'
import { searchUsers } from '#hosting/search/users.ts'
import { Moved } from '#http/moved.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { type Database, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { actionsFor, type Destination, pagesFor, sectionsOf } from './destinations.ts'

export interface Group {
  title: string
  items: Destination[]
}

interface Question {
  visitor: Account | null
  /** What is typed. */
  q: string
  /** `owner/name` of the repository whose page is open; empty elsewhere. */
  here: string
}

const most = 5
const best = { sort: '', order: 'desc' } as const

/** What the visitor can go to or do, for what is typed: only what the visitor may see. */
export async function findDestinations(db: Database, { visitor, q, here }: Question): Promise<Group[]> {
  const viewer = { viewer_id: visitor?.id ?? null, sees_private: true }
  const repo = here ? await findNamed(db, viewer, here) : undefined
  const [, named = '', number] = /^([\w.-]+\/[\w.-]+|)#(\d{1,9})$/.exec(q) ?? []
  if (number !== undefined) {
    const within = named ? await findNamed(db, viewer, named) : repo
    return shown([
      {
        title: 'Issues and pull requests',
        items: await findNumbered(db, viewer, named && !within ? null : within, Number(number)),
      },
    ])
  }
  const only_commands = q.startsWith('>')
  const words = (only_commands ? q.slice(1) : q).toLowerCase().split(/\s+/).filter(Boolean)
  const matching = (all: Destination[]) => all.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)))
  const commands = [
    { title: repo ? `${repo.owner_login}/${repo.name}` : '', items: matching(repo ? sectionsOf(repo) : []) },
    { title: 'Actions', items: matching(actionsFor(visitor, repo, db.now)) },
    { title: 'Pages', items: matching(pagesFor(visitor)) },
  ]
  if (only_commands) return shown(commands)
  const text = q.replace(/^@/, '')
  const person_only = q.startsWith('@')
  const [repositories, people, issues] = await Promise.all([
    person_only ? [] : findRepositories(db, viewer, q),
    words.length ? findPeople(db, text) : [],
    person_only || q.length < 3 ? [] : findIssues(db, { ...viewer, login: visitor?.login ?? null }, q),
  ])
  return shown([
    { title: 'Repositories', items: repositories },
    { title: 'People', items: people },
    ...commands,
    { title: 'Issues and pull requests', items: issues },
    { title: 'Search', items: q ? searches(q, repo) : [] },
  ])
}

/** Pages of results, for what is not listed. */
function searches(q: string, here: Repository | undefined): Destination[] {
  const search = (text: string, query: Record<string, string>): Destination => ({
    text,
    icon: 'search',
    href: `/search?${new URLSearchParams(query).toString()}`,
  })
  const within = here && `repo:${here.owner_login}/${here.name} ${q}`
  return [
    search(`Search for “${q}”`, { q }),
    ...(within ? [search(`Search the code of ${here.name}`, { q: within, type: 'code' })] : []),
  ]
}

const shown = (groups: Group[]) => groups.filter(({ items }) => items.length > 0)

async function findNamed(db: Database, viewer: Viewer, full_name: string): Promise<Repository | undefined> {
  const [owner = '', name = ''] = full_name.split('/')
  try {
    return await loadRepository(db, viewer, owner, name)
  } catch (error) {
    if (error instanceof Moved || (error instanceof Refusal && error.reason === 'missing')) return undefined
    throw error
  }
}

/** The issues of this number in one repository, or in those that the visitor has access to by name; null: in none. */
async function findNumbered(
  db: Database,
  viewer: Viewer,
  repo: Repository | null | undefined,
  number: number,
): Promise<Destination[]> {
  if (repo === null || (!repo && viewer.viewer_id === null)) return []
  const among = repo ? sql`r.id = ${repo.id}` : hasAccessByName(viewer)
  const rows = await db.rows<{ id: number; owner_login: string; name: string }>(sql`
    select i.id, o.login as owner_login, r.name from repositories r join accounts o on o.id = r.owner_id
      join issues i on i.repo_id = r.id and i.number = ${number}
    where ${among} and ${visible(viewer)} and (r.has_issues or exists (select from pulls p where p.issue_id = i.id))
    order by i.updated_at desc limit ${most}`)
  const issues = new Map(
    (
      await loadIssues(
        db,
        rows.map(({ id }) => id),
      )
    ).map((issue) => [issue.id, issue]),
  )
  return rows.flatMap((row) => {
    const issue = issues.get(row.id)
    return issue ? issueDestination(issue, row) : []
  })
}

const pullIcons: Record<string, string> = { open: 'git-pull-request', draft: 'git-pull-request-draft', merged: 'git-merge' }

function issueDestination(issue: Issue, repo: { owner_login: string; name: string }): Destination {
  const state = subjectState(issue)
  const folder = issue.pull_id === null ? 'issues' : 'pull'
  const icon =
    issue.pull_id === null
      ? state === 'open'
        ? 'issue-opened'
        : 'issue-closed'
      : (pullIcons[state] ?? 'git-pull-request-closed')
  return {
    text: `${pathOf(repo).slice(1)}#${issue.number}`,
    detail: issue.title,
    icon,
    href: `${pathOf(repo)}/${folder}/${issue.number}`,
  }
}

/** The visitor's own first, then those that everyone finds. */
async function findRepositories(db: Database, viewer: Viewer, q: string): Promise<Destination[]> {
  const login = sql`(select o.login from accounts o where o.id = r.owner_id)`
  const named = sql`${hasAccessByName(viewer)} and position(lower(${q}) in lower(${login} || '/' || r.name)) > 0`
  const slice = { limit: most, offset: 0 }
  const own =
    viewer.viewer_id === null
      ? []
      : (await listRepositories(db, viewer, named, sql`r.pushed_at desc nulls last, r.id desc`, slice)).rows
  const others = q && own.length < most ? await found(() => searchRepositories(db, viewer, repositoryQuery(q), best, slice)) : []
  const all = new Map([...own, ...others].map((repo) => [repo.id, repo]))
  return [...all.values()].slice(0, most).map((repo) => ({
    text: pathOf(repo).slice(1),
    ...(repo.description && { detail: repo.description.slice(0, 100) }),
    icon: repo.private ? 'lock' : repo.parent_id === null ? 'repo' : 'repo-forked',
    href: pathOf(repo),
  }))
}

async function findIssues(db: Database, viewer: Viewer & { login: string | null }, q: string): Promise<Destination[]> {
  const rows = await found(() => searchIssues(db, viewer, wordsOf(q), best, { limit: 3, offset: 0 }))
  return rows.map(({ issue, repo }) => issueDestination(issue, repo))
}

async function findPeople(db: Database, q: string): Promise<Destination[]> {
  const rows = await found(() => searchUsers(db, wordsOf(q), best, { limit: 3, offset: 0 }))
  return rows.map(({ login, name, type }) => ({
    text: login,
    ...(name && { detail: name }),
    icon: type === 'Organization' ? 'organization' : 'person',
    href: `/${login}`,
  }))
}

/** The index has no owners, so `owner/na` is asked as the repositories of that owner. */
function repositoryQuery(q: string) {
  const [, owner, name = ''] = /^([\w-]+)\/([\w.-]*)$/.exec(q) ?? []
  return owner ? `user:${owner} fork:true ${wordsOf(name)}` : wordsOf(q)
}

/** Qualifiers have no meaning here: the palette takes words. */
const wordsOf = (q: string) => q.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim()

async function found<Row>(search: () => Promise<{ rows: Row[] }>): Promise<Row[]> {
  try {
    return (await search()).rows
  } catch (error) {
    if (error instanceof Refusal) return []
    throw error
  }
}
